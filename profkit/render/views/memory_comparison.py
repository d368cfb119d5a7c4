"""Content of comparisons of memory runs that all formats share."""

from __future__ import annotations

from collections.abc import Iterator

from profkit.model.comparison import Change, Side
from profkit.model.memory_comparison import Amounts, FunctionMemory, MemoryComparison, Spread
from profkit.model.profile import Value
from profkit.render.escape import visible
from profkit.render.formatting import amount, count, count_text, factor, moment
from profkit.render.views.memory import value_title
from profkit.units import Unit, format_bytes

_TO_MINUTES = len("2026-11-25 12:30")
_DIGITS = 10
"""Shown digits of a commit."""


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
        yield f"No function changed ({value_title(comparison.value)})."
        return
    first = changed[0]
    whose = "" if first.reported is first.own else " including callees"
    a, b = (quantity(side.middle, comparison.value) for side in (first.reported.a, first.reported.b))
    more = "" if len(changed) == 1 else f"{count(len(changed), 'function')} changed, mostly "
    yield f"{more}{first.name}{whose}: {a} in A, {b} in B ({value_title(comparison.value)})."


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


def where_from(function: FunctionMemory) -> str:
    """Return a function's name, with the amount that is shown if it is not its own."""
    return function.name if function.reported is function.own else f"{function.name} (total)"


def runs_of(comparison: MemoryComparison) -> tuple[str, str]:
    """Describe each side: `load · 2 runs · 6 calls · 2026-11-25 12:30 · git 0123456789`."""
    a, b = (" · ".join(_described(side)) for side in (comparison.a, comparison.b))
    return a, b


def _described(side: Side) -> Iterator[str]:
    labels = ", ".join(dict.fromkeys(info.label for info in side.runs))
    yield visible(side.name if labels in side.name else f"{labels} ({side.name})")
    yield count(len(side.runs), "run")
    calls = sum(len(info.memory.peaks_bytes) for info in side.runs if info.memory is not None)
    yield count(calls, "call")
    yield moment(max(info.started_ns for info in side.runs))[:_TO_MINUTES]
    commits = dict.fromkeys((info.process.git_commit or "")[:_DIGITS] for info in side.runs)
    if named := ", ".join(commit for commit in commits if commit and commit not in side.name):
        yield f"git {named}"


def rule_sentence(comparison: MemoryComparison) -> str:
    """Return the rule for a change."""
    least = amount(comparison.least_bytes, Unit.BYTES)
    objects = "an arena of Python objects" if comparison.least_bytes >= 2**20 else "what caches vary by"
    part = f"{comparison.least * 100:.0f} %"
    return f"A change is at least {part} and {least} ({objects}), and the calls of A and B do not overlap."
