"""HTML page of a comparison of memory runs: its report, and a flame graph of each side."""

from __future__ import annotations

from dataclasses import replace

from profkit.model.comparison import Side
from profkit.model.memory_comparison import MemoryComparison
from profkit.model.profile import Profile
from profkit.render.html.blocks import document_head, whole
from profkit.render.html.document import html_page, refuse_limits
from profkit.render.html.runs import PageRun, PageRuns, SourceBudget
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.memory import value_title
from profkit.render.views.memory_comparison import memory_comparison
from profkit.render.views.sampled import library_test
from profkit.render.views.source import source_of

_SOURCE_BYTES = 400_000


def memory_comparison_html(
    comparison: MemoryComparison, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return a page with both sides' flame graphs; raise `UsageError` if the options limit the report."""
    refuse_limits(options)
    infos = (*comparison.a.runs, *comparison.b.runs)
    is_library = library_test(infos[0].region.file, comparison.both.frames)
    source = source_of(infos, options.source_root)
    page = PageRuns(comparison.cwd, is_library, SourceBudget(source, _SOURCE_BYTES))
    for number, (name, side) in enumerate(zip("AB", (comparison.a, comparison.b), strict=True)):
        page.add(_page_run(comparison, number, name, side))
    title = f"{comparison.a.name} → {comparison.b.name}"
    report = document_head(memory_comparison(comparison, whole(options)), title)
    return html_page({**page.head("sampled"), **report}, page.columns)


def _page_run(comparison: MemoryComparison, number: int, name: str, side: Side) -> PageRun:
    return PageRun(
        id=side.runs[0].id,
        label=f"{name}: {side.name}, {value_title(comparison.value)}",
        profile=_side(comparison.both, number),
    )


def _side(both: Profile, thread: int) -> Profile:
    return replace(both, samples=tuple(sample for sample in both.samples if sample.thread == thread))
