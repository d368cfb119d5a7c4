"""Ways to sample from inside a process: their interface and rates, and when one cannot be used."""

from __future__ import annotations

import enum
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from profkit.clock import Clock
from profkit.process.background import BackgroundThread, is_gil_enabled
from profkit.samplers.helper.reader import ALL_THREADS, ON_CPU


class Kind(enum.Enum):
    """How stacks are read; the value is the word in journals, notes and JSON."""

    INTERPRETER = "interpreter"
    """By CPython's own reader, in a subinterpreter that has a GIL of its own."""
    TIMER = "timer"
    """In a signal handler of the main thread."""
    THREAD = "thread"
    """By a thread of the program."""


_HAS_OTHERS = sys.version_info >= (3, 12)
"""True if the frames of other interpreters are listed, which may crash (python/cpython#158364)."""
_INTERPRETERS = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
FASTEST_HZ = {Kind.INTERPRETER: 1000.0, Kind.TIMER: 100.0, Kind.THREAD: 100.0}
"""Maximum rates: each sample of the last two needs the GIL."""


NAMES = {
    Kind.INTERPRETER: "a subinterpreter", Kind.TIMER: "a signal handler", Kind.THREAD: "a thread"
}  # fmt: skip
"""What samples, for messages."""


class WayFailed(Exception):
    """A way to sample cannot be used here, or has failed; the message says why."""

    def __init__(self, reason: str, fix: str | None = None) -> None:
        super().__init__(reason)
        self.fix = fix


@dataclass(frozen=True, slots=True)
class Request:
    """What to sample, and where to."""

    pid: int
    output: Path
    log: Path
    rate_hz: float
    idle: bool
    max_duration_s: float
    clock: Clock
    left: tuple[tuple[str, str], ...] = ()
    """Better ways that could not be used, and why."""

    @property
    def only(self) -> str:
        """Threads to sample, in the words of `helper.reader`."""
        return ALL_THREADS if self.idle else ON_CPU


def check_idle(idle: bool) -> None:
    """Raise `WayFailed` for a way that does not know which threads wait, if they are to be left out."""
    if not idle:
        raise WayFailed("only CPython's reader knows which threads wait", "leave out idle=False")


def has_other_interpreters() -> bool:
    """Return whether the program has subinterpreters, with which listing all frames may crash."""
    module = sys.modules.get(_INTERPRETERS) if _HAS_OTHERS else None
    return module is not None and len(module.list_all()) > 1


def check_frames() -> None:
    """Raise `WayFailed` for a way that reads frames of `sys._current_frames()`, if that might crash."""
    if sys.version_info < (3, 14) and not is_gil_enabled():
        reason = "without a GIL, CPython 3.13 cannot read the frames of other threads (python/cpython#152355)"
        raise WayFailed(reason, "use Python 3.14 or later")
    if sys.version_info >= (3, 13):  # earlier, the module is there if the program makes interpreters
        with suppress(ImportError):
            import _interpreters  # type: ignore[import-not-found] # noqa: F401 - the next function uses it
    if has_other_interpreters():
        raise other_interpreters()


def other_interpreters() -> WayFailed:
    """Return the failure of a way because the program has subinterpreters."""
    reason = "the program has subinterpreters, whose frames cannot be listed safely (python/cpython#158364)"
    return WayFailed(reason, "use a sampler outside the process")


class Way(Protocol):
    """One way to sample this process, from its start to its end; not thread-safe.

    Something may interrupt the methods for forks: they are called again then.
    """

    kind: Kind

    def start(self) -> None:
        """Start; raises `WayFailed`."""

    def is_running(self) -> bool:
        """Return whether the first stack has been read and written; raises `WayFailed`."""

    def has_ended(self) -> bool:
        """Return whether it has ended, and written all samples."""

    def stop(self) -> None:
        """Ask it to end; does nothing if it has."""

    def await_end(self) -> None:
        """Wait until it has ended after `stop`."""
        return

    def before_fork(self) -> None:
        """Make the process one that can fork."""
        return

    def after_fork(self) -> None:
        """Continue in the parent."""
        return

    def in_child(self) -> None:
        """Forget everything in a forked child, which has none of the threads and timers."""


class ThreadedWay(Way):
    """Way with a thread of its own, which ends before each fork: since 3.12, CPython warns otherwise."""

    _thread: BackgroundThread | None = None

    def has_ended(self) -> bool:
        return self._thread is None or not self._thread.is_alive()

    def await_end(self) -> None:
        if self._thread is not None:
            self._thread.await_end()

    def before_fork(self) -> None:
        self.stop()
        self.await_end()

    def in_child(self) -> None:
        self._thread = None
