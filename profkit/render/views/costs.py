"""Costs of places in the code: weights, times, and shares of the total with their uncertainty (±)."""

from __future__ import annotations

from dataclasses import dataclass

from profkit.model.profile import Profile
from profkit.render.formatting import percent
from profkit.stats.means import share_interval
from profkit.units import Unit


@dataclass(frozen=True, slots=True)
class CostRow:
    """Self and total cost of a place in the code.

    `samples` are the profile's weights, shares are parts of 1; seconds are None if the weights are not
    times.
    """

    name: str
    file: str
    line: int
    self_samples: int
    total_samples: int
    self_share: float
    total_share: float
    self_s: float | None
    total_s: float | None


Costs = tuple[int, int, float, float, float | None, float | None]
"""Figures of a `CostRow`, in its order."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Conversion of a profile's weights to shares and seconds."""

    unit: Unit
    total: int
    weight_s: float | None
    """Seconds per weight of 1; None if weights are not times."""

    def share(self, weight: int) -> float:
        """Return a weight's part of the total; 0 if the total is 0."""
        return weight / self.total if self.total else 0.0

    def seconds(self, weight: int) -> float | None:
        """Return the time that a weight represents."""
        return None if self.weight_s is None else weight * self.weight_s

    def costs(self, self_weight: int, total_weight: int) -> Costs:
        """Return the figures of a row with these weights."""
        return (
            self_weight,
            total_weight,
            self.share(self_weight),
            self.share(total_weight),
            self.seconds(self_weight),
            self.seconds(total_weight),
        )

    def waiting(self, weight: int) -> tuple[int, float, float | None]:
        """Return the additional figures of a `HotRow` with this waiting weight."""
        return weight, self.share(weight), self.seconds(weight)


def scale_of(profile: Profile) -> Scale:
    """Return the scale of a profile: a sample represents its period, a nanosecond itself."""
    weight_s = {Unit.SAMPLES: profile.period_ns / 1e9 or None, Unit.NANOSECONDS: 1e-9}.get(profile.unit)
    return Scale(profile.unit, profile.total_weight, weight_s)


_ONE_SIDED = 3
"""Ratio of the two sides of an interval from which on only the wider one is shown."""
_MIN_SURE = 0.01
"""Share below which the uncertainty is not shown."""


def plus_minus(weight: int, scale: Scale) -> str:
    """Format the uncertainty of a weight's share in points: `±6`, or `−12` if it can only be less.

    Empty for small shares.
    """
    share = scale.share(weight)
    if scale.unit is not Unit.SAMPLES or share < _MIN_SURE:
        return ""
    low, high = share_interval(weight, scale.total)
    if share - low > _ONE_SIDED * (high - share):
        sign, points = "−", share - low
    else:
        sign, points = "±", (high - low) / 2
    return f"{sign}{percent(points, scale.total).removesuffix(' %')}".replace("<", "")
