"""Samples of a running process as they arrive: sums of the last seconds and of all; how many stay. Pure."""

from __future__ import annotations

from array import array
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from profkit.model.notes import Note
from profkit.model.profile import Frame, Profile, Sample, Thread, ThreadState
from profkit.transforms.waiting import LineOf, waiting_stacks

LONGEST_WINDOW_S = 60.0
"""Longest window of the last seconds; older batches are only in the sums since the start."""

_MOST_KEPT = 4_000_000
"""Maximum number of samples, about 80 MB; a longer recording is kept without its order."""

FunctionKey = tuple[int, int, bool]
"""Function, thread, and whether the thread waited."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples of a span of time; starts in the profile count from its beginning. Times are monotonic."""

    began_s: float
    ended_s: float
    profile: Profile
    rounds: int | None
    """None if the sampler does not report them."""
    errors: int = 0
    notes: tuple[Note, ...] = ()


@dataclass(slots=True)
class Weights:
    """Sums of samples over a span of time."""

    stacks: Counter[tuple[int, int]] = field(default_factory=Counter)
    """By stack and thread."""
    own: Counter[FunctionKey] = field(default_factory=Counter)
    total: Counter[FunctionKey] = field(default_factory=Counter)
    """By function, thread and activity; recursion counts once per sample."""
    rounds: int = 0
    has_rounds: bool = True
    errors: int = 0
    sampled_s: float = 0.0
    """Time that was sampled."""

    def add(self, other: Weights) -> None:
        """Add the sums of another span."""
        self.stacks.update(other.stacks)
        self.own.update(other.own)
        self.total.update(other.total)
        self.rounds += other.rounds
        self.has_rounds = self.has_rounds and other.has_rounds
        self.errors += other.errors
        self.sampled_s += other.sampled_s

    @property
    def samples(self) -> int:
        """Number of samples of all threads."""
        return sum(self.stacks.values())

    @property
    def achieved_hz(self) -> float | None:
        """Rounds per second of sampled time; None if they are not known."""
        return self.rounds / self.sampled_s if self.has_rounds and self.sampled_s and self.rounds else None


class Tables:
    """Frames, functions, stacks and threads of all batches, each stored once and numbered."""

    def __init__(self, line_of: LineOf | None = None) -> None:
        """`line_of` returns source lines, by which waiting is recognized."""
        self._line_of = line_of
        self._frames: dict[Frame, int] = {}
        self._functions: dict[tuple[str, str], int] = {}
        self._threads: dict[Thread, int] = {}
        self._stacks: dict[tuple[tuple[int, ...], ThreadState], int] = {}
        self.frames: list[Frame] = []
        self.function_of: list[int] = []
        """By frame: its function."""
        self.functions: list[tuple[str, str]] = []
        """Name and file."""
        self.frames_of: list[list[int]] = []
        """By function: its frames, one per line."""
        self.threads: list[Thread] = []
        self.stacks: list[tuple[int, ...]] = []
        """Frames of each stack, root first."""
        self.on_stack: list[tuple[int, ...]] = []
        """Functions of each stack, each once."""
        self.waiting: set[int] = set()
        """Stacks of waiting threads."""
        self.states: list[ThreadState] = []
        """State of each stack's thread, as the sampler reported it."""

    def samples_of(self, profile: Profile) -> list[tuple[int, int, int]]:
        """Add the tables of a profile; return its samples as numbers: stack, thread and weight."""
        threads = [self._thread(thread) for thread in profile.threads]
        waiting = waiting_stacks(profile, self._line_of)
        known: dict[int, int] = {}
        found = []
        for stack, thread, weight in profile.samples:
            if stack not in known:
                known[stack] = self._stack(profile, stack, waiting)
            found.append((known[stack], threads[thread], weight))
        return found

    def profile_of(self, samples: Iterable[Sample], *, ordered: bool = False) -> Profile:
        """Return a profile of samples; its tables are these."""
        return Profile(
            frames=tuple(self.frames),
            stacks=tuple(self.stacks),
            threads=tuple(self.threads),
            samples=tuple(samples),
            ordered=ordered,
            states=tuple(self.states) if any(self.states) else (),
        )

    def waits(self, stack: int | None) -> bool | None:
        """Return whether the thread of a stack waited; None for none."""
        return None if stack is None else stack in self.waiting

    def _stack(self, profile: Profile, number: int, waiting: Collection[int]) -> int:
        frames = tuple([self._frame(profile.frames[frame]) for frame in profile.stacks[number]])
        key = frames, profile.state_of(number)
        place = self._stacks.setdefault(key, len(self.stacks))
        if place == len(self.stacks):
            self.stacks.append(frames)
            self.on_stack.append(tuple(dict.fromkeys(map(self.function_of.__getitem__, frames))))
            self.states.append(profile.state_of(number))
            if number in waiting:
                self.waiting.add(place)
        return place

    def _frame(self, frame: Frame) -> int:
        place = self._frames.setdefault(frame, len(self.frames))
        if place == len(self.frames):
            self.frames.append(frame)
            function = self._function(frame)
            self.function_of.append(function)
            self.frames_of[function].append(place)
        return place

    def _function(self, frame: Frame) -> int:
        key = frame.name, frame.file
        place = self._functions.setdefault(key, len(self.functions))
        if place == len(self.functions):
            self.functions.append(key)
            self.frames_of.append([])
        return place

    def _thread(self, thread: Thread) -> int:
        place = self._threads.setdefault(thread, len(self.threads))
        if place == len(self.threads):
            self.threads.append(thread)
        return place


class History:
    """Samples in the order in which they were taken, in few bytes each, to keep them as a run."""

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._most = most
        self._columns = array("i"), array("i"), array("i"), array("l")
        self._batches: list[tuple[float, int]] = []
        """Beginning of each batch, and the number of samples before it."""
        self.is_whole = True
        """False if there were too many samples; then it has none."""
        self.has_starts = True

    def __len__(self) -> int:
        return len(self._columns[0])

    @property
    def began_s(self) -> float | None:
        """Beginning of the first batch."""
        return self._batches[0][0] if self._batches else None

    def add(self, began_s: float, samples: Sequence[tuple[int, int, int]], starts: Sequence[int]) -> None:
        """Add a batch; starts count from its beginning, and there are none if they are not known."""
        self._batches.append((began_s, len(self)))
        if not self.is_whole or len(self) + len(samples) > self._most:
            self.is_whole = False
            self._columns = array("i"), array("i"), array("i"), array("l")
            return
        self.has_starts = self.has_starts and len(starts) == len(samples)
        for (stack, thread, weight), start in zip(samples, starts or (0,) * len(samples), strict=True):
            for column, value in zip(self._columns, (stack, thread, weight, start), strict=True):
                column.append(value)

    def samples(self) -> Iterator[Sample]:
        """Yield all samples in order."""
        stacks, threads, weights, _ = self._columns
        return map(Sample, stacks, threads, weights)

    def starts(self, round_s: float) -> tuple[int, ...]:
        """Return the start of each sample in rounds of that length; empty if they are not known.

        Samples of a thread do not overlap, although batches may.
        """
        if not self.is_whole or not self.has_starts or not self._batches or round_s <= 0:
            return ()
        _, threads, weights, starts = self._columns
        first_s, found, ends = self._batches[0][0], list[int](), dict[int, int]()
        for (began_s, low), (_, high) in pairwise([*self._batches, (0.0, len(self))]):
            before = round((began_s - first_s) / round_s)
            for place in range(low, high):
                start = max(before + starts[place], ends.get(threads[place], 0))
                ends[threads[place]] = start + weights[place]
                found.append(start)
        return tuple(found)


class LiveSamples:
    """All samples since the start, or since the last reset, in batches; times come from the caller."""

    def __init__(self, line_of: LineOf | None = None) -> None:
        self.tables = Tables(line_of)
        self.overall = Weights()
        """Sums since the start."""
        self.history = History()
        self.notes: tuple[Note, ...] = ()
        self.newest: dict[int, int] = {}
        """By thread: its newest stack."""
        self._batches: deque[tuple[float, Weights]] = deque()
        """Ends and sums of the last batches."""
        self._recent: tuple[float, Weights] | None = None
        """The last window, and its sums."""
        self._until_s = float("-inf")
        """End of the sampled time so far."""

    def add(self, batch: Batch) -> None:
        """Add a batch; they come in the order of time, and may overlap a little."""
        samples = self.tables.samples_of(batch.profile)
        self.history.add(batch.began_s, samples, batch.profile.starts)
        weights = self._weights_of(batch, samples)
        self.overall.add(weights)
        self.notes = tuple(dict.fromkeys((*self.notes, *batch.notes)))
        self.newest.update({thread: stack for stack, thread, _ in samples})
        self._batches.append((batch.ended_s, weights))
        self._recent = None
        while self._batches[0][0] <= batch.ended_s - LONGEST_WINDOW_S:
            self._batches.popleft()

    @property
    def until_s(self) -> float | None:
        """End of the newest batch; None before the first one."""
        return self._batches[-1][0] if self._batches else None

    def recent(self, window_s: float) -> Weights:
        """Return the sums of the batches that ended in the last seconds before the newest one's end.

        That is the newest batch at least, so a window that is shorter than a batch is never empty. The result
        is the same object until there is another batch: do not change it.
        """
        if self._recent is None or self._recent[0] != window_s:
            self._recent = window_s, self._sum_of_last(window_s)
        return self._recent[1]

    def _sum_of_last(self, window_s: float) -> Weights:
        found = Weights()
        for ended_s, weights in self._batches:
            if ended_s > self._batches[-1][0] - window_s:
                found.add(weights)
        return found

    def reset(self) -> None:
        """Forget all samples; numbers of functions and threads stay."""
        self.overall, self.history, self.notes = Weights(), History(), ()
        self.newest.clear()
        self._batches.clear()
        self._recent = None

    def _weights_of(self, batch: Batch, samples: Iterable[tuple[int, int, int]]) -> Weights:
        tables = self.tables
        weights = Weights(
            rounds=batch.rounds or 0,
            has_rounds=batch.rounds is not None,
            errors=batch.errors,
            sampled_s=max(0.0, batch.ended_s - max(batch.began_s, self._until_s)),
        )
        self._until_s = max(self._until_s, batch.ended_s)
        for stack, thread, weight in samples:
            weights.stacks[stack, thread] += weight
        for (stack, thread), weight in weights.stacks.items():
            waits = stack in tables.waiting
            for function in tables.on_stack[stack]:
                weights.total[function, thread, waits] += weight
            if tables.stacks[stack]:
                leaf = tables.function_of[tables.stacks[stack][-1]]
                weights.own[leaf, thread, waits] += weight
        return weights
