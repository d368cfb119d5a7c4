"""Flat tables of a profile: its functions, lines and threads, hottest first.

Self weight is of samples that were taken right there, total weight of samples that have it anywhere
on their stack; recursion counts once per sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from profkit.model.frame import Thread
from profkit.model.profile import Profile

_Key = TypeVar("_Key", bound=Hashable)


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
    functions = _weigh(profile, [(frame.name, frame.file) for frame in profile.frames])
    frames = _weigh(profile, profile.frames).total
    # The heaviest comes last and so stays, of equals the first line.
    rising = sorted(frames, key=lambda frame: (frames[frame], -frame.line))
    lines = {(frame.name, frame.file): frame.line for frame in rising}
    rows = [
        FunctionRow(*function, lines[function], functions.own[function], total)
        for function, total in functions.total.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.self_weight, -row.total_weight, row.name, row.file)))


def line_rows(profile: Profile) -> tuple[LineRow, ...]:
    """All lines, by falling self weight, then total weight, then place; line 0 where it is not known."""
    lines = _weigh(profile, [(frame.file, frame.line) for frame in profile.frames])
    frames = _weigh(profile, profile.frames).total
    falling = sorted(frames, key=lambda frame: (-frames[frame], frame.name))
    names = {(frame.file, frame.line): frame.name for frame in reversed(falling)}
    rows = [LineRow(*line, names[line], lines.own[line], total) for line, total in lines.total.items()]
    return tuple(sorted(rows, key=lambda row: (-row.self_weight, -row.total_weight, row.file, row.line)))


def thread_rows(profile: Profile) -> tuple[ThreadRow, ...]:
    """The threads that have samples, by falling weight, then id."""
    weights: Counter[int] = Counter()
    for sample in profile.samples:
        weights[sample.thread] += sample.weight
    rows = [ThreadRow(profile.threads[thread], weight) for thread, weight in weights.items()]
    return tuple(sorted(rows, key=lambda row: (-row.weight, row.thread)))


@dataclass(frozen=True, slots=True)
class _Weights(Generic[_Key]):
    own: Mapping[_Key, int]
    total: Mapping[_Key, int]


def _weigh(profile: Profile, keys: Sequence[_Key]) -> _Weights[_Key]:
    """Self and total weight by key, where frame number n counts for `keys[n]`."""
    stacks: Counter[int] = Counter()
    for sample in profile.samples:
        stacks[sample.stack] += sample.weight
    # Numbers instead of keys: they are hashed once per frame of each stack.
    numbers: dict[_Key, int] = {}
    number_of = [numbers.setdefault(key, len(numbers)) for key in keys]
    own, total = [0] * len(numbers), [0] * len(numbers)
    for stack, weight in ((profile.stacks[stack], weight) for stack, weight in stacks.items()):
        if stack:
            own[number_of[stack[-1]]] += weight
        for number in {number_of[frame] for frame in stack}:
            total[number] += weight
    seen = [(key, number) for key, number in numbers.items() if total[number]]
    return _Weights({key: own[n] for key, n in seen}, {key: total[n] for key, n in seen})
