"""Flat tables of a profile: its functions, lines and threads, hottest first.

Self weight is of samples taken right there; total weight is of samples that have it anywhere on their stack.
Recursion counts once per sample. If a profile states a function's total, that is used. Waiting weight is the
part of the self weight in which the thread waited.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import nlargest
from itertools import chain, compress, repeat
from operator import or_, sub
from typing import Generic, TypeVar

from profkit.model.profile import Frame, Profile, Thread
from profkit.transforms.trees import (
    Functions,
    Stack,
    number_functions,
    picked,
    sum_parts,
)

_Row = TypeVar("_Row")
_NumberOf = Sequence[int] | Mapping[int, int]
"""Numbers by frame."""


def pids_of(profiles: Iterable[Profile | None]) -> frozenset[int]:
    """Return the pids of all processes whose threads are in profiles, without unknown ones."""
    return frozenset(thread.pid for one in profiles if one is not None for thread in one.threads) - {0}


@dataclass(frozen=True, slots=True)
class Table(Generic[_Row]):
    """Rows of a table, and their number before any were left out."""

    rows: tuple[_Row, ...]
    found: int


@dataclass(frozen=True, slots=True)
class FunctionRow:
    """A function; `line` is its line with the most total weight."""

    name: str
    file: str
    line: int
    self_weight: int
    total_weight: int
    waiting_weight: int = 0


@dataclass(frozen=True, slots=True)
class LineRow:
    """A line of a file; `name` is the function with the most total weight there."""

    file: str
    line: int
    name: str
    self_weight: int
    total_weight: int
    waiting_weight: int = 0


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rows of a table are needed, and in which samples the thread waited."""

    hottest: int | None = None
    """Number of rows with the most self weight to keep, with ties, which takes less time; None keeps all."""
    waiting: Collection[int] = ()
    """Indexes of stacks of waiting threads."""
    working_first: bool = False
    """Whether rows are sorted by their self weight without waiting."""
    lines: bool = True
    """Whether rows of functions have their lines, which takes as long as all the rest."""


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread and the weight of its samples."""

    thread: Thread
    weight: int


def function_rows(profile: Profile) -> tuple[FunctionRow, ...]:
    """Return all functions (name and file), sorted by self weight, then total weight, then name."""
    return function_table(profile).rows


def function_table(
    profile: Profile, selection: Selection = EVERYTHING, functions: Functions | None = None
) -> Table[FunctionRow]:
    """Return the functions' rows; `functions` are those of the profile's frames, if already known."""
    named = functions or number_functions(profile.frames)
    weights = _weigh(profile, named.of, len(named.keys), selection)
    lines = _heaviest_lines(profile.frames, weights.frames, named)
    rows = [
        FunctionRow(
            *named.keys[number],
            lines.get(number, 0),
            *(weights.own[number], total, weights.waiting[number]),
        )
        for number, total in enumerate(weights.total)
        if total
    ]
    rows.sort(key=lambda row: (*heat(row, selection), row.name, row.file))
    return Table(tuple(rows), weights.keys)


_Function = tuple[str, str]
"""Name and file."""


def functions_seen(profile: Profile) -> set[_Function]:
    """Return the functions that are on the stacks of samples."""
    stacks = _used_stacks(profile, profile.weights_by_stack)
    return {frame[:2] for frame in compress(profile.frames, _seen(stacks, len(profile.frames)))}


def function_lines(profile: Profile, functions: Collection[_Function]) -> dict[_Function, int]:
    """Return the line with the most total weight of each of these functions."""
    named, wanted = number_functions(profile.frames), set(functions)
    among = frozenset(n for n, frame in enumerate(profile.frames) if frame[:2] in wanted)
    stacks = _used_stacks(profile, profile.weights_by_stack)
    _, totals = _both_totals(profile.frames, stacks, named.of, among, len(named.keys))
    lines = _heaviest_lines(profile.frames, totals, named)
    return {named.keys[number]: line for number, line in lines.items()}


def _heaviest_lines(frames: Sequence[Frame], weights: Mapping[int, int], named: Functions) -> dict[int, int]:
    """Return the line of the heaviest frame of each function; of ties, the first line."""
    lines: dict[int, int] = {}
    for frame in sorted(weights, key=lambda n: (weights[n], -frames[n].line)):
        lines[named.of[frame]] = frames[frame].line
    return lines


def heat(row: FunctionRow | LineRow, selection: Selection) -> tuple[int, int, int]:
    """Return the sort key of a row: hottest first."""
    working = row.self_weight - row.waiting_weight if selection.working_first else 0
    return -working, -row.self_weight, -row.total_weight


def line_table(profile: Profile, selection: Selection = EVERYTHING) -> Table[LineRow]:
    """Return the known lines by self weight, then total weight, then place."""
    if (few := _hottest_lines(profile, selection)) is not None:
        return _line_rows(profile.frames, *few, selection)
    numbers = _line_numbers(profile.frames)
    weights = _weigh(profile, numbers, max(numbers, default=-1) + 1, selection)
    return _line_rows(profile.frames, numbers, weights, selection)


def _line_rows(
    frames: Sequence[Frame], numbers: _NumberOf, weights: _Weights, selection: Selection
) -> Table[LineRow]:
    heaviest: dict[int, int] = {}
    for frame in sorted(weights.frames, key=lambda n: (-weights.frames[n], frames[n].name)):
        heaviest.setdefault(numbers[frame], frame)
    rows = [
        LineRow(
            *(frames[frame].file, frames[frame].line, frames[frame].name),
            *(weights.own[number], total, weights.waiting[number]),
        )
        for number, frame in heaviest.items()
        if (total := weights.total[number])
    ]
    rows.sort(key=lambda row: (*heat(row, selection), row.file, row.line))
    return Table(tuple(rows), weights.keys)


def _line_numbers(frames: Sequence[Frame]) -> list[int]:
    """Return a number for the file and line of each frame, -1 if the line is unknown.

    Millions of lines are identified by integers, which take less memory than tuples.
    """
    files: dict[str, int] = {}
    numbers: dict[int, int] = {}
    return [
        numbers.setdefault((files.setdefault(file, len(files)) << 64) + line, len(numbers)) if line else -1
        for _, file, line in frames
    ]


def _hottest_lines(profile: Profile, selection: Selection) -> tuple[_NumberOf, _Weights] | None:
    """Return the numbers of the hottest lines by frame, and their weights; None if any line can be hottest.

    Of millions of lines, only those at the end of a stack have self weight, and the others need no numbers.
    """
    if selection.hottest is None or profile.totals:
        return None
    frames, weights = profile.frames, profile.weights_by_stack
    stacks = _used_stacks(profile, weights)
    own = _of_last_lines(frames, stacks)
    waiting = _of_last_lines(frames, _waiting_stacks(profile, weights, selection))
    ranked = own if not selection.working_first else own - waiting
    ranked = Counter({line: weight for line, weight in ranked.items() if weight > 0})
    if len(ranked) < selection.hottest:
        return None
    least = min(nlargest(selection.hottest, ranked.values()))
    wanted = [line for line, weight in ranked.items() if weight >= least]
    number_of = _frames_of_lines(frames, {line: number for number, line in enumerate(wanted)})
    total, of_frames = _both_totals(frames, stacks, number_of, frozenset(number_of), len(wanted))
    return number_of, _Weights(
        keys=_count_lines(compress(frames, _seen(stacks, len(frames)))),
        own=[own[line] for line in wanted],
        waiting=[waiting[line] for line in wanted],
        total=total,
        frames=of_frames,
    )


_Line = tuple[str, int]
"""File and line."""


def _of_last_lines(frames: Sequence[Frame], stacks: Iterable[tuple[Stack, int]]) -> Counter[_Line]:
    weights: Counter[_Line] = Counter()
    for stack, weight in stacks:
        if stack and frames[stack[-1]].line:
            weights[frames[stack[-1]][1:]] += weight
    return weights


def _frames_of_lines(frames: Iterable[Frame], numbers: Mapping[_Line, int]) -> dict[int, int]:
    lines = {line for _, line in numbers}
    return {
        place: numbers[file, line]
        for place, (_, file, line) in enumerate(frames)
        if line in lines and (file, line) in numbers
    }


def _count_lines(frames: Iterable[Frame]) -> int:
    """Return the number of known lines; lists by file take less memory than a set of all lines."""
    of_file: defaultdict[str, list[int]] = defaultdict(list)
    for _, file, line in frames:
        if line:
            of_file[file].append(line)
    return sum(len(set(lines)) for lines in of_file.values())


def thread_rows(profile: Profile) -> tuple[ThreadRow, ...]:
    """Return the threads with samples, sorted by weight, then id."""
    weights = profile.weights_by_thread.items()
    rows = [ThreadRow(profile.threads[thread], sum(stacks.values())) for thread, stacks in weights]
    return tuple(sorted(rows, key=lambda row: (-row.weight, row.thread)))


@dataclass(frozen=True, slots=True)
class _Weights:
    keys: int
    """Count of distinct numbers on any stack."""
    own: Sequence[int]
    waiting: Sequence[int]
    """Part of `own` in which the thread waited."""
    total: Sequence[int]
    """By number; 0 for those that cannot be among the hottest."""
    frames: Mapping[int, int]
    """Total weight of each frame whose number can be among the hottest; for equal frames, of the first."""


def _weigh(profile: Profile, number_of: Sequence[int], count: int, selection: Selection) -> _Weights:
    """Return weights by number: frame n counts for `number_of[n]`, or for nothing if that is -1."""
    weights = profile.weights_by_stack
    stacks = _used_stacks(profile, weights)
    own = _of_leaves(stacks, number_of, count)
    waiting = _of_leaves(_waiting_stacks(profile, weights, selection), number_of, count)
    ranked = list(map(sub, own, waiting)) if selection.working_first else own
    among = _frames_of(_leading(ranked, selection.hottest), number_of, count)
    if selection.lines:
        total, frames = _both_totals(profile.frames, stacks, number_of, among, count)
    else:
        total, frames = sum_parts(stacks, partial(_numbers_on, number_of, among), count), {}
    if profile.totals:
        _state(profile.totals, number_of, among, total, frames)
    if len(among) == len(number_of):
        return _Weights(keys=sum(map(bool, total)), own=own, waiting=waiting, total=total, frames=frames)
    seen = map(or_, _seen(stacks, len(number_of)), map(bool, profile.totals or repeat(0)))
    keys = len(set(compress(number_of, seen)) - {-1})
    return _Weights(keys=keys, own=own, waiting=waiting, total=total, frames=frames)


def _used_stacks(profile: Profile, weights: Mapping[int, int]) -> list[tuple[Stack, int]]:
    return [(profile.stacks[stack], weight) for stack, weight in weights.items() if weight]


def _waiting_stacks(
    profile: Profile, weights: Mapping[int, int], selection: Selection
) -> list[tuple[Stack, int]]:
    return [(profile.stacks[stack], weights.get(stack, 0)) for stack in selection.waiting]


def _seen(stacks: Collection[tuple[Stack, int]], count: int) -> Sequence[int]:
    """Return whether each frame is on a stack."""
    if count < len(stacks):
        unseen = set(range(count))
        for stack, _ in stacks:
            unseen.difference_update(stack)
            if not unseen:
                break
        return [frame not in unseen for frame in range(count)]
    # A set of millions would take a hundred times the memory.
    seen = bytearray(count)
    for frame in chain.from_iterable(stack for stack, _ in stacks):
        seen[frame] = 1
    return seen


def _of_leaves(stacks: Iterable[tuple[Stack, int]], number_of: Sequence[int], count: int) -> list[int]:
    own = [0] * (count + 1)  # The last is for frames without a number.
    for stack, weight in stacks:
        if stack:
            own[number_of[stack[-1]]] += weight
    return own[:-1]


def _state(
    stated: Sequence[int | None],
    number_of: Sequence[int],
    among: Iterable[int],
    total: list[int],
    frames: dict[int, int],
) -> None:
    """Replace counted totals by stated ones.

    The joint total of several functions is not stated: it is at least their largest.
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
    """Return the places of that many largest weights, and of ties with the last; None for all."""
    if hottest is None or hottest >= len(weights):
        return None
    least = min(nlargest(hottest, weights), default=0)
    return frozenset(place for place, weight in enumerate(weights) if weight >= least)


def _frames_of(wanted: frozenset[int] | None, number_of: Sequence[int], count: int) -> frozenset[int]:
    """Return the frames of wanted numbers; None means all."""
    if wanted is None or len(wanted) == count:
        return frozenset(frame for frame, number in enumerate(number_of) if number >= 0)
    return frozenset(frame for frame, number in enumerate(number_of) if number in wanted)


def _doubles(frames: Sequence[Frame], among: Iterable[int]) -> Mapping[int, int]:
    """Map each duplicate frame to the first of its equals; usually there are none."""
    first: dict[Frame, int] = {}
    pairs = ((frame, first.setdefault(frames[frame], frame)) for frame in sorted(among))
    return {frame: number for frame, number in pairs if number != frame}


def _numbers_on(number_of: Sequence[int], among: frozenset[int], stack: Stack) -> set[int]:
    """Return the numbers of those of some frames that are on a stack."""
    if len(among) == len(number_of):
        return set(picked(stack, number_of))
    return {number_of[frame] for frame in among.intersection(stack)}


def _both_totals(
    frames: Sequence[Frame],
    stacks: Iterable[tuple[Stack, int]],
    number_of: _NumberOf,
    among: frozenset[int],
    count: int,
) -> tuple[list[int], dict[int, int]]:
    """Return the total weight of each number, and of each of these frames; of equal ones, for the first."""
    doubles = _doubles(frames, among)
    found_on: Callable[[Stack], Collection[int]] = set if len(among) == len(frames) else among.intersection
    of_numbers, of_frames = [0] * count, dict.fromkeys(among.difference(doubles), 0)
    for stack, weight in stacks:
        found = found_on(stack)
        for number in {number_of[frame] for frame in found}:
            of_numbers[number] += weight
        for frame in {doubles.get(frame, frame) for frame in found} if doubles else found:
            of_frames[frame] += weight
    return of_numbers, of_frames
