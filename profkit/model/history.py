"""History of a label: results of its runs, commit by commit."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from itertools import pairwise

from profkit.model.comparison import CountSpread
from profkit.model.measurement import MeasurementWarning
from profkit.model.notes import Note


class Quantity(enum.Enum):
    """Quantity that a series shows; the value is the word in files."""

    MEDIAN_S = "median_s"
    INSTRUCTIONS = "instructions"
    PER_CALL_S = "per_call_s"


@dataclass(frozen=True, slots=True)
class Point:
    """Result of the runs of one commit."""

    commit: str
    """Empty if unknown; each run then has a point of its own."""
    started_ns: int
    """Unix time at which its first run started."""
    value: float
    low: float | None
    """Lower bound of the 95 % interval; None if there is none or the value is exact."""
    high: float | None
    runs: tuple[str, ...]
    """Ids of the runs, oldest first."""
    warnings: tuple[MeasurementWarning | Note, ...] = ()
    """Warnings, each once."""


@dataclass(frozen=True, slots=True)
class Series:
    """One order, or one region, over commits, oldest first."""

    name: str
    quantity: Quantity
    points: tuple[Point, ...]
    number: int | None = None
    """Executions per count of instructions; other numbers make other series."""
    spread: CountSpread | None = None
    """Differences of instructions between runs of one commit; None if there are none."""

    @property
    def changes(self) -> tuple[float | None, ...]:
        """The ratio of each value to the previous one; None for the first and after a 0."""
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
