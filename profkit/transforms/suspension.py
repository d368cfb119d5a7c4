"""Time for which coroutines were suspended, by the line of the program that awaited something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from profkit.model.run import RunInfo
from profkit.model.session import AwaitTime

MOST_AWAITS = 32
"""Lines of a region that are kept: the longest."""

_Place = tuple[str, int, str, str]


@dataclass(frozen=True, slots=True)
class AwaitShare:
    """One line, with its part of the wall time of the region's calls."""

    place: AwaitTime
    share: float

    @property
    def suspended_s(self) -> float:
        """Time for which calls were suspended there."""
        return self.place.suspended_ns / 1e9


@dataclass(frozen=True, slots=True)
class Suspended:
    """Part of the wall time of a region's calls for which they were suspended, and its lines."""

    share: float
    lines: tuple[AwaitShare, ...]
    """Longest first."""
    elsewhere_ns: int
    """Time at lines that are not kept, and of async generators between two items."""


def suspended(info: RunInfo) -> Suspended | None:
    """Return for how long the region's calls were suspended; None if no line of that is known."""
    wall_ns = info.durations.sum_ns
    if not info.awaits or not wall_ns:
        return None
    known_ns = sum(place.suspended_ns for place in info.awaits)
    return Suspended(
        min(1.0, info.suspended_ns / wall_ns),
        tuple(AwaitShare(place, min(1.0, place.suspended_ns / wall_ns)) for place in info.awaits),
        max(0, info.suspended_ns - known_ns),
    )


def add_awaits(awaits: Iterable[AwaitTime]) -> tuple[AwaitTime, ...]:
    """Add up the time of each line, and return the longest `MOST_AWAITS`."""
    spent_ns, times = Counter[_Place](), Counter[_Place]()
    for one in awaits:
        place = one.file, one.line, one.function, one.awaited
        spent_ns[place] += one.suspended_ns
        times[place] += one.times
    return tuple(AwaitTime(*place, ns, times[place]) for place, ns in spent_ns.most_common(MOST_AWAITS))
