"""HTML pages of comparisons of sampled runs, and of memory runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from profkit.model.comparison import (
    Compared,
    Estimate,
    FunctionComparison,
    SampledComparison,
    Side,
)
from profkit.model.memory_comparison import MemoryComparison
from profkit.model.profile import Profile
from profkit.render.escape import visible
from profkit.render.html.blocks import document_head, whole
from profkit.render.html.document import html_page, refuse_limits
from profkit.render.html.runs import PageRun, PageRuns, SourceBudget
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.memory import VALUE_TITLES
from profkit.render.views.memory_comparison import memory_comparison
from profkit.render.views.sampled import library_test
from profkit.render.views.sampled_comparison import functions_to_name
from profkit.render.views.sampled_comparison_report import sampled_comparison
from profkit.render.views.source import source_of

_SOURCE_BYTES = 400_000


def sampled_comparison_html(
    comparison: SampledComparison, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return the page that compares B with A; raise `UsageError` if the options limit the report."""
    refuse_limits(options)
    first = comparison.a.runs[0]
    source = source_of((*comparison.a.runs, *comparison.b.runs), options.source_root)
    is_library = library_test(first.region.file, comparison.both.frames)
    page = PageRuns(comparison.cwd, is_library, SourceBudget(source, _SOURCE_BYTES))
    title = f"{comparison.a.name} → {comparison.b.name}"
    page.add(PageRun(first.id, title, comparison.both, totals=_totals(comparison)))
    return html_page(
        {
            **page.head("comparison"),
            **document_head(sampled_comparison(comparison, whole(options)), title),
            "comparison": _comparison(comparison),
            "initial": {"thread": _opening_side(comparison)},
        },
        page.columns,
    )


def _opening_side(comparison: SampledComparison) -> int:
    """Return the side on which the function of the headline has more of the time: A is 0, B is 1."""
    changed = functions_to_name(comparison)
    return 0 if changed and changed[0].reported.difference.value < 0 else 1


def _totals(comparison: SampledComparison) -> Sequence[Mapping[tuple[str, str], int]]:
    """Return each side's function totals as imported files state them; none if no run was imported."""
    if not any(run.imported for side in (comparison.a, comparison.b) for run in side.runs):
        return ()
    totals = [((function.name, function.file), function.total) for function in comparison.functions]
    return (
        {function: round(total.a.value * comparison.a.samples) for function, total in totals},
        {function: round(total.b.value * comparison.b.samples) for function, total in totals},
    )


def _comparison(comparison: SampledComparison) -> dict[str, object]:
    numbers = _numbers(comparison)
    return {
        "names": {"a": visible(comparison.a.name), "b": visible(comparison.b.name)},
        "functions": [_function(function, numbers) for function in comparison.functions],
    }


def _numbers(comparison: SampledComparison) -> dict[tuple[str, str], int]:
    """Return the page's function numbers, which follow the order of first frames."""
    order = dict.fromkeys((frame.name, frame.file) for frame in comparison.both.frames)
    return {function: number for number, function in enumerate(order)}


def _function(function: FunctionComparison, numbers: Mapping[tuple[str, str], int]) -> dict[str, object]:
    """Return the self share, or the total share if only that one changed; `of` says which."""
    return {
        "function": numbers[function.name, function.file],
        "of": "self" if function.reported is function.own else "total",
        **_shares(function.reported),
    }


def _half(estimate: Estimate) -> float:
    return round((estimate.high - estimate.low) / 2, 6)


def _shares(compared: Compared) -> dict[str, object]:
    difference = compared.difference
    return {
        "a": compared.a.value,
        "b": compared.b.value,
        "low": difference.low,
        "high": difference.high,
        "halves": {"a": _half(compared.a), "b": _half(compared.b)},
        "change": difference.change.value,
    }


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
        label=f"{name}: {side.name}, {VALUE_TITLES[comparison.value]}",
        profile=_side(comparison.both, number),
    )


def _side(both: Profile, thread: int) -> Profile:
    return replace(both, samples=tuple(sample for sample in both.samples if sample.thread == thread))
