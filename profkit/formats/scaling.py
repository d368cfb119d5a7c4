"""Weights as times and back, and fractions as whole weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from profkit.model.profile import Profile
from profkit.units import Unit


def sample_time_ns(profile: Profile) -> int | float | None:
    """The nanoseconds of a weight of 1; None where they are not known, or would not tell the weight again."""
    if profile.unit is Unit.NANOSECONDS:
        return 1
    if profile.unit is not Unit.SAMPLES or profile.period_ns <= 0:
        return None
    period = int(profile.period_ns) if profile.period_ns.is_integer() else profile.period_ns
    weights = {sample.weight for sample in profile.samples}
    return period if all(_is_told(weight, period) for weight in weights) else None


def weight_of(time_ns: float, period_ns: float) -> int:
    """The weight of samples that take this long together."""
    if isinstance(time_ns, int) and period_ns == int(period_ns):
        return time_ns // int(period_ns)
    return round(time_ns / period_ns)


def whole_steps(weights: Iterable[float]) -> Iterator[int]:
    """Weights as whole numbers, the sum of the first N never more than a half from what it was."""
    total: float = 0
    done = 0
    for weight in weights:
        total += weight
        step = round(total) - done
        done += step
        yield step


def _is_told(weight: int, period_ns: float) -> bool:
    try:
        return weight_of(weight * period_ns, period_ns) == weight
    except (OverflowError, ValueError):  # infinite, or not a number
        return False
