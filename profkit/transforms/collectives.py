"""Collectives in the stacks of traces: when a rank arrived in each, and for how long it was inside."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from profkit.model.profile import Frame, Profile
from profkit.transforms.rank_times import Alone, Stretch
from profkit.units import Unit

_FILE = "<collectives of group {}>"
_IS_FILE = re.compile(r"<collectives of group (.*)>", re.DOTALL)
_FOR_ALL = ("allreduce", "allgather", "reducescatter", "alltoall", "barrier")
"""Beginnings of the names, without underscores, of collectives that no rank leaves before all arrived."""


class Collective(NamedTuple):
    """A rank's part in a collective, in nanoseconds since the beginning of its trace."""

    name: str
    group: str
    start_ns: int
    end_ns: int


def frame_of_collective(name: str, group: str) -> Frame:
    """Return the frame by which `collectives_of` recognizes a collective of a process group."""
    return Frame(name, _FILE.format(group))


def collectives_of(profile: Profile) -> tuple[Collective, ...]:
    """Return the collectives of a trace that all ranks leave together, by their start."""
    if not profile.starts or profile.unit is not Unit.NANOSECONDS:
        return ()
    named = [_IS_FILE.fullmatch(frame.file) for frame in profile.frames]
    of_stack = [next((n for n in stack if named[n]), None) for stack in profile.stacks]
    found: dict[int, Collective] = {}
    """By thread, the last one: what runs below it can divide it into several samples."""
    done: list[Collective] = []
    for (stack, thread, weight), start in zip(profile.samples, profile.starts, strict=True):
        number = of_stack[stack]
        match = None if number is None else named[number]
        if number is None or match is None or not _is_for_all(profile.frames[number].name):
            continue
        one = Collective(profile.frames[number].name, match[1], start, start + weight)
        last = found.get(thread)
        if last is not None and last[:2] == one[:2] and last.end_ns == one.start_ns:
            one = last._replace(end_ns=one.end_ns)
        elif last is not None:
            done.append(last)
        found[thread] = one
    return tuple(sorted((*done, *found.values()), key=lambda one: (one.start_ns, one.end_ns)))


def _is_for_all(name: str) -> bool:
    return name.replace("_", "").lower().startswith(_FOR_ALL)


_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Arrivals(Generic[_Key]):
    """The collectives of several ranks that belong together."""

    names: tuple[str, ...]
    """Names of the collectives, each once."""
    last: Mapping[_Key, int]
    """By rank: the number of collectives in which it arrived last."""
    count: int
    """Number of collectives that were compared."""
    stretches: Mapping[_Key, tuple[Stretch, ...]]
    """By rank: its time in its order, in which it waits for others or not."""


def arrivals_of(ranks: Mapping[_Key, Sequence[Collective]]) -> Arrivals[_Key] | None:
    """Match the collectives of ranks by group and order; return None if that is not possible.

    All ranks leave a collective together, so the one that was inside for the longest time arrived first:
    clocks of different hosts are not compared. The first collective of each group is left out, since ranks
    do not begin to record at the same time. A group is left out if its ranks have different collectives, as
    in traces that were cut.
    """
    waits: dict[_Key, dict[Collective, int]] = {rank: {} for rank in ranks}
    last, names, count = dict.fromkeys(ranks, 0), dict[str, None](), 0
    for members in _groups(ranks):
        for together in list(zip(*members.values(), strict=True))[1:]:
            durations = [one.end_ns - one.start_ns for one in together]
            least = min(durations)
            for rank, one, duration in zip(members, together, durations, strict=True):
                waits[rank][one] = duration - least
            last[list(members)[durations.index(least)]] += 1
            names[together[0].name] = None
            count += 1
    if not waits or not all(waits.values()):
        return None
    stretches = {rank: tuple(_stretches(of_rank)) for rank, of_rank in waits.items()}
    return Arrivals(tuple(names), last, count, stretches)


def _groups(ranks: Mapping[_Key, Sequence[Collective]]) -> Iterator[Mapping[_Key, Sequence[Collective]]]:
    """Yield the collectives of each group by rank, if all have the same ones."""
    groups: dict[str, dict[_Key, list[Collective]]] = {}
    for rank, listed in ranks.items():
        for one in listed:
            groups.setdefault(one.group, {}).setdefault(rank, []).append(one)
    for members in groups.values():
        if len(members) > 1 and len({tuple(one.name for one in listed) for listed in members.values()}) == 1:
            yield members


def _stretches(waits: Mapping[Collective, int]) -> Iterator[Stretch]:
    """Yield a rank's time; it waits at the beginning of a collective. Simultaneous waits count once."""
    order = sorted(waits)
    order.sort(key=lambda one: one.start_ns)
    now = order[0].start_ns
    for one in order:
        begin, end = max(now, one.start_ns), max(now, one.start_ns + waits[one])
        yield from _stretch(begin - now, Alone.OWN)
        yield from _stretch(end - begin, Alone.WAITS)
        now = end
    yield from _stretch(max(one.end_ns for one in order) - now, Alone.OWN)


def _stretch(time_ns: int, alone: Alone) -> Iterator[Stretch]:
    """Yield a time that was measured: as many samples as nanoseconds, so that nothing is left to chance."""
    if time_ns > 0:
        yield Stretch(time_ns / 1e9, time_ns, alone)
