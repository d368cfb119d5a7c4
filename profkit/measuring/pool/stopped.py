"""Find helper processes that somebody has stopped: they end by themselves as little as they answer.

The side that waits for an answer looks at those who owe it, once a second, and only while nothing comes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from profkit.clock import Clock
from profkit.measuring.worker.orphans import is_stopped

LOOK_S = 1.0
"""How often helpers are looked at. One that is found stopped twice in a row counts as dead, so within 2 s:
what stops a program with everything around it, and lets all go on, is not to end them."""


class Lookout:
    """Tells who stays stopped."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._last_s = clock, float("-inf")
        self._seen: frozenset[int] = frozenset()

    def stays_stopped(self, find: Callable[[], Iterable[int]]) -> frozenset[int]:
        """Of those that `find` names, return who is stopped now and was at the look before.

        Looks once a second at most, and returns nobody in between.
        """
        now_s = self._clock.monotonic_s()
        if now_s - self._last_s < LOOK_S:
            return frozenset()
        before, self._last_s = self._seen, now_s
        self._seen = frozenset(pid for pid in find() if is_stopped(pid))
        return self._seen & before


def socket_number(descriptor: int) -> int:
    """What /proc calls the socket behind a descriptor."""
    return os.fstat(descriptor).st_ino


def holders(number: int) -> set[int]:
    """The other processes that have a socket open, as far as this user may see.

    Tells helpers apart before they can say who they are: they may be stopped in their first moment.
    """
    wanted, own = f"socket:[{number}]", os.getpid()
    pids = (int(name) for name in os.listdir("/proc") if name.isdecimal())
    return {pid for pid in pids if pid != own and wanted in _open_files(pid)}


def _open_files(pid: int) -> set[str]:
    folder = f"/proc/{pid}/fd"
    found: set[str] = set()
    try:
        for name in os.listdir(folder):
            found.add(os.readlink(f"{folder}/{name}"))
    except OSError:  # of another user, or gone; what was closed meanwhile is found at the next look
        return found
    return found
