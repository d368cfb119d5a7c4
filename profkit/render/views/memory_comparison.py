"""Report of a comparison of memory runs, and its figures in words."""

from __future__ import annotations

from collections.abc import Iterator

from profkit.model.comparison import Change, Side
from profkit.model.memory_comparison import Amounts, MemoryComparison, Spread
from profkit.model.profile import Value
from profkit.render.document import (
    Block,
    Cell,
    Column,
    Document,
    Remark,
    Role,
    Section,
    Table,
    cells,
    more_than,
)
from profkit.render.formatting import Tone, amount, count, count_text, factor, place
from profkit.render.options import DEFAULTS, ReportOptions
from profkit.render.views.findings import finding_text
from profkit.render.views.memory import VALUE_TITLES
from profkit.render.views.sampled_comparison import described
from profkit.render.views.sampled_comparison_report import MARKS, TONES, sides_head
from profkit.units import Unit, format_bytes

_MAX_UNCHANGED = 5
"""Unchanged functions that are shown after those that changed."""


def memory_comparison(comparison: MemoryComparison, options: ReportOptions = DEFAULTS) -> Document:
    """Yield the report of a comparison."""
    yield from sides_head(summary(comparison), runs_of(comparison))
    figures = comparison.figures
    differences = [
        Cell(difference(one, value), TONES[one.change], mark=MARKS[one.change]) for value, one in figures
    ]
    yield Section("Figures", "of one call; median, and range over calls or runs")
    yield Table(
        [
            Column("", cells(figure_name(value) for value, _ in figures), Role.WORDS),
            Column("A", cells(spread_text(one.a, value) for value, one in figures)),
            Column("B", cells(spread_text(one.b, value) for value, one in figures)),
            Column("difference", differences),
        ]
    )
    yield from _functions(comparison, options)
    yield Remark(rule_sentence(comparison), gap=True)
    for note in comparison.notes:
        yield Remark(f"note: {finding_text(note)}", Tone.WARN)


def _functions(comparison: MemoryComparison, options: ReportOptions) -> Iterator[Block]:
    limit, changed, value = options.rows(15, 10), len(comparison.changed), comparison.value
    rows = comparison.functions[: min(limit, changed + _MAX_UNCHANGED)]
    reported = [row.reported for row in rows]
    tones = [TONES[one.change] for one in reported]
    names = [
        Cell(row.name, tone, more="" if row.reported is row.own else "(total)")
        for row, tone in zip(rows, tones, strict=True)
    ]
    differences = [_signed(one.difference, value) for one in reported]
    places = cells((place(row.file, row.line, comparison.cwd) for row in rows), Tone.FAINT)
    yield Section("Functions", f"self, {VALUE_TITLES[value]}; unchanged ones have no mark")
    yield Table(
        [
            Column("", [Cell(MARKS[one.change], TONES[one.change]) for one in reported]),
            Column("A", cells(quantity(one.a.middle, value) for one in reported)),
            Column("B", cells(quantity(one.b.middle, value) for one in reported)),
            Column("difference", [Cell(text, tone) for text, tone in zip(differences, tones, strict=True)]),
            Column("function", names, Role.NAME),
            Column("where", places, Role.PLACE),
        ]
    )
    yield from more_than(len(rows), len(comparison.functions), "function")


def _signed(number: float, value: Value) -> str:
    sign = "+" if number > 0 else "−" if number < 0 else ""
    return f"{sign}{quantity(abs(number), value)}"


def summary(comparison: MemoryComparison) -> tuple[str, ...]:
    """Return sentences: the peaks, and the function that changed most; names in them are raw."""
    return f"{headline(comparison)}.", *_most(comparison)


def headline(comparison: MemoryComparison) -> str:
    """Return a clause on the peaks of both sides."""
    peak = comparison.peak
    a, b = format_bytes(peak.a.middle), format_bytes(peak.b.middle)
    if peak.change is Change.NOISE:
        return f"no difference in the peak of a call: {a} in A, {b} in B"
    return f"peak of a call: {a} in A, {b} in B, {difference(peak, Value.PEAK)}"


def _most(comparison: MemoryComparison) -> Iterator[str]:
    changed = comparison.changed
    if not changed:
        yield f"No function changed ({VALUE_TITLES[comparison.value]})."
        return
    first = changed[0]
    whose = "" if first.reported is first.own else " including callees"
    a, b = (quantity(side.middle, comparison.value) for side in (first.reported.a, first.reported.b))
    more = "" if len(changed) == 1 else f"{count(len(changed), 'function')} changed, mostly "
    yield f"{more}{first.name}{whose}: {a} in A, {b} in B ({VALUE_TITLES[comparison.value]})."


def difference(amounts: Amounts, value: Value) -> str:
    """Format B's amount minus A's: `+20.0 MiB (× 1.40)`; a small ratio in percent."""
    number = amounts.difference
    sign = "+" if number > 0 else "−" if number < 0 else "±"
    text = f"{sign}{quantity(abs(number), value)}"
    ratio = amounts.ratio
    if not ratio or not number:
        return text
    part = f"{100 * abs(ratio - 1):.1f} %"
    return f"{text} ({sign}{part})" if 0.5 < ratio < 2 else f"{text} (× {factor(ratio)})"


def quantity(number: float, value: Value) -> str:
    """Format an amount of a value."""
    return format_bytes(number) if value.unit is Unit.BYTES else count_text(number)


def spread_text(spread: Spread, value: Value) -> str:
    """Format a figure with its range, if it varies: `50.0 MiB (48.0 MiB to 52.0 MiB)`."""
    middle, least, most = (quantity(number, value) for number in (spread.middle, spread.least, spread.most))
    return middle if least == most else f"{middle} ({least} to {most})"


def figure_name(value: Value) -> str:
    """Return a figure's name in tables: `peak`, `allocated per call`."""
    return value.value if value is Value.PEAK else f"{value.value} per call"


def runs_of(comparison: MemoryComparison) -> tuple[str, str]:
    """Describe each side: `load · 2 runs · 6 calls · 2026-11-25 12:30 · git 0123456789`."""
    a, b = (described(side, count(_calls(side), "call")) for side in (comparison.a, comparison.b))
    return a, b


def _calls(side: Side) -> int:
    return sum(len(info.memory.peaks_bytes) for info in side.runs if info.memory is not None)


def rule_sentence(comparison: MemoryComparison) -> str:
    """Return the rule for a change."""
    least = amount(comparison.least_bytes, Unit.BYTES)
    objects = "an arena of Python objects" if comparison.least_bytes >= 2**20 else "what caches vary by"
    part = f"{comparison.least * 100:.0f} %"
    return f"A change is at least {part} and {least} ({objects}), and the calls of A and B do not overlap."
