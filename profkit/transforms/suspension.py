"""Time for which coroutines were suspended, by the line of the program that awaited something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from profkit.model.region import RegionKind
from profkit.model.run import RunInfo
from profkit.model.session import AwaitTime

MOST_AWAITS = 32
"""Lines of a region that are kept: the longest."""

_Place = tuple[str, int, str, str]


@dataclass(frozen=True, slots=True)
class AwaitShare:
    """One line that awaited something."""

    place: AwaitTime
    share: float
    """Part of the wall time of the region's calls; of a program, the mean number of tasks suspended there."""

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
    """Return for how long the region's calls were suspended; None if no line of that is known.

    A program is never suspended: only its tasks are.
    """
    lines = await_shares(info)
    if not lines or info.region.kind is RegionKind.PROGRAM:
        return None
    known_ns = sum(place.suspended_ns for place in info.awaits)
    share = min(1.0, info.suspended_ns / info.durations.sum_ns)
    return Suspended(share, lines, max(0, info.suspended_ns - known_ns))


def await_shares(info: RunInfo) -> tuple[AwaitShare, ...]:
    """Return the lines at which the region's calls, or the program's tasks, were suspended; longest first."""
    wall_ns = info.durations.sum_ns
    if info.region.kind is RegionKind.PROGRAM:
        wall_ns = wall_ns or round(info.session_s * 1e9)  # its call does not end if the process ends early
    return tuple(AwaitShare(place, place.suspended_ns / wall_ns) for place in info.awaits if wall_ns)


def add_awaits(awaits: Iterable[AwaitTime]) -> tuple[AwaitTime, ...]:
    """Add up the time of each line, and return the longest `MOST_AWAITS`."""
    spent_ns, times = Counter[_Place](), Counter[_Place]()
    for one in awaits:
        place = one.file, one.line, one.function, one.awaited
        spent_ns[place] += one.suspended_ns
        times[place] += one.times
    return tuple(AwaitTime(*place, ns, times[place]) for place, ns in spent_ns.most_common(MOST_AWAITS))
