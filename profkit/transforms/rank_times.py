"""Time that a rank of a job waits for other ranks, and the functions in which it spends the rest.

The rest is also its waiting for a disk, a data loader or a lock: all that other ranks may have to wait for.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import takewhile
from operator import itemgetter
from typing import NamedTuple

from profkit.model.profile import Frame, Profile, ThreadState
from profkit.transforms.origin import OWN_CODE, is_child_file, is_library_file
from profkit.transforms.waiting import (
    OF_OTHER_PROCESSES,
    OF_OTHER_THREADS,
    OTHER_RANKS,
    LineOf,
    has_ranks,
    is_backward,
    is_mpi_call,
    is_rank_call,
    wait_label,
)
from profkit.units import Unit

Function = tuple[str, str]
"""Name and file."""
_MAIN_THREAD = "MainThread"
_TORCH = "torch/"
"""torch.profiler writes files of packages without the folder of all packages."""
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


_OWN_ROLES = (_Role.PROGRAM, _Role.COMPREHENSION)


_IDLE = OF_OTHER_THREADS | OF_OTHER_PROCESSES
"""What a worker waits for that has nothing to do."""


class RankStacks:
    """Stacks of the main thread of a rank, and which of them wait for other ranks.

    A collective operation counts as waiting in any state: it transfers data, but does no work of the program.
    """

    def __init__(
        self,
        profile: Profile,
        pid: int,
        own_file: str,
        line_of: LineOf | None = None,
        *,
        are_of_children: bool = False,
    ) -> None:
        """`own_file`, the region's, is the program's wherever it is; `line_of` returns lines of source.

        With `are_of_children`, they are those of all threads of child processes, except idle ones.
        """
        self._profile, self._frames, self._stacks = profile, profile.frames, profile.stacks
        self._line_of = line_of or (lambda file, line: None)
        self._are_of_children = are_of_children
        self._threads = frozenset((_main_thread(profile, pid),))
        if are_of_children:
            self._threads = frozenset(n for n, one in enumerate(profile.threads) if one.pid not in (0, pid))
        self._weight_s = 1e-9 if profile.unit is Unit.NANOSECONDS else profile.period_ns / 1e9
        self._is_job = has_ranks(profile.frames)
        roles = _roles_in(own_file, self._is_job)
        self._roles = list(map(roles.__getitem__, map(itemgetter(0, 1), profile.frames)))

    @property
    def are_of_job(self) -> bool:
        """Whether any function waits for other ranks."""
        return max(self._roles, default=_Role.NOTHING) >= _Role.COLLECTIVE

    def stretches(self) -> Iterator[Stretch]:
        """Yield the time of the thread, in its order."""
        weight, last, alone = 0, Alone.OWN, self.alone
        for stack, thread, more in self._profile.samples:
            if thread in self._threads:
                if weight and alone[stack] is not last:
                    yield Stretch(weight * self._weight_s, weight, last)
                    weight = 0
                last = alone[stack]
                weight += more
        if weight:
            yield Stretch(weight * self._weight_s, weight, last)

    @cached_property
    def alone(self) -> Sequence[Alone]:
        """By stack: whether it is of something that the rank does by itself."""
        return [self._alone(number, stack) for number, stack in enumerate(self._stacks)]

    def _alone(self, number: int, stack: Sequence[int]) -> Alone:
        role = next(filter(None, map(self._roles.__getitem__, reversed(stack))), _Role.NOTHING)
        if role is _Role.COLLECTIVE or (stack and self._waits(number, stack)):
            return Alone.WAITS
        return Alone.BACKWARD if role is _Role.BACKWARD else Alone.OWN

    def _waits(self, number: int, stack: Sequence[int]) -> bool:
        """Return whether a stack waits for ranks: by its line in the program, or blocked in torch."""
        if self._roles[stack[-1]] in _OWN_ROLES:
            frame = self._frames[stack[-1]]
            source = self._line_of(frame.file, frame.line)
            works = self._profile.state_of(number) is ThreadState.WORKING
            return is_mpi_call(source) or (self._is_job and is_rank_call(source, works=works))
        is_blocked = self._is_job and self._profile.state_of(number) is ThreadState.WAITING
        return is_blocked and wait_label(self._below(stack), None, is_distributed=True) == OTHER_RANKS

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
                found[wait_label(self._below(self._stacks[stack]), None)] += weight
        return {label: weight * self._weight_s for label, weight in found.items()}

    @cached_property
    def _own_weights(self) -> dict[int, int]:
        """Return the weights of the stacks that do not wait for other ranks."""
        found: dict[int, int] = {}
        for stack, thread, weight in self._profile.samples:
            if thread in self._threads and self._stacks[stack]:
                found[stack] = found.get(stack, 0) + weight
        return {stack: weight for stack, weight in found.items() if self._counts(stack)}

    def _counts(self, stack: int) -> bool:
        if self._are_of_children and self._profile.state_of(stack) is ThreadState.WAITING:
            return wait_label(self._below(self._stacks[stack]), None) not in _IDLE
        return self.alone[stack] is not Alone.WAITS

    def _named(self, stack: int) -> Iterator[int]:
        """Return the functions of the program, the innermost one first."""
        return (frame for frame in reversed(self._stacks[stack]) if self._roles[frame] is _Role.PROGRAM)

    def _of_function(self, function: Function, stack: int) -> Iterator[Frame]:
        frames = map(self._frames.__getitem__, self._named(stack))
        return (frame for frame in frames if frame[:2] == function)

    def _below(self, stack: Sequence[int]) -> list[Frame]:
        """Return the library frames below the innermost function of the program."""
        below = list(takewhile(lambda n: self._roles[n] not in _OWN_ROLES, reversed(stack)))
        return [self._frames[number] for number in reversed(below)]


class _Roles(dict[Function, _Role]):
    """Roles of functions, which most ranks of a job have in common."""

    def __init__(self, own_file: str, is_job: bool) -> None:
        super().__init__()
        self._own_file, self._is_job = own_file, is_job

    def __missing__(self, function: Function) -> _Role:
        role = self[function] = self._role(*function)
        return role

    def _role(self, name: str, file: str) -> _Role:
        if file == self._own_file or not _is_foreign(file):
            return _Role.COMPREHENSION if name.endswith(_COMPREHENSIONS) else _Role.PROGRAM
        frame = Frame(name, file)
        if wait_label((frame,), None) == OTHER_RANKS:
            return _Role.COLLECTIVE
        return _Role.BACKWARD if self._is_job and is_backward(frame) else _Role.NOTHING


_roles_in = cache(_Roles)


@cache
def _is_foreign(file: str) -> bool:
    return file.startswith(_TORCH) or is_library_file(file) or OWN_CODE.holds(file) or is_child_file(file)


def _main_thread(profile: Profile, pid: int) -> int:
    """Return the index of the main thread: of several or none of that name, the first or heaviest."""
    order_of: dict[int, tuple[bool, bool, bool]] = {}
    for number in dict.fromkeys(map(itemgetter(1), profile.samples)):
        thread = profile.threads[number]
        is_named, is_first = thread.name.startswith(_MAIN_THREAD), thread.tid == pid != 0
        order_of[number] = thread.pid in (0, pid), is_named, is_first
    best = max(order_of.values(), default=None)
    found = [number for number, order in order_of.items() if order == best]
    if len(found) < 2:
        return next(iter(found), -1)
    return max(found, key=lambda number: sum(profile.weights_by_thread[number].values()))
