"""HTML page of a comparison of memory runs: both sides, each with its flame graph, and what differs."""

from __future__ import annotations

from dataclasses import replace

from profkit.model.comparison import Side
from profkit.model.memory_comparison import MemoryComparison
from profkit.model.profile import Profile
from profkit.render.document import Fact
from profkit.render.formatting import Part, count, place
from profkit.render.html.document import html_page, refuse_limits
from profkit.render.html.runs import PageRun, PageRuns, SourceBudget
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.findings import finding_text
from profkit.render.views.memory import value_title
from profkit.render.views.memory_comparison import (
    difference,
    figure_name,
    quantity,
    rule_sentence,
    runs_of,
    spread_text,
    summary,
)
from profkit.render.views.sampled import library_test
from profkit.render.views.source import source_of

_SOURCE_BYTES = 400_000
_NAMED = 10
"""Most changed functions that are listed."""


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
    return html_page(page.head("sampled", f"{title} – profkit"), page.columns)


def _page_run(comparison: MemoryComparison, number: int, name: str, side: Side) -> PageRun:
    return PageRun(
        id=side.runs[0].id,
        label=f"{name}: {side.name}, {value_title(comparison.value)}",
        profile=_side(comparison.both, number),
        facts=_facts(comparison),
        summary=summary(comparison),
        notes=[finding_text(note) for note in comparison.notes],
    )


def _side(both: Profile, thread: int) -> Profile:
    return replace(both, samples=tuple(sample for sample in both.samples if sample.thread == thread))


def _facts(comparison: MemoryComparison) -> list[Fact]:
    a, b = runs_of(comparison)
    facts = [Fact("A", (Part(a),)), Fact("B", (Part(b),))]
    for value, one in comparison.figures:
        sides = f"{spread_text(one.a, value)} → {spread_text(one.b, value)}"
        facts.append(Fact(figure_name(value), (Part(sides), Part(difference(one, value)))))
    for function in comparison.changed[:_NAMED]:
        amounts = function.reported
        sides = " → ".join(quantity(one.middle, comparison.value) for one in (amounts.a, amounts.b))
        where = place(function.file, function.line, comparison.cwd)
        facts.append(Fact("changed", (Part(f"{function.name} ({where})"), Part(sides))))
    if (more := len(comparison.changed) - _NAMED) > 0:
        facts.append(Fact("changed", (Part(f"and {count(more, 'more function')}"),)))
    return [*facts, Fact("rule", (Part(rule_sentence(comparison)),))]
