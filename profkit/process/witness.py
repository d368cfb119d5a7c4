"""Distinguish signals to a whole process group from signals to this process alone.

A signal does not say to whom it was sent. The witness is a process of the same group that does nothing else:
what it receives, all other members have received, too. It also kills the command if this process is killed.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final, NoReturn

from profkit.process.procfs import is_same_process, state_and_start, status

_POLL_MS: Final = 10
_MOST_POLLS: Final = 200
"""A witness that gets no processor for two seconds says nothing any more."""
_MOST_REPORTS: Final = 4096
_PID_BYTES: Final = 8


class Witness:
    """The witness of this process's group."""

    def __init__(self, pid: int, reports: int, ward: int) -> None:
        self._pid, self._ward = pid, ward
        self._reports = reports
        """Read end of a pipe, non-blocking: one byte for each signal that the witness has received."""
        self._unasked: set[int] = set()
        """Signals that were reported, and not asked for yet."""

    def guard(self, pid: int) -> None:
        """Let the witness kill this child with SIGKILL if this process is killed with it."""
        with suppress(BrokenPipeError):  # someone has killed the witness
            os.write(self._ward, pid.to_bytes(_PID_BYTES, sys.byteorder))

    def has_received(self, number: int) -> bool:
        """Return whether the whole group has received a signal that this process has just received.

        Reports answer once.
        """
        poll = select.poll()
        poll.register(self._reports, select.POLLIN)
        is_idle, is_over = False, False
        for _ in range(_MOST_POLLS):
            if number in self._unasked or is_over:
                break
            if poll.poll(_POLL_MS):
                reports = self._read()
                self._unasked.update(reports)
                is_idle, is_over = False, not reports
            else:  # looked up after a pause: the system signals one process of a group after the other
                is_idle, is_over = _has_nothing_to_do(self._pid, number), is_idle
        found = number in self._unasked
        self._unasked.discard(number)
        return found

    def _read(self) -> bytes:
        try:
            return os.read(self._reports, _MOST_REPORTS)
        except BlockingIOError:
            return b""


def _has_nothing_to_do(pid: int, number: int) -> bool:
    """Return whether a process sleeps or is stopped, and that signal is not pending (proc(5))."""
    fields = status(pid)
    pending = int(fields.get("SigPnd", "0"), 16) | int(fields.get("ShdPnd", "0"), 16)
    return fields.get("State", "S")[0] in "STt" and not pending & 1 << number - 1


@contextmanager
def witness_of(numbers: Collection[int]) -> Iterator[Witness]:
    """Start a witness of these signals; it ends with the body, or with this process.

    They must be blocked: it may be sent some before it is ready. Call it before this process has threads.
    Raises OSError if no process can be started.
    """
    reports, report = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    ward, end = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(end)
        _watch(numbers, report, ward)
    os.close(report)
    os.close(ward)
    try:
        yield Witness(pid, reports, end)
    finally:
        os.kill(pid, signal.SIGKILL)  # it may have been stopped with its group
        os.waitpid(pid, 0)
        os.close(end)
        os.close(reports)


def _watch(numbers: Collection[int], report: int, ward: int) -> NoReturn:
    """Report signals until the pipe `ward` is closed, holding no other file open."""
    try:
        _close_all_but(report, ward)
        for number in numbers:
            signal.signal(number, _go_on)
        signal.set_wakeup_fd(report, warn_on_full_buffer=False)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
        _kill_at_end(ward)
    finally:
        os._exit(0)


def _kill_at_end(ward: int) -> None:
    """Kill the child that is named in the pipe, if it still runs when the pipe is closed."""
    child = int.from_bytes(os.read(ward, _PID_BYTES), sys.byteorder)
    found = state_and_start(child) if child else None
    os.read(ward, 1)
    if found is not None and is_same_process(child, found[1]):
        os.kill(child, signal.SIGKILL)


def _close_all_but(*kept: int) -> None:
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept:
            with suppress(OSError):  # the list's own descriptor
                os.close(int(name))


def _go_on(number: int, frame: FrameType | None) -> None:
    """Handle a signal that was reported by its number (`set_wakeup_fd`)."""
