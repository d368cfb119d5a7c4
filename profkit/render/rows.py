"""The rows of a report: plain data with full names, before any layout; what tests compare."""

from __future__ import annotations

from dataclasses import dataclass

from profkit.model.profile import Profile
from profkit.units import Unit


@dataclass(frozen=True, slots=True)
class CostRow:
    """A place in the code and what it cost: itself, and in total with all that it called.

    `samples` are the profile's weights, shares are parts of 1; seconds are None where the weights do
    not stand for time.
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
"""The figures of a `CostRow`, in its order."""


@dataclass(frozen=True, slots=True)
class LineRow(CostRow):
    """A line of a function, with its source where that can be shown."""

    source: str | None


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread that was seen, and its part of all samples."""

    name: str
    pid: int
    tid: int
    samples: int
    share: float
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Scale:
    """What turns a profile's weights into shares and seconds."""

    unit: Unit
    total: int
    weight_s: float | None
    """Seconds that a weight of 1 stands for."""

    def share(self, weight: int) -> float:
        """The part of the whole that a weight is; 0 of an empty whole."""
        return weight / self.total if self.total else 0.0

    def seconds(self, weight: int) -> float | None:
        """The time that a weight stands for."""
        return None if self.weight_s is None else weight * self.weight_s

    def costs(self, self_weight: int, total_weight: int) -> Costs:
        """The figures of a row with these weights."""
        return (
            self_weight,
            total_weight,
            self.share(self_weight),
            self.share(total_weight),
            self.seconds(self_weight),
            self.seconds(total_weight),
        )


def scale_of(profile: Profile) -> Scale:
    """The scale of a profile: samples stand for its period, nanoseconds for themselves."""
    weight_s = {Unit.SAMPLES: profile.period_ns / 1e9 or None, Unit.NANOSECONDS: 1e-9}.get(profile.unit)
    return Scale(profile.unit, profile.total_weight, weight_s)
