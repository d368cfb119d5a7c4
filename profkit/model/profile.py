"""Profiles (samples over tables of frames, stacks and threads) and call trees."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, repeat
from operator import itemgetter
from typing import NamedTuple

from profkit.units import Unit


class Frame(NamedTuple):
    """A code position: the function's qualified name, its file, and the executing line.

    `line` is 0 if it is unknown. A named tuple, because a profile holds tens of thousands.
    """

    name: str
    file: str
    line: int = 0


class Thread(NamedTuple):
    """A thread of a process; `tid` is the operating system's id (`threading.get_native_id()`)."""

    pid: int
    tid: int
    name: str


class ThreadState(enum.IntEnum):
    """What a thread did when its stack was read, if the sampler knows; the number is the one in files."""

    UNKNOWN = 0
    WORKING = 1
    """On a processor, or ready for one."""
    WAITING = 2
    GIL = 3
    """Waiting for the GIL."""


class Value(enum.Enum):
    """What the weights of a memory profile are; the value is the word in files, JSON and options."""

    PEAK = "peak"
    """Bytes that were allocated in the call and alive at its peak."""
    ALLOCATED = "allocated"
    """Bytes of all allocations."""
    ALLOCATIONS = "allocations"
    """Number of all allocations."""
    LEFT = "left"
    """Bytes that were still allocated when the call ended."""

    @property
    def unit(self) -> Unit:
        """Unit of the weights."""
        return Unit.ALLOCATIONS if self is Value.ALLOCATIONS else Unit.BYTES


class Column(NamedTuple):
    """Another value of each sample of a profile, in the order of the samples."""

    value: Value
    weights: tuple[int, ...]


class Sample(NamedTuple):
    """A stack seen `weight` times in a row; `stack` and `thread` are indexes into the profile's tables."""

    stack: int
    thread: int
    weight: int = 1


@dataclass(frozen=True, repr=False)
class Profile:
    """Samples and the tables that they index.

    A stack is a tuple of frame indexes, root first. If `ordered` is true, each thread's samples are in the
    order they were taken. `period_ns` is the time that one sample represents, 0 if the unit is not SAMPLES.

    Call graph files state the inclusive cost of each function. Samples cannot express it if functions
    recurse, so it is in `totals`. Totals hold for the whole profile only: any selection of samples drops
    them.
    """

    unit: Unit = Unit.SAMPLES
    period_ns: float = 0.0
    frames: tuple[Frame, ...] = ()
    stacks: tuple[tuple[int, ...], ...] = ()
    threads: tuple[Thread, ...] = ()
    samples: tuple[Sample, ...] = ()
    ordered: bool = True
    totals: tuple[int | None, ...] = ()
    """By frame: the stated total of its function, None if there is none. Empty unless a file states totals.

    A frame with a total is a function of its own; its line distinguishes it from others of its name and file.
    """
    starts: tuple[int, ...] = ()
    """By sample: the weight from the beginning of the recording to the sample; empty if it is not known.

    This is the time axis that all threads share: a thread has gaps in which it was not sampled.
    """
    states: tuple[ThreadState, ...] = ()
    """By stack: the state of its thread; empty if none is known.

    The same frames can be several stacks, each with another state.
    """

    value: Value | None = None
    """What the weights are, if there are several values of each sample; None for samples of time."""
    columns: tuple[Column, ...] = ()
    """The other values; a selection of samples drops them, so select a value first (`transforms.values`)."""

    def known_starts(self) -> Iterable[int | None]:
        """Return the start of each sample, or endlessly None if they are not known."""
        return self.starts or repeat(None)

    def state_of(self, stack: int) -> ThreadState:
        """Return the state of the threads that have a stack."""
        return self.states[stack] if self.states else ThreadState.UNKNOWN

    def stacks_in(self, state: ThreadState) -> Collection[int]:
        """Return the indexes of the stacks whose threads are in a state."""
        if not self.states:
            return range(len(self.stacks)) if state is ThreadState.UNKNOWN else ()
        return frozenset(number for number, one in enumerate(self.states) if one is state)

    @cached_property
    def weights_by_thread(self) -> Mapping[int, Mapping[int, int]]:
        """For each thread with samples, by index: the weight of each stack that they use, by index."""
        weights: dict[int, dict[int, int]] = {}
        for stack, thread, weight in self.samples:
            of_thread = weights.get(thread)
            if of_thread is None:
                of_thread = weights[thread] = {}
            of_thread[stack] = of_thread.get(stack, 0) + weight
        return weights

    @cached_property
    def weights_by_stack(self) -> Mapping[int, int]:
        """The weight of each stack that samples use, by index; all threads combined."""
        weights: dict[int, int] = {}
        for stack, _, weight in self.samples:
            weights[stack] = weights.get(stack, 0) + weight
        return weights

    @cached_property
    def total_weight(self) -> int:
        """Sum of all samples' weights."""
        return sum(map(itemgetter(2), self.samples))

    def __repr__(self) -> str:
        tables = f"{len(self.stacks)} stacks, {len(self.frames)} frames, {len(self.threads)} threads"
        return f"<Profile of {self.total_weight} {self.unit.value}: {tables}>"


class ProfileBuilder:
    """Builder of a `Profile` from stacks; equal frames, stacks and threads are stored once.

    Stacks of different states are not equal. Consecutive equal stacks of a thread become one sample.
    """

    def __init__(self) -> None:
        self._frames: defaultdict[Frame, int] = defaultdict(count().__next__)
        self._stacks: tuple[dict[tuple[int, ...], int], ...] = tuple({} for _ in ThreadState)
        """By state: stacks, numbered together."""
        self._table: list[tuple[int, ...]] = []
        """All stacks by number."""
        self._states: list[ThreadState] = []
        self._threads: dict[Thread, int] = {}
        self._samples: list[Sample] = []
        self._starts: list[int | None] = []

    def add(
        self,
        stack: tuple[Frame, ...],
        thread: Thread,
        weight: int = 1,
        *,
        state: ThreadState = ThreadState.UNKNOWN,
    ) -> None:
        """Append one sample, frames root first."""
        frames = tuple(self.frame(frame) for frame in stack)
        self.add_indexed(frames, self.thread(thread), weight, state=state)

    def frame(self, frame: Frame) -> int:
        """Return the index of a frame; add the frame if it is new."""
        return self._frames[frame]

    def frame_numbers(self, frames: Iterable[Frame]) -> list[int]:
        """Return the indexes of frames; add those that are new."""
        return list(map(self._frames.__getitem__, frames))

    def check_path(self, depth: int) -> None:
        """Raise an error if a path of this depth must not be followed: here, none."""

    def thread(self, thread: Thread) -> int:
        """Return the index of a thread; add the thread if it is new."""
        return self._threads.setdefault(thread, len(self._threads))

    def stack(self, stack: tuple[int, ...], state: ThreadState = ThreadState.UNKNOWN) -> int:
        """Return the index of a stack, whose frames are indexes from this builder; add it if it is new."""
        number = self._stacks[state].setdefault(stack, len(self._table))
        if number == len(self._table):
            self._table.append(stack)
            self._states.append(state)
        return number

    def add_indexed(
        self,
        stack: tuple[int, ...],
        thread: int,
        weight: int = 1,
        start: int | None = None,
        *,
        state: ThreadState = ThreadState.UNKNOWN,
    ) -> None:
        """Append one sample whose frames and thread are indexes from this builder."""
        self.add_numbered(self.stack(stack, state), thread, weight, start)

    def add_numbered(self, stack: int, thread: int, weight: int = 1, start: int | None = None) -> None:
        """Append one sample whose stack and thread are indexes from this builder."""
        last = self._samples[-1] if self._samples else None
        if last is not None and last[0] == stack and last[1] == thread and self._continues(start):
            self._samples[-1] = Sample(stack, thread, last[2] + weight)
        else:
            # Without the constructor of the named tuple, in a quarter of the time.
            self._samples.append(tuple.__new__(Sample, (stack, thread, weight)))
            self._starts.append(start)

    @property
    def last(self) -> Sample:
        """The sample that was added last."""
        return self._samples[-1]

    def forget_samples(self) -> None:
        """Drop the samples, but keep all tables: indexes stay valid."""
        self._samples.clear()
        self._starts.clear()

    def _continues(self, start: int | None) -> bool:
        """Return whether a sample that begins then follows the last one without a gap."""
        last = self._starts[-1]
        return start is None or last is None or start == last + self._samples[-1].weight

    def build(
        self,
        *,
        unit: Unit = Unit.SAMPLES,
        period_ns: float = 0.0,
        ordered: bool = True,
        totals: Mapping[Frame, int] | None = None,
    ) -> Profile:
        """Return the profile of everything added, with the stated totals of functions, if any."""
        for frame in totals or ():
            self.frame(frame)
        starts = tuple(start for start in self._starts if start is not None)
        return Profile(
            unit=unit,
            period_ns=period_ns,
            frames=tuple(self._frames),
            stacks=tuple(self._table),
            threads=tuple(self._threads),
            samples=tuple(self._samples),
            ordered=ordered,
            totals=tuple(map(totals.get, self._frames)) if totals else (),
            starts=starts if len(starts) == len(self._samples) else (),
            states=tuple(self._states) if any(self._states) else (),
        )


class Node(NamedTuple):
    """A node of the call tree; children are sorted heaviest first and may be computed on demand.

    A function has one node under each distinct caller; `frame.line` is then the line with the most weight.
    The root's frame has an empty name. A named tuple, because a tree has millions.
    """

    frame: Frame
    self_weight: int
    total_weight: int
    children: Sequence[Node] = ()

    def walk(self) -> Iterator[tuple[int, Node]]:
        """Yield every node with its depth, parents before children, without recursion."""
        pending = [(0, self)]
        while pending:
            depth, node = pending.pop()
            yield depth, node
            pending.extend((depth + 1, child) for child in reversed(node.children))
