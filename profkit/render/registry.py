"""Registry of reports by kind of content and format.

A kind has a view, which makes a document; printers write it as text, as Markdown and as a page. JSON, and
pages with a graph, have renderers of their own. All modules are imported when they are first needed: `--help`
imports none of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar, cast

from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal

if TYPE_CHECKING:
    from profkit.model.checkup import Checkup
    from profkit.model.comparison import MeasuredComparison, SampledComparison
    from profkit.model.compilations import Compilations
    from profkit.model.history import History
    from profkit.model.job_stacks import JobStacks
    from profkit.model.measurement import AnyInfo, MeasuredRun
    from profkit.model.memory_comparison import MemoryComparison
    from profkit.model.profiled_tests import ProfiledTests
    from profkit.model.run import Run
    from profkit.render.document import Document
    from profkit.render.views.gate import GateReport
    from profkit.render.views.jobs import JobRow

T = TypeVar("T")
Renderer: TypeAlias = Callable[[T, ReportOptions, Terminal], str]
"""Return the rendered text of some content, with `options`, laid out for a terminal."""
PartsRenderer: TypeAlias = Callable[[T, ReportOptions, Terminal], Iterator[str]]
"""Return the same text in pieces."""


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """A kind of content; `T` is the type of its data."""

    name: str
    view: str
    """Function that makes its document."""

    @property
    def formats(self) -> tuple[str, ...]:
        """Names of its formats."""
        own = {format for kind, format in RENDERERS if kind == self.name}
        return tuple(format for format in FORMATS if format in own | _OF_DOCUMENTS)

    def renderer(self, format: str) -> Renderer[T]:
        """Import and return the renderer for a format; raises KeyError for formats not in `formats`."""
        if place := RENDERERS.get((self.name, format)):
            return cast("Renderer[T]", _imported(place))
        printers: Mapping[str, Renderer[T]] = {
            "text": self.text,
            "markdown": lambda content, options, _terminal: self.markdown(content, options),
            "html": lambda content, options, _terminal: self.page(content, options),
        }
        return printers[format]

    def text(self, content: T, options: ReportOptions = DEFAULTS, terminal: Terminal = PIPE) -> str:
        """Return the report as text for a terminal."""
        from profkit.render.text.printer import print_text

        return print_text(self.document(content, options), terminal)

    def markdown(self, content: T, options: ReportOptions = DEFAULTS) -> str:
        """Return the report as Markdown, shorter by default."""
        from profkit.render.markdown import print_markdown

        return print_markdown(self.document(content, replace(options, brief=True)))

    def page(self, content: T, options: ReportOptions = DEFAULTS) -> str:
        """Return the report as a page without a graph."""
        from profkit.render.html.blocks import document_html, whole

        return document_html(self.document(content, whole(options)), self.name.capitalize())

    def document(self, content: T, options: ReportOptions = DEFAULTS) -> Document:
        """Return the report without a layout."""
        return cast("Callable[[T, ReportOptions], Document]", _imported(self.view))(content, options)

    def parts(self, format: str, content: T, options: ReportOptions, terminal: Terminal) -> Iterator[str]:
        """Return the rendered text in pieces, which are made one after the other if it can be large."""
        if place := IN_PARTS.get((self.name, format)):
            return cast("PartsRenderer[T]", _imported(place))(content, options, terminal)
        return iter([self.renderer(format)(content, options, terminal)])


def _imported(place: str) -> object:
    module, _, function = place.partition(":")
    return getattr(importlib.import_module(f"profkit.render.{module}"), function)


SAMPLED: Kind[Sequence[Run]] = Kind("sampled", "views.run_report:sampled")
"""A sampled run, followed by other runs of its session."""
MEASURED: Kind[Sequence[MeasuredRun]] = Kind("measured", "views.measured_report:measured")
"""Runs of work orders, in one report."""
SAMPLED_COMPARISON: Kind[SampledComparison] = Kind(
    "sampled comparison", "views.sampled_comparison_report:sampled_comparison"
)
MEASURED_COMPARISON: Kind[MeasuredComparison] = Kind(
    "measured comparison", "views.measured_comparison_report:measured_comparison"
)
MEMORY_COMPARISON: Kind[MemoryComparison] = Kind(
    "memory comparison", "views.memory_comparison:memory_comparison"
)
HISTORY: Kind[History] = Kind("history", "views.history:history")
GATE: Kind[GateReport] = Kind("gate", "views.gate:gate")
CHECKUP: Kind[Checkup] = Kind("checkup", "views.checkup:checkup")
STACKS: Kind[Run] = Kind("stacks", "views.stacks:stacks")
"""The stacks of a process at one moment, as a run of few samples."""
JOB_STACKS: Kind[JobStacks] = Kind("job stacks", "views.stacks:job_stacks")
"""The stacks of several processes at one moment."""
PROFILED_TESTS: Kind[ProfiledTests] = Kind("profiled tests", "views.profiled_tests:profiled_tests")
"""The slowest and the measured tests of a test run, and their comparison."""
COMPILATIONS: Kind[Compilations] = Kind("compilations", "views.compilations:compilations")
"""The compilations of a process."""

LISTED_JOBS: Kind[Sequence[JobRow]] = Kind("listed jobs", "views.jobs:listed_jobs")
LISTED_RUNS: Kind[Sequence[AnyInfo]] = Kind("listed runs", "views.runs:listed_runs")

FORMATS = ("text", "json", "markdown", "html", "svg")
_OF_DOCUMENTS = frozenset({"text", "markdown", "html"})
RENDERERS: Mapping[tuple[str, str], str] = {
    ("sampled", "json"): "json.sampled:sampled_json",
    ("sampled", "html"): "html.sampled:sampled_html",
    ("sampled", "svg"): "svg:sampled_svg",
    ("measured", "json"): "json.measured:measured_json",
    ("measured", "html"): "html.measured:measured_html",
    ("sampled comparison", "json"): "json.comparisons:sampled_comparison_json",
    ("sampled comparison", "html"): "html.comparisons:sampled_comparison_html",
    ("measured comparison", "json"): "json.comparisons:measured_comparison_json",
    ("memory comparison", "json"): "json.comparisons:memory_comparison_json",
    ("memory comparison", "html"): "html.comparisons:memory_comparison_html",
    ("history", "json"): "json.small_reports:history_json",
    ("gate", "json"): "json.comparisons:gate_json",
    ("checkup", "json"): "json.small_reports:checkup_json",
    ("stacks", "json"): "json.small_reports:stacks_json",
    ("job stacks", "json"): "json.small_reports:job_stacks_json",
    ("compilations", "json"): "json.small_reports:compilations_json",
}

"""Renderers of data, and of pages with a graph."""

IN_PARTS: Mapping[tuple[str, str], str] = {
    ("sampled", "json"): "json.sampled:sampled_json_parts",
}
"""Renderers of texts that can be large, by kind and format."""

IN_ORDER = frozenset({"html"})
"""Formats that show samples in the order in which they were taken."""

WITH_SESSION = frozenset({"html"})
"""Formats that also show the other runs of a sampled run's session."""

FORMAT_OF_SUFFIX: Mapping[str, str] = {
    ".html": "html",
    ".json": "json",
    ".md": "markdown",
    ".svg": "svg",
}
"""Formats by the suffix of the file that a report is written to."""
