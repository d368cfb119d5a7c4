"""Distinguish signals to a whole process group from signals to this process alone.

A signal does not say to whom it was sent. The witness is a process of the same group that does nothing else:
what it receives, all other members have received, too.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Final, NoReturn

_PATIENCE_MS: Final = 50
"""Time for the witness to be scheduled."""
_MOST_REPORTS: Final = 4096


@dataclass(frozen=True)
class Witness:
    """The witness of this process's group."""

    _reports: int
    """Read end of a pipe, non-blocking: one byte for each signal that the witness has received."""

    def has_received(self, number: int) -> bool:
        """Return whether the whole group has received a signal that this process has just received.

        Each report answers once.
        """
        poll = select.poll()
        poll.register(self._reports, select.POLLIN)
        while poll.poll(_PATIENCE_MS):
            reports = self._read()
            if not reports or number in reports:
                return bool(reports)
        return False

    def _read(self) -> bytes:
        try:
            return os.read(self._reports, _MOST_REPORTS)
        except BlockingIOError:
            return b""


@contextmanager
def witness_of(numbers: Collection[int]) -> Iterator[Witness]:
    """Start a witness of these signals; it ends with the body, or with this process.

    They must be blocked: it may be sent some before it is ready. Call it before this process has threads.
    Raises OSError if no process can be started.
    """
    reports, report = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    alive, end = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(end)
        _watch(numbers, report, alive)
    os.close(report)
    os.close(alive)
    try:
        yield Witness(reports)
    finally:
        os.kill(pid, signal.SIGKILL)  # it may have been stopped with its group
        os.waitpid(pid, 0)
        os.close(end)
        os.close(reports)


def _watch(numbers: Collection[int], report: int, alive: int) -> NoReturn:
    """Report signals until the pipe `alive` is closed, holding no other file open."""
    try:
        _close_all_but(report, alive)
        for number in numbers:
            signal.signal(number, _go_on)
        signal.set_wakeup_fd(report, warn_on_full_buffer=False)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
        os.read(alive, 1)
    finally:
        os._exit(0)


def _close_all_but(*kept: int) -> None:
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept:
            with suppress(OSError):  # the list's own descriptor
                os.close(int(name))


def _go_on(number: int, frame: FrameType | None) -> None:
    """Handle a signal that was reported by its number (`set_wakeup_fd`)."""
