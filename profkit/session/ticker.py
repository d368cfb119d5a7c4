"""Ticker: a daemon thread that each second writes counts and resources, and enforces limits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, TypeVar

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.model.session import SessionState, ThreadName
from profkit.originals import REAL
from profkit.process.background import BackgroundThread
from profkit.process.guard import LOG, ignore, reraise_program_error
from profkit.samplers.options import UNLIMITED_S
from profkit.session import activity
from profkit.session.session import Session
from profkit.session.tasks import TaskLooks
from profkit.session.thread_names import SEEN, ThreadNames

if TYPE_CHECKING:
    from threading import Lock, _RLock

    from profkit.session.counters import Policy
    from profkit.session.delivery import Deliveries

_T = TypeVar("_T")

TICK_S = 1.0
IDLE_END_S = 10.0
SEGMENT_S = 60.0
EARLY_S = 5.0
"""Age of a segment below which a sampler that ends without a request counts as a failed start."""
LONGEST_STOP_S = 5.0
"""Maximum time for which a fork waits for a tick, such as on a slow disk."""
SAMPLER_BYTES = 100 * 2**20


class Ticked(Protocol):
    """What the ticker uses of the session manager; every method needs its lock."""

    lock: _RLock

    @property
    def session(self) -> Session | None:
        """The current session."""

    @property
    def deliveries(self) -> Deliveries:
        """Callbacks to call; they are the program's, and must hold up nothing."""

    @property
    def policy(self) -> Policy:
        """Behaviour of the session's steps."""

    def end_session(self) -> None:
        """End the session."""

    def end_without_sampler(self) -> None:
        """End a session whose sampler ended unexpectedly."""

    def rotate(self) -> None:
        """Begin a new segment."""

    def fail(self, error: Exception) -> None:
        """End a session after an error."""


def _attempt(duty: Callable[[], _T], doing: str) -> _T | None:
    """Do one duty; return None if it fails, which is logged: the others go on."""
    try:
        return duty()
    except Exception as error:  # noqa: BLE001 - logged
        ignore(error, doing)
        return None


class Ticker:
    """Thread that ticks while the manager has a session; a new session restarts it."""

    def __init__(self, manager: Ticked, clock: Clock = SYSTEM_CLOCK) -> None:
        self._manager, self._clock = manager, clock
        self._thread: BackgroundThread | None = None
        self._stop = REAL.allocate_lock()
        """Held while the thread should continue."""
        self._named: str | None = None
        self._names = ThreadNames(str)
        """Names recorded last, of session `_named`."""

    def start(self) -> None:
        """Start the thread unless it runs; do nothing at interpreter shutdown, when that fails."""
        if self._thread is not None and self._thread.is_alive():
            return
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
        if self._manager.session is not None:
            self.start()

    def tick(self) -> bool:
        """Write counts and enforce the limits; return False if no session is left."""
        if not self._manager.lock.acquire(blocking=False):
            return True  # a sampler is being started or stopped: leave it to the next tick
        try:
            session = self._manager.session
            if session is None:
                return False
            try:
                self._check(session)
            except Exception as error:  # noqa: BLE001 - logged, and kept with the session
                reraise_program_error(error)
                self._manager.fail(error)
            return self._manager.session is not None
        finally:
            self._manager.lock.release()

    def _run(self, stop: Lock) -> None:
        looks, waited_s = TaskLooks(), 0.0
        try:
            while not stop.acquire(timeout=min(looks.pause_s, TICK_S - waited_s)):
                waited_s += min(looks.pause_s, TICK_S - waited_s)
                _attempt(lambda: looks.look(self._manager.session), "looking at tasks")
                if waited_s < TICK_S:
                    continue
                waited_s = 0.0
                has_session = _attempt(self.tick, "counting calls in the background")
                _attempt(self._manager.deliveries.call_in_background, "calling on_run")
                if has_session is False:
                    return
        except Exception as error:  # noqa: BLE001 - the program's, thrown into this thread
            LOG.debug("profkit's thread was ended", exc_info=error)

    def _check(self, session: Session) -> None:
        session.drain()
        now_s = self._clock.monotonic_s()
        if activity.calls_under_way():
            session.last_used_s = now_s
        elif now_s - session.last_used_s >= IDLE_END_S:
            self._manager.end_session()
            return
        session.write_resources(self._new_names(session))
        if session.ladder.may_retry():
            session.pause()  # the next call starts another one
        attachment = session.attachment
        if attachment is None or not session.takes_samples:
            return
        # Polling a remote sampler starts a process, and its samples are kept elsewhere: only limit its time.
        here = attachment.segment().remote_id is None
        is_running = not here or attachment.poll() is SessionState.RUNNING
        if is_running and now_s - session.segment_started_s >= EARLY_S:
            session.ladder.succeed()
        if not is_running:
            session.end_segment(self._manager.policy)
            self._manager.end_without_sampler()
        elif now_s - session.started_s >= session.plan.max_duration_s:
            session.truncate(self._manager.policy)
        elif here and (
            session.check_stops()
            or now_s - session.segment_started_s >= SEGMENT_S
            or attachment.resident_bytes() >= SAMPLER_BYTES
        ):
            self._manager.rotate()
            if session.options.max_duration_s >= UNLIMITED_S:
                session.thin_out()

    def _new_names(self, session: Session) -> tuple[ThreadName, ...]:
        """Return names of threads that the sampler does not see, and that the session does not have."""
        seen = SEEN.get(session.plan.sampler)
        if session.attachment is None or seen is None:
            return ()
        if self._named != session.id:
            self._named, self._names = session.id, ThreadNames(seen)
        return self._names.new()
