"""Registry of renderers by kind of content and format: `RENDERERS`.

A new renderer is a function of the signature `Renderer` and a line in `RENDERERS`. Its module is imported
when it is first called, so that `--help` imports none of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar, cast

from profkit.render.options import ReportOptions, Terminal

if TYPE_CHECKING:
    from profkit.model.checkup import Checkup
    from profkit.model.comparison import MeasuredComparison, SampledComparison
    from profkit.model.compilations import Compilations
    from profkit.model.history import History
    from profkit.model.measurement import MeasuredRun
    from profkit.model.memory_comparison import MemoryComparison
    from profkit.model.profiled_tests import ProfiledTests
    from profkit.model.run import Run
    from profkit.render.views.gate import GateReport

T = TypeVar("T")
Renderer: TypeAlias = Callable[[T, ReportOptions, Terminal], str]
"""Return the rendered text of some content, with `options`, laid out for a terminal."""
PartsRenderer: TypeAlias = Callable[[T, ReportOptions, Terminal], Iterator[str]]
"""Return the same text in pieces."""


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """A kind of content; `T` is the type of its data."""

    name: str

    @property
    def formats(self) -> tuple[str, ...]:
        """Names of its formats."""
        return tuple(format for kind, format in RENDERERS if kind == self.name)

    def renderer(self, format: str) -> Renderer[T]:
        """Import and return the renderer for a format; raises KeyError for formats not in `formats`."""
        return cast("Renderer[T]", _imported(RENDERERS[self.name, format]))

    def parts(self, format: str, content: T, options: ReportOptions, terminal: Terminal) -> Iterator[str]:
        """Return the rendered text in pieces, which are made one after the other if it can be large."""
        if place := IN_PARTS.get((self.name, format)):
            return cast("PartsRenderer[T]", _imported(place))(content, options, terminal)
        return iter([self.renderer(format)(content, options, terminal)])


def _imported(place: str) -> object:
    module, _, function = place.partition(":")
    return getattr(importlib.import_module(f"profkit.render.{module}"), function)


SAMPLED: Kind[Sequence[Run]] = Kind("sampled")
"""A sampled run, followed by other runs of its session."""
MEASURED: Kind[Sequence[MeasuredRun]] = Kind("measured")
"""Runs of work orders, in one report."""
SAMPLED_COMPARISON: Kind[SampledComparison] = Kind("sampled comparison")
MEASURED_COMPARISON: Kind[MeasuredComparison] = Kind("measured comparison")
MEMORY_COMPARISON: Kind[MemoryComparison] = Kind("memory comparison")
HISTORY: Kind[History] = Kind("history")
GATE: Kind[GateReport] = Kind("gate")
CHECKUP: Kind[Checkup] = Kind("checkup")
STACKS: Kind[Run] = Kind("stacks")
"""The stacks of a process at one moment, as a run of few samples."""
PROFILED_TESTS: Kind[ProfiledTests] = Kind("profiled tests")
"""The slowest and the measured tests of a test run, and their comparison."""
COMPILATIONS: Kind[Compilations] = Kind("compilations")
"""The compilations of a process."""

RENDERERS: Mapping[tuple[str, str], str] = {
    ("sampled", "text"): "text.sampled:sampled_text",
    ("sampled", "json"): "json.sampled:sampled_json",
    ("sampled", "markdown"): "markdown.sampled:sampled_markdown",
    ("sampled", "html"): "html.sampled:sampled_html",
    ("measured", "text"): "text.measured:measured_text",
    ("measured", "json"): "json.measured:measured_json",
    ("measured", "markdown"): "markdown.measured:measured_markdown",
    ("measured", "html"): "html.measured:measured_html",
    ("sampled comparison", "text"): "text.sampled_comparison:sampled_comparison_text",
    ("sampled comparison", "json"): "json.sampled_comparison:sampled_comparison_json",
    ("sampled comparison", "markdown"): "markdown.sampled_comparison:sampled_comparison_markdown",
    ("sampled comparison", "html"): "html.sampled_comparison:sampled_comparison_html",
    ("measured comparison", "text"): "text.measured_comparison:measured_comparison_text",
    ("measured comparison", "json"): "json.measured_comparison:measured_comparison_json",
    ("measured comparison", "markdown"): "markdown.measured_comparison:measured_comparison_markdown",
    ("measured comparison", "html"): "html.measured_comparison:measured_comparison_html",
    ("memory comparison", "text"): "text.memory_comparison:memory_comparison_text",
    ("memory comparison", "json"): "json.memory_comparison:memory_comparison_json",
    ("memory comparison", "markdown"): "markdown.memory_comparison:memory_comparison_markdown",
    ("memory comparison", "html"): "html.memory_comparison:memory_comparison_html",
    ("history", "text"): "text.history:history_text",
    ("history", "json"): "json.history:history_json",
    ("history", "html"): "html.history:history_html",
    ("gate", "text"): "text.gate:gate_text",
    ("gate", "json"): "json.gate:gate_json",
    ("gate", "markdown"): "markdown.gate:gate_markdown",
    ("checkup", "text"): "text.checkup:checkup_text",
    ("checkup", "json"): "json.checkup:checkup_json",
    ("stacks", "text"): "text.stacks:stacks_text",
    ("stacks", "json"): "json.stacks:stacks_json",
    ("profiled tests", "text"): "text.profiled_tests:profiled_tests_text",
    ("profiled tests", "markdown"): "markdown.profiled_tests:profiled_tests_markdown",
    ("compilations", "text"): "text.compilations:compilations_text",
    ("compilations", "json"): "json.compilations:compilations_json",
    ("compilations", "markdown"): "markdown.compilations:compilations_markdown",
}

IN_PARTS: Mapping[tuple[str, str], str] = {
    ("sampled", "json"): "json.sampled:sampled_json_parts",
}
"""Renderers of texts that can be large, by kind and format."""

IN_ORDER = frozenset({"html"})
"""Formats that show samples in the order in which they were taken."""

WITH_SESSION = frozenset({"html"})
"""Formats that also show the other runs of a sampled run's session."""

FORMAT_OF_SUFFIX: Mapping[str, str] = {".html": "html", ".json": "json", ".md": "markdown"}
"""Formats by the suffix of the file that a report is written to."""
