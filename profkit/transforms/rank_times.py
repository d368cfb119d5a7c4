"""Time that a rank of a job waits for other ranks, and the functions in which it spends the rest.

The rest is also its waiting for a disk, a data loader or a lock: all that other ranks may have to wait for.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import takewhile
from typing import NamedTuple

from profkit.model.profile import Frame, Profile, ThreadState
from profkit.transforms.origin import OWN_CODE, is_child_file, is_library_file
from profkit.transforms.waiting import OTHER_RANKS, has_ranks, is_backward, wait_label
from profkit.units import Unit

Function = tuple[str, str]
"""Name and file."""
_MAIN_THREAD = "MainThread"
_COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")


class Alone(enum.IntEnum):
    """Whether a rank does something by itself; the larger, the less."""

    OWN = 0
    BACKWARD = 1
    """In torch's backward pass, in which ranks wait for one another and work, but not known to wait."""
    WAITS = 2
    """Waiting for other ranks, or exchanging data with them."""


class Stretch(NamedTuple):
    """Consecutive samples of a rank in which it does the same."""

    seconds: float
    samples: int
    alone: Alone


class Included(NamedTuple):
    """Time of a rank in a function with all that it calls."""

    seconds: float
    depth: float
    """Mean number of functions of the program above it."""


class _Role(enum.IntEnum):
    """What a frame says of a stack; the innermost one that says something decides."""

    NOTHING = 0
    PROGRAM = 1
    COMPREHENSION = 2
    """Part of a function of the program."""
    COLLECTIVE = 3
    BACKWARD = 4


class RankStacks:
    """Stacks of the main thread of a rank, and which of them wait for other ranks.

    A collective operation counts as waiting in any state: it transfers data, but does no work of the program.
    """

    def __init__(self, profile: Profile, pid: int, own_file: str) -> None:
        """`own_file`, the region's, is the program's wherever it is."""
        self._profile, self._frames, self._stacks = profile, profile.frames, profile.stacks
        self._thread = _main_thread(profile, pid)
        self._weight_s = 1e-9 if profile.unit is Unit.NANOSECONDS else profile.period_ns / 1e9
        self._roles = _roles(profile.frames, own_file)
        self._is_named = [role is _Role.PROGRAM for role in self._roles]
        self._alone: dict[int, Alone] = {}

    @property
    def are_of_job(self) -> bool:
        """Whether any function waits for other ranks."""
        return max(self._roles, default=_Role.NOTHING) >= _Role.COLLECTIVE

    def stretches(self) -> Iterator[Stretch]:
        """Yield the time of the thread, in its order."""
        weight, last = 0, Alone.OWN
        for stack, thread, more in self._profile.samples:
            if thread == self._thread:
                alone = self.alone(stack)
                if weight and alone is not last:
                    yield Stretch(weight * self._weight_s, weight, last)
                    weight = 0
                last = alone
                weight += more
        if weight:
            yield Stretch(weight * self._weight_s, weight, last)

    def alone(self, stack: int) -> Alone:
        """Return whether a stack is of something that the rank does by itself."""
        found = self._alone.get(stack)
        if found is None:
            role = next(filter(None, map(self._roles.__getitem__, reversed(self._stacks[stack]))), None)
            is_blocked = self._profile.state_of(stack) is ThreadState.WAITING
            if role is _Role.COLLECTIVE or (role is _Role.BACKWARD and is_blocked):
                found = Alone.WAITS
            else:
                found = Alone.BACKWARD if role is _Role.BACKWARD else Alone.OWN
            self._alone[stack] = found
        return found

    def own(self) -> dict[Frame, float]:
        """Return the time that is not waiting for other ranks, by line of the function that spends it.

        Library calls are part of the line that makes them.
        """
        found: Counter[int] = Counter()
        for stack, weight in self._own_weights.items():
            found[next(self._named(stack), self._stacks[stack][-1])] += weight
        return {self._frames[number]: weight * self._weight_s for number, weight in found.items()}

    def including(self) -> dict[Function, Included]:
        """Return the same time of each function with all that it calls."""
        functions = [frame[:2] for frame in self._frames]
        weights: Counter[Function] = Counter()
        depths: Counter[Function] = Counter()
        for stack, weight in self._own_weights.items():
            named = [functions[number] for number in self._named(stack)]
            for function, depth in {each: len(named) - 1 - n for n, each in enumerate(named)}.items():
                weights[function] += weight
                depths[function] += weight * depth
        return {
            function: Included(weight * self._weight_s, depths[function] / weight)
            for function, weight in weights.items()
        }

    def lines(self, function: Function) -> dict[int, float]:
        """Return the same time of the lines of a function, with all that they call."""
        found: Counter[int] = Counter()
        for stack, weight in self._own_weights.items():
            frame = next(self._of_function(function, stack), None)
            if frame is not None:
                found[frame.line] += weight
        return {line: weight * self._weight_s for line, weight in found.items()}

    def blocked(self, function: Function) -> dict[str, float]:
        """Return the time for which a function with all that it calls waits, by what it waits for."""
        found: Counter[str] = Counter()
        for stack, weight in self._own_weights.items():
            is_blocked = self._profile.state_of(stack) is ThreadState.WAITING
            if is_blocked and any(self._of_function(function, stack)):
                found[wait_label(self._below(stack), None)] += weight
        return {label: weight * self._weight_s for label, weight in found.items()}

    @cached_property
    def _own_weights(self) -> dict[int, int]:
        """Return the weights of the stacks that do not wait for other ranks."""
        found: dict[int, int] = {}
        for stack, thread, weight in self._profile.samples:
            if thread == self._thread and self._stacks[stack]:
                found[stack] = found.get(stack, 0) + weight
        return {stack: weight for stack, weight in found.items() if self.alone(stack) is not Alone.WAITS}

    def _named(self, stack: int) -> Iterator[int]:
        """Return the functions of the program, the innermost one first."""
        return filter(self._is_named.__getitem__, reversed(self._stacks[stack]))

    def _of_function(self, function: Function, stack: int) -> Iterator[Frame]:
        frames = map(self._frames.__getitem__, self._named(stack))
        return (frame for frame in frames if frame[:2] == function)

    def _below(self, stack: int) -> list[Frame]:
        """Return the library frames below the innermost function of the program."""
        own = (_Role.PROGRAM, _Role.COMPREHENSION)
        below = list(takewhile(lambda n: self._roles[n] not in own, reversed(self._stacks[stack])))
        return [self._frames[number] for number in reversed(below)]


def _roles(frames: Sequence[Frame], own_file: str) -> list[_Role]:
    is_job = has_ranks(frames)

    @cache
    def is_program(file: str) -> bool:
        is_library = file != own_file and is_library_file(file)
        return not (is_library or OWN_CODE.holds(file) or is_child_file(file))

    def role(frame: Frame) -> _Role:
        if is_program(frame.file):
            is_inner = frame.name.endswith(_COMPREHENSIONS)
            return _Role.COMPREHENSION if is_inner else _Role.PROGRAM
        if wait_label((frame,), None) == OTHER_RANKS:
            return _Role.COLLECTIVE
        return _Role.BACKWARD if is_job and is_backward(frame) else _Role.NOTHING

    return list(map(role, frames))


def _main_thread(profile: Profile, pid: int) -> int:
    """Return the index of the process's main thread: of several or none of that name, the heaviest."""
    weights: Counter[int] = Counter()
    for _, thread, weight in profile.samples:
        weights[thread] += weight

    def order(number: int) -> tuple[bool, bool, int]:
        thread = profile.threads[number]
        return thread.pid in (0, pid), thread.name.startswith(_MAIN_THREAD), weights[number]

    return max(weights, key=order, default=-1)
