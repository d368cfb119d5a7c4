"""Shares, differences and times of a comparison as its reports write them."""

from __future__ import annotations

import math

from profkit.comparing.sampled_words import signed
from profkit.model.comparison import Change, Difference, Estimate, SampledComparison
from profkit.render.amounts import amount
from profkit.render.escape import visible
from profkit.render.words import alike, count


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
