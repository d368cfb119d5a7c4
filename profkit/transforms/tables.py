"""Flat tables of a profile: its functions, lines and threads, hottest first.

Self weight is of samples that were taken right there, total weight of samples that have it anywhere
on their stack; recursion counts once per sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from profkit.model.frame import Thread
from profkit.model.profile import Profile
from profkit.transforms.stacks import Stack, distinct_stacks, picked, with_distinct_frames

Function = tuple[str, str]
"""A function's name and file."""
_Place = tuple[str, int]


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
    return with_lines(unplaced_rows(profile), profile)


def unplaced_rows(profile: Profile) -> tuple[FunctionRow, ...]:
    """The same with 0 for lines, which take about as long as everything else."""
    numbers: dict[Function, int] = {}
    number_of = [numbers.setdefault((frame.name, frame.file), len(numbers)) for frame in profile.frames]
    own, total = [0] * len(numbers), [0] * len(numbers)
    for stack, weight in distinct_stacks(profile).items():
        functions = picked(stack, number_of)
        if functions:
            own[functions[-1]] += weight
        for number in set(functions):
            total[number] += weight
    rows = [FunctionRow(*function, 0, own[n], total[n]) for function, n in numbers.items() if total[n]]
    return tuple(sorted(rows, key=lambda row: (-row.self_weight, -row.total_weight, row.name, row.file)))


def with_lines(rows: Sequence[FunctionRow], profile: Profile) -> tuple[FunctionRow, ...]:
    """Rows of a profile's functions, each with its line."""
    lines = _heaviest_lines(profile, {(row.name, row.file) for row in rows})
    return tuple(replace(row, line=lines[row.name, row.file]) for row in rows)


def line_rows(profile: Profile) -> tuple[LineRow, ...]:
    """All lines, by falling self weight, then total weight, then place; line 0 where it is not known."""
    profile = with_distinct_frames(profile)
    stacks = distinct_stacks(profile)
    own, total = [0] * len(profile.frames), [0] * len(profile.frames)
    for stack, weight in stacks.items():
        if stack:
            own[stack[-1]] += weight
        for number in set(stack):
            total[number] += weight
    rows = []
    lines = _frames_of_lines(profile)
    again = _counted_again(stacks, lines)
    for place, frames in lines.items():
        if weight := sum(total[n] for n in frames) - again[place]:
            heaviest = min(frames, key=lambda n: (-total[n], profile.frames[n].name))
            rows.append(LineRow(*place, profile.frames[heaviest].name, sum(own[n] for n in frames), weight))
    return tuple(sorted(rows, key=lambda row: (-row.self_weight, -row.total_weight, row.file, row.line)))


def thread_rows(profile: Profile) -> tuple[ThreadRow, ...]:
    """The threads that have samples, by falling weight, then id."""
    weights: Counter[int] = Counter()
    for sample in profile.samples:
        weights[sample.thread] += sample.weight
    rows = [ThreadRow(profile.threads[thread], weight) for thread, weight in weights.items()]
    return tuple(sorted(rows, key=lambda row: (-row.weight, row.thread)))


def _heaviest_lines(profile: Profile, functions: Collection[Function]) -> dict[Function, int]:
    """For each of some functions the line with the most total weight, the first of several."""
    profile = with_distinct_frames(profile)
    frames = {n: frame for n, frame in enumerate(profile.frames) if (frame.name, frame.file) in functions}
    wanted, total = frozenset(frames), dict.fromkeys(frames, 0)
    for stack, weight in distinct_stacks(profile).items():
        for number in wanted.intersection(stack):
            total[number] += weight
    # The heaviest comes last and so stays, of equals the first line.
    rising = sorted(frames, key=lambda number: (total[number], -frames[number].line))
    return {(frames[n].name, frames[n].file): frames[n].line for n in rising if total[n]}


def _frames_of_lines(profile: Profile) -> dict[_Place, list[int]]:
    """The frames of each line; seldom several: functions that are written in one line."""
    lines: dict[_Place, list[int]] = {}
    for number, frame in enumerate(profile.frames):
        lines.setdefault((frame.file, frame.line), []).append(number)
    return lines


def _counted_again(stacks: Mapping[Stack, int], lines: Mapping[_Place, Sequence[int]]) -> Counter[_Place]:
    """By how much the weights of a line's frames together exceed its own: stacks with several of them."""
    shared = {number: place for place, frames in lines.items() if len(frames) > 1 for number in frames}
    again: Counter[_Place] = Counter()
    if shared:
        wanted = frozenset(shared)
        for stack, weight in stacks.items():
            for place, times in Counter(shared[n] for n in wanted.intersection(stack)).items():
                again[place] += (times - 1) * weight
    return again
