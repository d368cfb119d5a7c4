"""Cores for workers that run side by side: each gets a contiguous block of its own.

A worker is bound to its block before it starts a thread; OpenMP's threads inherit that, as
sched_setaffinity(2) says.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from profkit.errors import InvalidOption


class CorePool:
    """Lends contiguous blocks of cores, first fit, to one holder each."""

    def __init__(self, cores: Sequence[int] | None = None) -> None:
        self.cores = tuple(sorted(os.sched_getaffinity(0) if cores is None else cores))
        self._free = set(self.cores)
        self._changed = threading.Condition()

    def check(self, count: int) -> None:
        """Raise `UsageError` where so many cores could never be lent."""
        if next(self._blocks(count, set(self.cores)), None) is None:
            raise InvalidOption(
                "num_threads",
                count,
                f"this process may use the cores {list(self.cores)}: ask for fewer threads",
            )

    @contextmanager
    def lend(self, count: int) -> Iterator[tuple[int, ...]]:
        """Lend `count` neighbouring cores, waiting until they are free."""
        self.check(count)
        with self._changed:
            self._changed.wait_for(lambda: next(self._blocks(count, self._free), None) is not None)
            block = next(self._blocks(count, self._free))
            self._free.difference_update(block)
        try:
            yield block
        finally:
            with self._changed:
                self._free.update(block)
                self._changed.notify_all()

    def _blocks(self, count: int, free: set[int]) -> Iterator[tuple[int, ...]]:
        """Blocks of cores that follow one another in the order of those we may use at all."""
        for start in range(len(self.cores) - count + 1):
            block = self.cores[start : start + count]
            if free.issuperset(block):
                yield block
