"""Owner of this process's session: its lock, exit, forks and errors, for manager and recorder of memory."""

from __future__ import annotations

import atexit
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from profkit.clock import Clock
from profkit.config import Config
from profkit.process.fork_hooks import HOOKS, Hooks
from profkit.process.guard import guarded, reraise_program_error
from profkit.process.locks import new_rlock
from profkit.session import activity
from profkit.session.counters import Counters
from profkit.session.failures import Failures
from profkit.session.results import Deliveries


class SessionOwner(ABC):
    """Object that starts and ends the session of this process.

    One lock guards everything here. It is only taken by `with`, which nothing interrupts between acquiring
    and entering (see `process.locks`), so a KeyboardInterrupt cannot leak it. The hot path takes no lock.
    """

    def __init__(self, config: Config, clock: Clock) -> None:
        self._config, self._clock = config, clock
        self.lock = new_rlock()
        self.deliveries = Deliveries(config.store_url)
        """Callbacks to call without the lock."""
        self._failures = Failures(clock, config.spool)
        self._closed = False
        self._close_at_exit = guarded("ending the session at exit", self.close)

    @property
    def spool(self) -> Path:
        """Folder of the session folders."""
        return self._config.spool

    def enter(self, counters: Counters, own: int, tid: int | None = None) -> bool:
        """Have a session count this region; return False if the call runs unprofiled.

        `own` is the number of active region calls on the caller's stack, this one included. A region
        to which whole segments belong must `leave` afterwards; `tid` is the thread that they cover,
        None for every thread. Raises only for a strict policy.
        """
        counters.refused = True
        if self._closed or self.lock_is_mine():
            return False
        if not self._config.children and activity.is_child():
            self._failures.note_children_off(counters)
            return False
        try:
            joined = self._enter(counters, own, tid)
        except Exception as error:  # noqa: BLE001 - logged, or raised for a strict policy
            reraise_program_error(error)
            self._fail_call(counters, error)
            return False
        counters.refused = not joined
        return joined

    def lock_is_mine(self) -> bool:
        """Return whether this thread is in here already, as in a signal handler or finalizer."""
        return self.lock._is_owned()  # type: ignore[attr-defined,no-any-return]

    @abstractmethod
    def must_wait(self, counters: Counters) -> bool:
        """Return whether `enter` may block longer than an event loop should."""

    @abstractmethod
    def leave(self, counters: Counters, tid: int | None = None) -> None:
        """End what `enter` has begun for a region to which whole segments, or captures, belong."""

    @abstractmethod
    def mention(self, counters: Counters) -> None:
        """Record a region that a compiler traced through in the session, if there is one."""

    def settle(self, counters: Counters) -> tuple[Path, ...]:
        """Write all data of a region to disk; return its session folders, newest first.

        Raises for a strict policy.
        """
        if not self.lock_is_mine():
            with self.lock:
                self._settle(counters)
        return tuple(self.spool / session for session in reversed(counters.sessions))

    def close(self) -> None:
        """End the session; nothing is profiled afterwards."""
        self._closed = True
        with suppress(KeyboardInterrupt), self.lock:  # the program has ended: nothing is left to interrupt
            self._close()
        self.deliveries.finish()

    def become_child(self) -> None:
        """Reset in a forked child: the session and the thread with the lock are the parent's."""
        self.lock = new_rlock()
        self.deliveries.forget()
        self._failures.forget()

    def install(self, before_fork: Callable[[], object], after_fork: Callable[[], object]) -> None:
        """Have this process end the session at its exit, and reset it in forked children."""
        HOOKS.add(Hooks(before_fork, after_fork, self.become_child))
        atexit.register(self._close_at_exit)

    def close_if_spawned(self) -> None:
        """Have workers of multiprocessing end the session: those that are forked run no exit handlers."""
        if activity.is_spawned():
            sys.modules["multiprocessing.util"].Finalize(None, self._close_at_exit, exitpriority=0)

    @abstractmethod
    def _enter(self, counters: Counters, own: int, tid: int | None) -> bool: ...

    def _fail_call(self, counters: Counters, error: Exception) -> None:
        """Log why a call was not profiled; raise it for a strict policy."""
        self._failures.of_call(counters, error)

    @abstractmethod
    def _settle(self, counters: Counters) -> None: ...

    @abstractmethod
    def _close(self) -> None: ...
