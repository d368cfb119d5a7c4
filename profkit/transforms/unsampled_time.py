"""Time that samples do not show: suspended coroutines by line, and children, if it is worth a note."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from profkit.model.notes import Note, NoteCode
from profkit.model.region import CALLS_ONLY, MEMRAY, RegionKind
from profkit.model.run import Run, RunInfo
from profkit.model.session import AwaitTime, ResourcePoint, SamplerPlan

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


_UNSAMPLED = NoteCode.CHILDREN_UNSAMPLED
_LEAST_SHARE, _LEAST_S = 0.05, 0.2
"""CPU time of children from which on they are worth a note, the first as a part of all."""


def children_note(points: Sequence[ResourcePoint], plan: SamplerPlan) -> Note | None:
    """Return a note if children used much CPU time and were not sampled; None if not."""
    last = points[-1].children if points else None
    if last is None or plan.subprocesses or plan.sampler in (CALLS_ONLY, MEMRAY):
        return None
    first = points[0].children
    used_s = last.unrecorded_s - (first.unrecorded_s if first is not None else 0.0)
    all_s = used_s + points[-1].cpu_s - points[0].cpu_s
    if used_s < max(_LEAST_S, _LEAST_SHARE * all_s):
        return None
    processes = last.processes if first is None else 0
    return Note.of(_UNSAMPLED, processes=processes, cpu_s=round(used_s, 2))


def unsampled_children(run: Run) -> tuple[int, float] | None:
    """Return how many children used notable CPU time without being sampled, and that time in seconds.

    The number is 0 if it is not known; of a merged run, both are sums. None if there are none.
    """
    infos = run.merged.infos if run.merged else (run.info,)
    notes = {info.session: note for info in infos for note in info.notes if note.code is _UNSAMPLED}
    figures = [dict(note.figures) for note in notes.values()]
    if not figures:
        return None
    processes = [int(each["processes"]) for each in figures]
    return sum(processes) if all(processes) else 0, sum(float(each["cpu_s"]) for each in figures)


def sampled_points(run: Run) -> tuple[ResourcePoint, ...]:
    """Return a run's resources, whose CPU time includes that of children if they were sampled, too."""
    if not run.info.plan.subprocesses:
        return run.resources
    return tuple(
        point if point.children is None else replace(point, cpu_s=point.cpu_s + point.children.cpu_s)
        for point in run.resources
    )
