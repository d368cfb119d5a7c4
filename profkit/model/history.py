"""The history of a label: what its runs came to, commit by commit."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from itertools import pairwise

from profkit.model.comparison import CountSpread


class Quantity(enum.Enum):
    """What a series shows; the value is the word that files carry."""

    MEDIAN_S = "median_s"
    INSTRUCTIONS = "instructions"
    PER_CALL_S = "per_call_s"


@dataclass(frozen=True, slots=True)
class Point:
    """What the runs of one commit came to."""

    commit: str
    """Empty where none is known; each run then has a point of its own."""
    started_ns: int
    """Of the first of its runs."""
    value: float
    low: float | None
    """The 95 % interval; None where there is none, or where the value is exact."""
    high: float | None
    runs: tuple[str, ...]
    """Their ids, oldest first."""
    doubts: tuple[str, ...] = ()
    """Why not to trust it, each reason once."""


@dataclass(frozen=True, slots=True)
class Series:
    """One order, or one region, over commits, oldest first."""

    name: str
    quantity: Quantity
    points: tuple[Point, ...]
    number: int | None = None
    """Of instructions, the executions that were counted at a time; other numbers make other series."""
    spread: CountSpread | None = None
    """How instructions differed between runs of one commit; None if they did not."""

    @property
    def changes(self) -> tuple[float | None, ...]:
        """The ratio of each value to the one before it; None for the first, and after a 0."""
        values = [point.value for point in self.points]
        return (
            None,
            *(now / before if before > 0 else None for before, now in pairwise(values)),
        )


@dataclass(frozen=True, slots=True)
class History:
    """All series of a label."""

    label: str
    series: tuple[Series, ...]
