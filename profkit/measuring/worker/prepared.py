"""Blocks that give each execution a prepared state, and the matching empty loops."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import CodeType
from typing import TypeVar

from .runnable import Blocks, InThisThread, Namespace, Probe, Runnable, bracketed
from .source import ROUNDS

T = TypeVar("T")
Values = tuple[object, ...]
Clock = Callable[[], float]

_MAX_TRIED = 100
_TRYING_S = 0.02
_PREPARING_S = 0.02
"""Maximum time to prepare a block's states."""
_WARM = 20
"""Maximum warm-up executions before a block."""
_MEMORY_SHARE = 8
"""A block's states take at most this fraction (1/N) of the available memory."""
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class States:
    """States for blocks, made before each block; used ones are freed before the next block."""

    def __init__(self, make: Callable[[], Values]) -> None:
        self.most, self.each_s = sys.maxsize, 0.0
        """Maximum number of states per block, and time to make one."""
        self.warms = False
        """True if some warm-up executions precede each block.

        After states are made, the processor fetches the code again, which takes some 10 µs.
        """
        self._make = make
        self._ready: list[Values] = []
        self._spare: list[Values] = []
        self._used = False

    def of(self, number: int) -> list[Values]:
        """Return `number` unused states; the same ones until `use`."""
        if self._used or len(self._ready) != number:
            self._ready = []
            gc.collect(0)  # copies may have cycles, in the youngest generation as the collector is off
            self._ready = [self._make() for _ in range(number)]
            self._spare = [self._make() for _ in range(min(_WARM, number // 4) if self.warms else 0)]
            self._used = False
        return self._ready

    def spare(self) -> list[Values]:
        """Return the states for warm-up executions, once."""
        spare, self._spare = self._spare, []
        return spare

    def use(self) -> None:
        """Mark the states as used."""
        self._used = True

    def use_again(self) -> None:
        """Reuse the used states for the next block, if it has the same size."""
        self._used = False

    def limit(self, memory_bytes: int | None = None, clock: Clock = time.perf_counter) -> None:
        """Set the maximum number of states per block, from the time and memory that some take.

        `memory_bytes` limits the process; None: all available memory.
        """
        tried: list[Values] = []
        start_s, before = clock(), _resident_bytes()
        while not tried or (len(tried) < _MAX_TRIED and clock() - start_s < _TRYING_S):
            tried.append(self._make())
        self.warms = True
        self.each_s = each_s = max((clock() - start_s) / len(tried), 1e-9)
        each_bytes = max((_resident_bytes() - before) / len(tried), 1.0)
        usable_bytes = min(_available_bytes(), memory_bytes or sys.maxsize)
        by_memory = usable_bytes / _MEMORY_SHARE / each_bytes
        self.most = max(1, int(min(by_memory, _PREPARING_S / each_s)))


@dataclass(frozen=True, slots=True)
class PreparedCode:
    """Measured code with a state for each execution, and its empty loop."""

    states: States
    full: Runnable
    empty: Runnable


class PreparedFunction(InThisThread):
    """Blocks of a generator that takes its states from an iterator."""

    def __init__(self, states: States, start: Callable[[], Blocks], uses: bool) -> None:
        self._states, self._blocks, self._uses = states, start(), uses
        self._rounds: Iterator[Values] = iter(())

    def run(self, number: int, probe: Probe[T]) -> tuple[T, T]:
        """See `Runnable.run`."""
        rounds = iter(self._states.of(number))
        if self._uses:
            self._states.use()
            self._blocks.send(iter(self._states.spare()))
        times = bracketed(partial(self._blocks.send, rounds), probe)
        self._rounds = rounds
        return times


class PreparedModule(InThisThread):
    """Blocks of a module's code that takes its states from an iterator."""

    def __init__(self, states: States, code: CodeType, namespace: Namespace, uses: bool) -> None:
        self._states, self._code, self._namespace, self._uses = states, code, namespace, uses

    def run(self, number: int, probe: Probe[T]) -> tuple[T, T]:
        """See `Runnable.run`."""
        rounds = iter(self._states.of(number))
        if self._uses:
            self._states.use()
            self._namespace[ROUNDS] = iter(self._states.spare())
            exec(self._code, self._namespace)
        self._namespace[ROUNDS] = rounds
        return bracketed(partial(exec, self._code, self._namespace), probe)


class PreparedAwaits(InThisThread):
    """Blocks of a coroutine function; a state is a function that returns the coroutine."""

    def __init__(self, states: States, uses: bool) -> None:
        self._states, self._uses = states, uses

    def run(self, number: int, probe: Probe[T]) -> tuple[T, T]:
        """See `Runnable.run`."""
        import asyncio  # few jobs need it, and it takes long to import

        states = self._states.of(number)
        if self._uses:
            self._states.use()
        with asyncio.Runner() as runner:
            return runner.run(self._block(states, probe))

    async def _block(self, states: Sequence[Values], probe: Probe[T]) -> tuple[T, T]:
        none = ()
        before = probe(*none)
        if self._uses:
            for (call,) in states:
                await call()  # type: ignore[operator]
        else:
            for (_call,) in states:
                pass
        return before, probe(*none)


def _resident_bytes() -> int:
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * _PAGE_BYTES


def _available_bytes() -> int:
    with open("/proc/meminfo", "rb") as file:
        for line in file:
            if line.startswith(b"MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 1 << 30
