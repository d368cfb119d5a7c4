"""Flat tables of a profile: its functions, lines and threads, hottest first.

Self weight is of samples that were taken right there, total weight of samples that have it anywhere
on their stack; recursion counts once per sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Generic, TypeVar

from profkit.model.frame import Thread
from profkit.model.profile import Profile
from profkit.transforms.stacks import Stack, stack_weights, with_distinct_frames

_Key = TypeVar("_Key", bound=Hashable)
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Table(Generic[_Row]):
    """Rows, and how many there would be if none were left out."""

    rows: tuple[_Row, ...]
    found: int


@dataclass(frozen=True, slots=True)
class FunctionRow:
    """A function; `line` is the one of its lines with the most total weight."""

    name: str
    file: str
    line: int
    self_weight: int
    total_weight: int


@dataclass(frozen=True, slots=True)
class LineRow:
    """A line of a file; `name` is the function with the most total weight there."""

    file: str
    line: int
    name: str
    self_weight: int
    total_weight: int


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread and the weight of its samples."""

    thread: Thread
    weight: int


def function_rows(profile: Profile) -> tuple[FunctionRow, ...]:
    """All functions (name and file), by falling self weight, then total weight, then name."""
    return function_table(profile).rows


def function_table(profile: Profile, hottest: int | None = None) -> Table[FunctionRow]:
    """These rows; where only so many of the hottest are asked for, those with less weight are left out.

    Fewer rows take less time. Of equals all are there.
    """
    profile = with_distinct_frames(profile)
    found = _weigh(profile, [(frame.name, frame.file) for frame in profile.frames], hottest)
    lines: dict[tuple[str, str], int] = {}
    # The heaviest comes last and so stays, of equals the first line.
    for number in sorted(found.frames, key=lambda n: (found.frames[n], -profile.frames[n].line)):
        frame = profile.frames[number]
        lines[frame.name, frame.file] = frame.line
    rows = [FunctionRow(*key, lines[key], found.own[key], total) for key, total in found.total.items()]
    rows.sort(key=lambda row: (-row.self_weight, -row.total_weight, row.name, row.file))
    return Table(tuple(rows), found.keys)


def line_rows(profile: Profile) -> tuple[LineRow, ...]:
    """All lines that are known, by falling self weight, then total weight, then place."""
    return line_table(profile).rows


def line_table(profile: Profile, hottest: int | None = None) -> Table[LineRow]:
    """These rows; `hottest` as in `function_table`."""
    profile = with_distinct_frames(profile)
    places = [(frame.file, frame.line) if frame.line else None for frame in profile.frames]
    found = _weigh(profile, places, hottest)
    names: dict[tuple[str, int], str] = {}
    for number in sorted(found.frames, key=lambda n: (-found.frames[n], profile.frames[n].name)):
        frame = profile.frames[number]
        names.setdefault((frame.file, frame.line), frame.name)
    rows = [LineRow(*key, names[key], found.own[key], total) for key, total in found.total.items()]
    rows.sort(key=lambda row: (-row.self_weight, -row.total_weight, row.file, row.line))
    return Table(tuple(rows), found.keys)


def thread_rows(profile: Profile) -> tuple[ThreadRow, ...]:
    """The threads that have samples, by falling weight, then id."""
    weights: Counter[int] = Counter()
    for sample in profile.samples:
        weights[sample.thread] += sample.weight
    rows = [ThreadRow(profile.threads[thread], weight) for thread, weight in weights.items()]
    return tuple(sorted(rows, key=lambda row: (-row.weight, row.thread)))


@dataclass(frozen=True, slots=True)
class _Weights(Generic[_Key]):
    keys: int
    """How many keys there are on any stack."""
    own: Mapping[_Key, int]
    total: Mapping[_Key, int]
    """Of the keys that can be among the hottest."""
    frames: Mapping[int, int]
    """Total weight of each of their frames, 0 for those on no stack."""


def _weigh(profile: Profile, keys: Sequence[_Key | None], hottest: int | None) -> _Weights[_Key]:
    """Weights by key, where frame number n counts for `keys[n]`, and for nothing where that is None."""
    # Numbers instead of keys: they are hashed once per frame of each stack.
    numbers: dict[_Key, int] = {}
    number_of = [-1 if key is None else numbers.setdefault(key, len(numbers)) for key in keys]
    weights = stack_weights(profile)
    stacks = [(profile.stacks[stack], weight) for stack, weight in weights.items() if weight]
    own = [0] * (len(numbers) + 1)  # The last is that of no key.
    for stack, weight in stacks:
        if stack:
            own[number_of[stack[-1]]] += weight
    leading = _leading(own[:-1], hottest)
    total, frames = _totals(stacks, number_of, leading)
    seen: set[int] = set().union(*(stack for stack, _ in stacks))
    return _Weights(
        keys=len({number_of[frame] for frame in seen} - {-1}),
        own={key: own[number] for key, number in numbers.items()},
        total={key: total[number] for key, number in numbers.items() if total[number]},
        frames=frames,
    )


def _leading(weights: Sequence[int], hottest: int | None) -> frozenset[int]:
    """The places of so many of the largest weights, and of all that are equal to the last of them."""
    if hottest is None:
        return frozenset(range(len(weights)))
    least = min(nlargest(hottest, weights), default=0)
    return frozenset(place for place, weight in enumerate(weights) if weight >= least)


def _totals(
    stacks: Sequence[tuple[Stack, int]], number_of: Sequence[int], wanted: Collection[int]
) -> tuple[Sequence[int], Mapping[int, int]]:
    """The total weight of each number that is wanted, and of each of its frames."""
    among = frozenset(frame for frame, number in enumerate(number_of) if number in wanted)
    total, frames = [0] * len(number_of), dict.fromkeys(among, 0)
    for stack, weight in stacks:
        found = among.intersection(stack)
        for frame in found:
            frames[frame] += weight
        for number in {number_of[frame] for frame in found}:
            total[number] += weight
    return total, frames
