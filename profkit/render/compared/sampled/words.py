"""Shares, differences and times of a comparison as its reports write them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from profkit.model.comparison import (
    Change,
    Difference,
    Estimate,
    FunctionComparison,
    Grade,
    SampledComparison,
)
from profkit.render.amounts import amount
from profkit.render.escape import visible
from profkit.render.words import alike, count
from profkit.units import Unit, format_duration


def headline(comparison: SampledComparison) -> str:
    """Return one sentence: the largest significant change, or that there is none; names in it are raw."""
    call_s, unit = comparison.call_s, comparison.both.unit
    said = _most(comparison.changed, unit) if comparison.changed else _nothing(comparison.unseen)
    if call_s is not None and call_s.difference.changed:
        said += (
            f"; a call takes {format_duration(call_s.b.value)} instead of {format_duration(call_s.a.value)}"
        )
    if comparison.grade is Grade.CONFIRMED:
        return said
    return f"indicative, from {_runs(min(len(comparison.a.runs), len(comparison.b.runs)))}: {said}"


def _nothing(unseen: float) -> str:
    if math.isinf(unseen):
        return "no function has a share large enough to compare"
    return f"no share differs by more than the noise, which is up to {100 * unseen:.1f} points"


def _most(changed: Sequence[FunctionComparison], unit: Unit) -> str:
    first = changed[0]
    told = first.told
    whose = "" if told is first.own else " with all that it calls"
    of = "time" if unit in (Unit.SAMPLES, Unit.NANOSECONDS) else unit.value
    more = "" if len(changed) == 1 else f"{len(changed)} functions changed, most of all "
    return (
        f"{more}{first.name}{whose}: {100 * told.a.value:.1f} % of the {of} in A, "
        f"{100 * told.b.value:.1f} % in B, {_interval(told.difference)}"
    )


def _runs(fewest: int) -> str:
    return (
        "one run a side"
        if fewest == 1
        else f"{fewest} runs a side"
        if fewest == 2
        else "runs sampled differently"
    )


def _interval(difference: Difference) -> str:
    """Format a difference with its interval: `+5.0 points (−2.1 to +7.9)`."""
    value, low, high = (
        signed(f"{100 * part:+.1f}") for part in (difference.value, difference.low, difference.high)
    )
    return f"{value} points ({low} to {high})"


def signed(number: str) -> str:
    """Replace the hyphen of a formatted number with a minus sign, as wide as a plus sign."""
    return number.replace("-", "−")


def share(estimate: Estimate) -> str:
    """`12.3 %`."""
    return f"{100 * estimate.value:.1f} %"


def bounded_share(estimate: Estimate) -> str:
    """`12.3 % ±1.4`."""
    return f"{share(estimate)} ±{100 * _half(estimate):.1f}"


def points(value: float) -> str:
    """A difference of shares with its sign: `+5.0`; 0 has none."""
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else signed(text)


def bounded_points(difference: Difference) -> str:
    """`+5.0 ±2.9`."""
    return f"{points(difference.value)} ±{100 * _half(difference):.1f}"


def times(pair: tuple[Estimate, Estimate] | None, *, bounded: bool = False) -> str:
    """`1.20 → 1.43 ms` or `1.20 ±0.10 → 1.43 ±0.11 ms`, a time per call; empty where there is none."""
    if pair is None or not any(estimate.value for estimate in pair):
        return ""
    a, b, half_a, half_b = alike([*(estimate.value for estimate in pair), *map(_half, pair)])
    number, unit = (b.rpartition(" ")[part] for part in (0, 2))
    shown_a, shown_b = (
        f"{value} ±{half.rpartition(' ')[0]}" if bounded else value
        for value, half in ((a.rpartition(" ")[0], half_a), (number, half_b))
    )
    return f"{shown_a} → {shown_b} {unit}"


def _half(bounded: Estimate | Difference) -> float:
    """Half an interval; the longer one where the end of all shares cuts it."""
    return max(bounded.high - bounded.value, bounded.value - bounded.low)


def runs_of(comparison: SampledComparison) -> tuple[str, str]:
    """What each side is, with its runs: `plain, 3 runs, 4,321 samples`."""
    unit = comparison.both.unit
    a, b = (
        f"{visible(side.name)}, {count(len(side.runs), 'run')}, {amount(side.samples, unit)}"
        for side in (comparison.a, comparison.b)
    )
    return a, b


def call_sentence(comparison: SampledComparison) -> str:
    """How long a call takes on both sides, with what is known of the difference; empty without calls."""
    call_s = comparison.call_s
    if call_s is None:
        return ""
    ratio = 100 * (call_s.b.value / call_s.a.value - 1)
    worth = "" if call_s.difference.changed else ", inside the noise"
    return f"one call {times((call_s.a, call_s.b))} ({signed(f'{ratio:+.1f}')} %{worth})"


def noise_sentence(comparison: SampledComparison) -> str:
    """What may have changed unseen."""
    least = 100 * comparison.minimum_effect
    rule = f"A change is at least {least:.0f} points and beyond the noise, with all functions allowed for."
    if math.isinf(comparison.unseen):
        return rule
    return f"{rule} Here up to {100 * comparison.unseen:.1f} points could be noise."


def shares_sentence(comparison: SampledComparison) -> str:
    """What to mind where some shares rose and others fell; else empty."""
    changes = {function.told.difference.change for function in comparison.changed}
    if not {Change.MORE, Change.LESS} <= changes:
        return ""
    return (
        "Shares are parts of a whole: what takes longer leaves less to everything else. "
        "Times per call tell what became slower or faster."
    )
