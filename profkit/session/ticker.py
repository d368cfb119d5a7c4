"""Ticker: the daemon thread in which a session writes its data each second, and tasks are looked at."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from profkit.originals import REAL
from profkit.process.background import BackgroundThread
from profkit.process.guard import LOG, ignore
from profkit.session.results import Deliveries
from profkit.session.session import Session
from profkit.session.tasks import TaskLooks

if TYPE_CHECKING:
    from threading import Lock

_T = TypeVar("_T")

TICK_S = 1.0
LONGEST_STOP_S = 5.0
"""Maximum time for which a fork waits for a tick, such as on a slow disk."""


class Ticker:
    """Thread that ticks while there is a session; a new session restarts it.

    `tick` returns whether there still is one. `deliveries` call the program, and must hold up nothing.
    """

    def __init__(
        self, tick: Callable[[], bool], session: Callable[[], Session | None], deliveries: Deliveries
    ) -> None:
        self._tick, self._session, self._deliveries = tick, session, deliveries
        self._thread: BackgroundThread | None = None
        self._due_s = 0.0
        """Time of the next tick; a program that forks often must not put it off each time."""
        self._stop = REAL.allocate_lock()
        """Held while the thread should continue."""

    def start(self) -> None:
        """Start the thread unless it runs; do nothing at interpreter shutdown, when that fails."""
        if self._thread is not None and self._thread.is_alive():
            return
        now_s = REAL.monotonic()
        if self._due_s < now_s - TICK_S:
            self._due_s = now_s + TICK_S
        stop = self._stop = REAL.allocate_lock()
        stop.acquire()
        # No `partial`: with it, Python 3.14's reader does not see that this is profkit's own thread.
        self._thread = BackgroundThread(lambda: self._run(stop))
        try:
            self._thread.start()
        except RuntimeError:
            self._thread = None

    def stop(self) -> None:
        """End the thread and wait some seconds for it; call it again if something interrupts it."""
        thread = self._thread
        if thread is None:
            return
        with suppress(RuntimeError):  # another thread that forks has just released it
            if self._stop.locked():
                self._stop.release()
        if not thread.is_current():
            thread.await_end(LONGEST_STOP_S)
        if self._thread is thread:  # else another one has been started meanwhile
            self._thread = None

    def restart(self) -> None:
        """Start again after a fork, if there is still a session."""
        if self._session() is not None:
            self.start()

    def _run(self, stop: Lock) -> None:
        looks = TaskLooks()
        try:
            while not stop.acquire(timeout=max(0.0, min(looks.pause_s, self._due_s - REAL.monotonic()))):
                _attempt(lambda: looks.look(self._session()), "looking at tasks")
                if REAL.monotonic() < self._due_s:
                    continue
                self._due_s = REAL.monotonic() + TICK_S
                has_session = _attempt(self._tick, "counting calls in the background")
                _attempt(self._deliveries.call_in_background, "calling on_run")
                if has_session is False:
                    return
        except Exception as error:  # noqa: BLE001 - the program's, thrown into this thread
            LOG.debug("profkit's thread was ended", exc_info=error)


def _attempt(duty: Callable[[], _T], doing: str) -> _T | None:
    """Do one duty; return None if it fails, which is logged: the others go on."""
    try:
        return duty()
    except Exception as error:  # noqa: BLE001 - logged
        ignore(error, doing)
        return None
