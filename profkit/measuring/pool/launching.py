"""Client of the launcher, which starts zygotes; waits under gevent and eventlet; and stopped processes.

gevent and eventlet replace `threading` by green threads: one runs in the thread that started it, and yields
to others only in functions that the library has replaced.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import ZygoteFailed
from profkit.measuring.pool.command import PROGRAM
from profkit.measuring.worker.processes import is_stopped, kill
from profkit.measuring.worker.protocol import send_descriptors
from profkit.originals import REAL
from profkit.process import child

_PAUSE_S = 0.005
_POLLIN = 1
"""POLLIN of poll(2); eventlet's `select` lacks the constants."""


def leave_signals(starter: int) -> None:
    """Block all signals in this thread, if it is not `starter`: `REAL.get_ident()` of its starting thread."""
    if REAL.get_ident() != starter:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


def readable(descriptors: Iterable[int], timeout_s: float) -> set[int]:
    """Wait until descriptors are readable or closed at the other end, and return those that are."""
    if not hasattr(select, "poll"):  # eventlet removes it
        return _readable_of_eventlet(descriptors, timeout_s)
    poller = select.poll()
    for descriptor in descriptors:
        poller.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in poller.poll(timeout_s * 1000)}


def _readable_of_eventlet(descriptors: Iterable[int], timeout_s: float) -> set[int]:
    poller, deadline_s = REAL.poll(), SYSTEM_CLOCK.monotonic_s() + timeout_s
    for descriptor in descriptors:
        poller.register(descriptor, _POLLIN)
    while not (ready := poller.poll(0)) and SYSTEM_CLOCK.monotonic_s() < deadline_s:
        time.sleep(_PAUSE_S)  # lets other green threads run
    return {descriptor for descriptor, _ in ready}


POLL_S = 1.0
"""Polling interval for helpers. One that is stopped at two polls in a row counts as dead, so within 2 s:
helpers that are stopped and continued together with the program must survive."""


class StopDetector:
    """Detector of processes that stay stopped."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._last_s = clock, float("-inf")
        self._seen: frozenset[int] = frozenset()

    def stays_stopped(self, find: Callable[[], Iterable[int]]) -> frozenset[int]:
        """Return the processes of `find` that are stopped now and were at the previous poll.

        Polls once a second at most; returns none in between.
        """
        now_s = self._clock.monotonic_s()
        if now_s - self._last_s < POLL_S:
            return frozenset()
        before, self._last_s = self._seen, now_s
        self._seen = frozenset(pid for pid in find() if is_stopped(pid))
        return self._seen & before


def socket_number(descriptor: int) -> int:
    """Return the number of a descriptor's socket in /proc."""
    return os.fstat(descriptor).st_ino


def holders(number: int) -> set[int]:
    """Return the other processes that have a socket open, as far as this user may see.

    This identifies helpers before they can report their pid: they may be stopped right at their start.
    """
    link, own = f"socket:[{number}]", os.getpid()
    pids = (int(name) for name in os.listdir("/proc") if name.isdecimal())
    return {pid for pid in pids if pid != own and link in _open_files(pid)}


def _open_files(pid: int) -> set[str]:
    folder = f"/proc/{pid}/fd"
    found: set[str] = set()
    try:
        for name in os.listdir(folder):
            found.add(os.readlink(f"{folder}/{name}"))
    except OSError:  # of another user, gone, or closed a file meanwhile: the next poll is complete
        return found
    return found


_START_S = 30.0


class Launcher:
    """Bare interpreter that starts supervisors; started at first use, and no child of ours."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._channel: socket.socket | None = None
        self._socket = 0

    def launch(self, descriptors: Sequence[int]) -> None:
        """Start a supervisor with copies of these; raises ZygoteFailed, or ToolMissing."""
        with self._lock:
            channel = self._channel or self._started()
            try:
                send_descriptors(channel, descriptors)
            except OSError:  # the launcher has ended
                channel.close()
                send_descriptors(self._started(), descriptors)

    def start(self) -> None:
        """Start it now, in the calling thread: from a thread of ours, SIGCHLD would reach the program."""
        with self._lock:
            if self._channel is None:
                self._started()

    def processes(self) -> set[int]:
        """Return the launcher's process as a set; empty if there is none."""
        return holders(self._socket) if self._channel is not None else set()

    def end(self) -> None:
        """Kill the stopped launcher; supervisors stay, and the next launch starts another."""
        with self._lock:
            self._kill()
            self.forget()

    def close(self) -> None:
        """Ask it to end, and kill it if it does not; supervisors stay."""
        with self._lock:
            if self._channel is not None:
                with contextlib.suppress(OSError):  # it was ended before
                    self._channel.shutdown(socket.SHUT_WR)
                if not readable([self._channel.fileno()], POLL_S):
                    self._kill()
            self.forget()

    def forget(self) -> None:
        """Close our end of its channel, as needed in a forked process, which has a copy."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def _kill(self) -> None:
        for pid in self.processes():
            kill(pid)

    def _started(self) -> socket.socket:
        self._channel = None
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket = socket_number(theirs.fileno())
        try:
            with theirs:
                _start(ours, theirs)
        except BaseException:
            ours.close()
            raise
        self._channel = ours
        return ours


def _start(ours: socket.socket, theirs: socket.socket) -> None:
    driver = os.pidfd_open(os.getpid())
    try:
        send_descriptors(ours, [driver])
    finally:
        os.close(driver)
    argv = [*child.detaching_command(), child.own_python(), "-I", "-S", str(PROGRAM), "launcher"]
    ended = child.run_child(argv, Path(os.devnull), _START_S, stdin=theirs.fileno())
    if ended.code not in (0, None):
        raise ZygoteFailed(
            "launcher", f"exited with status {ended.code}", "", f"run {' '.join(argv)!r} to see why"
        )
