"""Shares, differences and times of a comparison as its reports write them."""

from __future__ import annotations

from profkit.model.comparison import Difference, Estimate, SampledComparison
from profkit.render.escape import visible
from profkit.render.words import alike, count


def share(estimate: Estimate) -> str:
    """`12.3 %`."""
    return f"{100 * estimate.value:.1f} %"


def points(value: float) -> str:
    """A difference of shares with its sign: `+5.0`; 0 has none."""
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def bounded_points(difference: Difference) -> str:
    """`+5.0 (+2.1 to +7.9)`."""
    return f"{points(difference.value)} ({points(difference.low)} to {points(difference.high)})"


def times(pair: tuple[Estimate, Estimate] | None) -> str:
    """`1.20 → 1.43 ms`, a function's time per call; empty where calls are not known."""
    if pair is None:
        return ""
    a, b = alike([estimate.value for estimate in pair])
    return f"{a.rpartition(' ')[0]} → {b}"


def runs_of(comparison: SampledComparison) -> tuple[str, str]:
    """What each side is, with its runs: `plain, 3 runs, 4,321 samples`."""
    unit = comparison.both.unit.value
    a, b = (
        f"{visible(side.name)}, {count(len(side.runs), 'run')}, {count(side.samples)} {unit}"
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
    return f"one call {times((call_s.a, call_s.b))} ({ratio:+.1f} %{worth})"


def noise_sentence(comparison: SampledComparison) -> str:
    """What may have changed unseen."""
    least = 100 * comparison.minimum_effect
    return (
        f"A change is at least {least:.0f} points and beyond the noise, with all functions allowed for. "
        f"Here up to {100 * comparison.unseen:.1f} points could be noise."
    )
