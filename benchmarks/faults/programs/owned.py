"""The target's own log: one `write(2)` in append mode for each line."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

_CALLS = itertools.count()


class OwnLog:
    """Log at a path."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def write(self, *words: object) -> None:
        """Append one line."""
        os.write(self._descriptor, (" ".join(map(str, words)) + "\n").encode())

    @contextmanager
    def call(self, label: str) -> Iterator[None]:
        """Log that a call begins and, unless it raises, that it ends."""
        number = next(_CALLS)
        self.write("begin", label, number, time.monotonic_ns())
        yield
        self.write("end", label, number, time.monotonic_ns())


def spin(duration_s: float) -> None:
    """Work for a while."""
    end_s = time.perf_counter() + duration_s
    while time.perf_counter() < end_s:
        sum(range(50))
