"""Forks of a process that is sampled from inside: they suspend sampling, and wait for what is starting.

The session manager imports this module before it adds hooks of its own, which therefore run first before a
fork: they wait for the ticker's thread, and that thread may wait for `Forks.lock`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from profkit.originals import REAL
from profkit.process.fork_hooks import HOOKS, Hooks
from profkit.process.locks import new_rlock

if TYPE_CHECKING:
    from typing import Protocol

    class Suspendable(Protocol):
        """What samples this process. Each method may be called again before the next one is."""

        def before_fork(self) -> None:
            """Make the process one that can fork."""

        def after_fork(self) -> None:
            """Continue in the parent."""

        def in_child(self) -> None:
            """Forget everything in a forked child."""


class Forks:
    """What samples this process, and the forks that suspend it: one after the other."""

    def __init__(self) -> None:
        self.live: list[Suspendable] = []
        self.lock = new_rlock()
        """Held during a fork, and while something starts: a fork beside a new subinterpreter would crash."""
        self._owned_before: dict[int, bool] = {}
        """By thread that forks: whether it had the lock before, in code that a signal handler interrupted."""

    def begin(self) -> None:
        """Make the process one that can fork."""
        thread = REAL.get_ident()
        if thread not in self._owned_before:
            self._owned_before[thread] = self._is_mine()
        if not self._is_mine():
            self.lock.acquire()
        for one in tuple(self.live):
            one.before_fork()

    def end(self) -> None:
        """Continue in the parent; does nothing without `begin`."""
        thread = REAL.get_ident()
        if thread not in self._owned_before:
            return
        for one in tuple(self.live):
            one.after_fork()
        if not self._owned_before[thread] and self._is_mine():
            self.lock.release()
        self._owned_before.pop(thread, None)

    def in_child(self) -> None:
        """Forget the threads and timers of the parent."""
        live, self.live, self.lock, self._owned_before = self.live, [], new_rlock(), {}
        for one in live:
            one.in_child()

    def _is_mine(self) -> bool:
        return self.lock._is_owned()  # type: ignore[attr-defined,no-any-return]


FORKS = Forks()
HOOKS.add(Hooks(FORKS.begin, FORKS.end, FORKS.in_child))
