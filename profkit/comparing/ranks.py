"""Ranks of a merged job: their times by function, and arrivals; `late_ranks` finds those that are late."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import median
from typing import TypeVar

from profkit.comparing.late_ranks import Lateness, RankTime, explain, find_lateness, is_no_chance
from profkit.model.profile import Frame, Profile
from profkit.model.ranks import LateRanks, RankFunction, RankTimes
from profkit.model.run import Run
from profkit.transforms.collectives import Arrivals, Collective, arrivals_of, collectives_of
from profkit.transforms.origin import is_library_file
from profkit.transforms.rank_times import Alone, Function, Included, RankStacks, Stretch
from profkit.transforms.waiting import OF_OTHER_PROCESSES, LineOf

MOST_FUNCTIONS = 40
_HALF = 0.5
_MOST_EXPLAINED = 16
"""Most late and other ranks whose functions are searched for an explanation."""
_NO_FILE = "<none>"
RunKey = tuple[str, str]
"""Session and id of a run."""
ProcessKey = tuple[str, int, int]
"""Host, pid and start time, since pids are reused."""
LinesOf = Callable[[Run], LineOf]
"""Returns what returns lines of the source that a run executed."""


def without_lines(_run: Run) -> LineOf:
    """Return no lines: the source is not known."""
    return lambda file, line: None


def stretches_of(run: Run, lines_of: LinesOf) -> tuple[Stretch, ...]:
    """Return the time of a run's main thread in its order; nothing if it is no rank, or not known.

    A late rank may never be seen to wait for others; it is then known by its number.
    """
    stacks = _stacks_of(run, lines_of)
    is_whole = run.info.plan.idle and (run.profile or Profile()).ordered
    is_rank = run.info.process.member.rank is not None or stacks.are_of_job
    return tuple(stacks.stretches()) if is_whole and is_rank else ()


def process_of(run: Run) -> ProcessKey:
    """Return what identifies the process of a run."""
    process = run.info.process
    return process.host, process.pid, process.start_ticks


@dataclass(frozen=True, slots=True)
class Rank:
    """A process that waits for others."""

    by_state: RankTime
    """Its time, if it waits in the backward pass only while its thread is known to wait."""
    at_most: RankTime
    """Its time, if the whole backward pass is waiting."""
    cpu_s: float


class InOrder:
    """What the order of samples says of waiting for other ranks: the time of main threads in its order."""

    def __init__(self, lines_of: LinesOf) -> None:
        self._lines_of = lines_of
        self._stretches: dict[RunKey, tuple[Stretch, ...]] = {}
        self._collectives: dict[RunKey, tuple[Collective, ...]] = {}

    def add(self, run: Run) -> None:
        """Add a run whose samples are in order."""
        key = run.info.session, run.info.id
        self._stretches[key] = stretches_of(run, self._lines_of)
        if run.info.imported is not None and run.info.process.member.rank is not None:
            self._collectives[key] = collectives_of(run.profile or Profile())

    def find_arrivals(self, runs: Sequence[Run]) -> Arrivals[RunKey] | None:
        """Return the arrivals of ranks with one trace each, by which alone their waiting is known then.

        In a trace, the stacks of a thread do not say in which collective its device waits. So nothing is
        known of the ranks' waiting if their traces do not match.
        """
        is_one_each = len({process_of(run) for run in runs}) == len(runs) == len(self._collectives)
        found = arrivals_of(self._collectives) if is_one_each else None
        self._stretches |= dict.fromkeys(self._collectives, ()) if found is None else found.stretches
        return found

    def rank_of(self, runs: Sequence[Run], cpu_s: float) -> Rank | None:
        """Return a process with these runs as a rank; None if its waiting for other ranks is not known."""
        in_order = sorted(runs, key=lambda run: run.info.started_ns)
        found = list(chain.from_iterable(self._stretches[run.info.session, run.info.id] for run in in_order))
        if not found:
            return None
        return Rank(RankTime.of(found), RankTime.of(found, Alone.BACKWARD), cpu_s)


def ranks_of(
    processes: Sequence[Sequence[Run]],
    ranks: Sequence[Rank | None],
    lines_of: LinesOf,
    arrivals: Arrivals[RunKey] | None = None,
) -> RankTimes | None:
    """Return the times of the ranks of one job by function; None if they do not wait for one another."""
    known = [rank for rank in ranks if rank is not None]
    jobs = {run.info.process.member.job for runs in processes for run in runs}
    if len(known) < max(2, len(processes)) or len(jobs) > 1:
        return None
    if not any(rank.at_most.waited_s for rank in known):
        return None
    stacks = [[_stacks_of(run, lines_of) for run in runs] for runs in processes]
    late = _late(known, stacks, lambda rank: _of_children(processes[rank], lines_of))
    if late is not None and arrivals is not None:
        infos = (processes[number][0].info for number in late.ranks)
        last = sum(arrivals.last[info.session, info.id] for info in infos)
        late = replace(late, collectives=arrivals.names, last=last, of=arrivals.count)
    return RankTimes(
        total_s=tuple(rank.by_state.total_s for rank in known),
        waited_s=tuple(rank.by_state.waited_s for rank in known),
        functions=_functions(stacks),
        late=late,
        parts_waited_s=tuple(rank.by_state.slices_s for rank in known),
    )


def _stacks_of(run: Run, lines_of: LinesOf, *, are_of_children: bool = False) -> RankStacks:
    pid, file = run.info.process.pid, _own_file(run)
    return RankStacks(run.profile or Profile(), pid, file, lines_of(run), are_of_children=are_of_children)


def _own_file(run: Run) -> str:
    """Return the region's file.

    Operators and ranges of a trace have none; they are the program if its functions were not recorded.
    """
    frames = () if run.info.imported is None or run.profile is None else run.profile.frames
    has_program = any(frame.file and not is_library_file(frame.file) for frame in frames)
    return _NO_FILE if has_program else run.info.region.file


def _of_children(runs: Sequence[Run], lines_of: LinesOf) -> list[RankStacks]:
    return [_stacks_of(run, lines_of, are_of_children=True) for run in runs]


_Stacks = Sequence[RankStacks]
"""Those of each run of a rank."""


def _functions(ranks: Sequence[_Stacks]) -> tuple[RankFunction, ...]:
    """Return the functions that differ most between ranks."""
    seconds: dict[Function, list[float]] = {}
    lines: dict[Function, dict[int, float]] = {}
    for number, rank in enumerate(ranks):
        for frame, seconds_of in chain.from_iterable(stacks.own().items() for stacks in rank):
            function = frame.name, frame.file
            seconds.setdefault(function, [0.0] * len(ranks))[number] += seconds_of
            of_lines = lines.setdefault(function, {})
            of_lines[frame.line] = of_lines.get(frame.line, 0.0) + seconds_of
    order = sorted(seconds, key=lambda one: (min(seconds[one]) - max(seconds[one]), -sum(seconds[one]), one))
    return tuple(RankFunction(*one, _most(lines[one]), tuple(seconds[one])) for one in order[:MOST_FUNCTIONS])


def _late(
    ranks: Sequence[Rank], stacks: Sequence[_Stacks], children_of: Callable[[int], _Stacks]
) -> LateRanks | None:
    """Return the ranks that made the others wait, if it was not by chance.

    Ranks that are late within the machine code of the backward pass are only seen by their threads' states.
    These are not exact on a crowded machine, so CPU times must agree.
    """
    lateness = find_lateness([rank.at_most for rank in ranks])
    if lateness is None:
        lateness = find_lateness([rank.by_state for rank in ranks])
        if lateness is None or _more_cpu_s(ranks, lateness) < _HALF * lateness.waited_s:
            return None
    late = [stacks[number] for number in _some(lateness.ranks)]
    others = [_including(stacks[number]) for number in _some(lateness.others)]
    explanation = explain(lateness.waited_s, [_including(rank) for rank in late], others)
    if not is_no_chance(lateness, explanation):
        return None
    found = LateRanks(lateness.ranks, lateness.waited_s, lateness.error_s, lateness.of_s)
    if explanation is None:
        return found
    function, every = explanation.function, list(chain.from_iterable(late))
    lines = _summed(each.lines(function) for each in every)
    blocked = _summed(each.blocked(function) for each in every)
    is_blocked = sum(blocked.values()) > _HALF * sum(lines.values())
    waits_for = _most(blocked) if is_blocked else None
    found = replace(found, function=Frame(*function, _most(lines)), waits_for=waits_for)
    if waits_for not in OF_OTHER_PROCESSES:
        return found
    children = list(chain.from_iterable(children_of(rank) for rank in _some(lateness.ranks)))
    return replace(found, of_children=_innermost(children, function))


def _innermost(stacks: _Stacks, caller: Function) -> Frame | None:
    """Return the innermost function that has most of the time; None if that is what started the processes."""
    total_s = sum(chain.from_iterable(one.own().values() for one in stacks))
    heavy = {
        function: included.depth
        for function, included in _including(stacks).items()
        if included.seconds > _HALF * total_s
    }
    function = max(heavy, key=lambda one: (heavy[one], one), default=caller)
    if function == caller:
        return None
    return Frame(*function, _most(_summed(one.lines(function) for one in stacks)))


def _more_cpu_s(ranks: Sequence[Rank], lateness: Lateness) -> float:
    """Return how much more CPU time late ranks used than the others."""
    late_s, others_s = (
        median(ranks[number].cpu_s for number in part) for part in (lateness.ranks, lateness.others)
    )
    return late_s - others_s


def _some(numbers: Sequence[int]) -> Sequence[int]:
    """Return at most `_MOST_EXPLAINED` of the ranks, evenly spread."""
    return numbers[:: math.ceil(len(numbers) / _MOST_EXPLAINED)]


def _including(rank: _Stacks) -> dict[Function, Included]:
    """Return the time of functions with all that they call, in all runs of a rank."""
    found: dict[Function, Included] = {}
    for stacks in rank:
        for function, more in stacks.including().items():
            known = found.get(function, Included(0.0, 0.0))
            found[function] = Included(known.seconds + more.seconds, max(known.depth, more.depth))
    return found


_T = TypeVar("_T")


def _summed(parts: Iterable[Mapping[_T, float]]) -> dict[_T, float]:
    sums: dict[_T, float] = {}
    for key, seconds in chain.from_iterable(part.items() for part in parts):
        sums[key] = sums.get(key, 0.0) + seconds
    return sums


def _most(weights: Mapping[_T, float]) -> _T:
    """Return the heaviest; of several, the first."""
    return max(weights, key=weights.__getitem__)
