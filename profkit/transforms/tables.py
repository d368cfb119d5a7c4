"""Flat tables of a profile: its functions, lines and threads, hottest first.

Self weight is of samples that were taken right there, total weight of samples that have it anywhere
on their stack; recursion counts once per sample. If a profile states the total of a function, that is it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Generic, TypeVar

from profkit.model.profile import Frame, Profile, Thread
from profkit.transforms.trees import Functions, Stack, number_functions, stack_weights

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


def function_table(
    profile: Profile, hottest: int | None = None, functions: Functions | None = None
) -> Table[FunctionRow]:
    """These rows; where only so many of the hottest are asked for, those with less weight are left out.

    Fewer rows take less time. Of equals all are there. `functions` are those of the profile's frames, if they
    are known already.
    """
    named = functions or number_functions(profile.frames)
    found = _weigh(profile, named.of, len(named.keys), hottest)
    lines: dict[int, int] = {}
    # The heaviest comes last and so stays, of equals the first line.
    for frame in sorted(found.frames, key=lambda n: (found.frames[n], -profile.frames[n].line)):
        lines[named.of[frame]] = profile.frames[frame].line
    rows = [
        FunctionRow(*named.keys[number], lines[number], found.own[number], total)
        for number, total in enumerate(found.total)
        if total
    ]
    rows.sort(key=lambda row: (-row.self_weight, -row.total_weight, row.name, row.file))
    return Table(tuple(rows), found.keys)


def line_rows(profile: Profile) -> tuple[LineRow, ...]:
    """All lines that are known, by falling self weight, then total weight, then place."""
    return line_table(profile).rows


def line_table(profile: Profile, hottest: int | None = None) -> Table[LineRow]:
    """These rows; `hottest` as in `function_table`."""
    frames = profile.frames
    numbers = _line_numbers(frames)
    found = _weigh(profile, numbers, max(numbers, default=-1) + 1, hottest)
    heaviest: dict[int, int] = {}
    for frame in sorted(found.frames, key=lambda n: (-found.frames[n], frames[n].name)):
        heaviest.setdefault(numbers[frame], frame)
    rows = [
        LineRow(frames[frame].file, frames[frame].line, frames[frame].name, found.own[number], total)
        for number, frame in heaviest.items()
        if (total := found.total[number])
    ]
    rows.sort(key=lambda row: (-row.self_weight, -row.total_weight, row.file, row.line))
    return Table(tuple(rows), found.keys)


def _line_numbers(frames: Sequence[Frame]) -> list[int]:
    """A number for each frame's line of a file, -1 if it is not known.

    Millions of lines are identified by integers, which take less room than tuples.
    """
    files: dict[str, int] = {}
    numbers: dict[int, int] = {}
    return [
        numbers.setdefault((files.setdefault(file, len(files)) << 64) + line, len(numbers)) if line else -1
        for _, file, line in frames
    ]


def thread_rows(profile: Profile) -> tuple[ThreadRow, ...]:
    """The threads that have samples, by falling weight, then id."""
    weights: Counter[int] = Counter()
    for sample in profile.samples:
        weights[sample.thread] += sample.weight
    rows = [ThreadRow(profile.threads[thread], weight) for thread, weight in weights.items()]
    return tuple(sorted(rows, key=lambda row: (-row.weight, row.thread)))


@dataclass(frozen=True, slots=True)
class _Weights:
    keys: int
    """How many numbers there are on any stack."""
    own: Sequence[int]
    total: Sequence[int]
    """By number; 0 for those that cannot be among the hottest."""
    frames: Mapping[int, int]
    """Total weight of each of the frames of those that can, of equal frames of the first."""


def _weigh(profile: Profile, number_of: Sequence[int], count: int, hottest: int | None) -> _Weights:
    """Weights by number, where frame n counts for `number_of[n]`, and for nothing where that is -1."""
    weights = stack_weights(profile)
    stacks = [(profile.stacks[stack], weight) for stack, weight in weights.items() if weight]
    own = [0] * (count + 1)  # The last is that of no number.
    for stack, weight in stacks:
        if stack:
            own[number_of[stack[-1]]] += weight
    among = _frames_of(_leading(own[:-1], hottest), number_of, count)
    total, frames = _totals(stacks, number_of, among, _doubles(profile.frames, among), count)
    seen: set[int] = set().union(*(stack for stack, _ in stacks))
    if profile.totals:
        _state(profile.totals, number_of, among, total, frames)
        seen.update(frame for frame, stated in enumerate(profile.totals) if stated)
    keys = len({number_of[frame] for frame in seen} - {-1})
    return _Weights(keys=keys, own=own, total=total, frames=frames)


def _state(
    stated: Sequence[int | None],
    number_of: Sequence[int],
    among: Iterable[int],
    total: list[int],
    frames: dict[int, int],
) -> None:
    """Replace counted totals by stated ones.

    The total of several functions together is not stated: it is at least the largest of theirs.
    """
    functions: dict[int, list[int]] = {}
    for frame in among:
        if (of_frame := stated[frame]) is not None:
            functions.setdefault(number_of[frame], []).append(of_frame)
            if frame in frames:
                frames[frame] = of_frame
    sizes = Counter(number_of[frame] for frame in among)
    for number, totals in functions.items():
        total[number] = totals[0] if sizes[number] == 1 else max(total[number], *totals)


def _leading(weights: Sequence[int], hottest: int | None) -> frozenset[int] | None:
    """The places of so many of the largest weights, and of all that are equal to the last; None for all."""
    if hottest is None or hottest >= len(weights):
        return None
    least = min(nlargest(hottest, weights), default=0)
    return frozenset(place for place, weight in enumerate(weights) if weight >= least)


def _frames_of(wanted: frozenset[int] | None, number_of: Sequence[int], count: int) -> frozenset[int]:
    """The frames of numbers that are wanted."""
    if wanted is None or len(wanted) == count:
        return frozenset(frame for frame, number in enumerate(number_of) if number >= 0)
    return frozenset(frame for frame, number in enumerate(number_of) if number in wanted)


def _doubles(frames: Sequence[Frame], among: Iterable[int]) -> Mapping[int, int]:
    """The first of equal frames for each other one; as a rule there are none."""
    first: dict[Frame, int] = {}
    found = ((frame, first.setdefault(frames[frame], frame)) for frame in sorted(among))
    return {frame: number for frame, number in found if number != frame}


def _totals(
    stacks: Sequence[tuple[Stack, int]],
    number_of: Sequence[int],
    among: frozenset[int],
    doubles: Mapping[int, int],
    count: int,
) -> tuple[list[int], dict[int, int]]:
    """The total weight of each number that has frames among these, and of each of the frames."""
    total, frames = [0] * count, dict.fromkeys(among.difference(doubles), 0)
    for stack, weight in stacks:
        found: Collection[int] = among.intersection(stack)
        if doubles and not doubles.keys().isdisjoint(found):
            found = {doubles.get(frame, frame) for frame in found}
        for frame in found:
            frames[frame] += weight
        for number in {number_of[frame] for frame in found}:
            total[number] += weight
    return total, frames
