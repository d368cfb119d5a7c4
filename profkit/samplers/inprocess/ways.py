"""What the ways to sample from inside a process have in common."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from profkit.clock import Clock
from profkit.samplers.helper.reader import ALL_THREADS, ON_CPU


class Kind(enum.Enum):
    """How stacks are read; the value is the word in journals, notes and JSON."""

    INTERPRETER = "interpreter"
    """By CPython's own reader, in a subinterpreter that has a GIL of its own."""
    TIMER = "timer"
    """In a signal handler of the main thread."""
    THREAD = "thread"
    """By a thread of the program."""


FASTEST_HZ = {Kind.INTERPRETER: 1000.0, Kind.TIMER: 100.0, Kind.THREAD: 100.0}
"""Maximum rates: each sample of the last two needs the GIL."""


class WayFailed(Exception):
    """A way to sample cannot be used here, or has failed; the message says why."""


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

    @property
    def only(self) -> str:
        """Threads to sample, in the words of `helper.reader`."""
        return ALL_THREADS if self.idle else ON_CPU


def check_idle(idle: bool) -> None:
    """Raise `WayFailed` for a way that does not know which threads wait, if they are to be left out."""
    if not idle:
        raise WayFailed("only CPython's reader knows which threads wait")


class Way(Protocol):
    """One way to sample this process, from its start to its end; not thread-safe.

    Something may interrupt the methods for forks: they are called again then.
    """

    kind: Kind

    def start(self) -> None:
        """Start; raises `WayFailed`."""
        ...

    def is_running(self) -> bool:
        """Return whether the first stack has been read and written; raises `WayFailed`."""
        ...

    def has_ended(self) -> bool:
        """Return whether it has ended, and written all samples."""
        ...

    def stop(self) -> None:
        """Ask it to end; does nothing if it has."""
        ...

    def await_end(self) -> None:
        """Wait until it has ended after `stop`."""
        ...

    def before_fork(self) -> None:
        """Make the process one that can fork."""
        ...

    def after_fork(self) -> None:
        """Continue in the parent."""
        ...

    def in_child(self) -> None:
        """Forget everything in a forked child, which has none of the threads and timers."""
        ...
