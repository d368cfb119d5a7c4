"""Session manager: whether a call starts this process's session, joins it, waits for it or is skipped.

What a session does with calls that join is in `session.session`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace

import profkit.stats  # noqa: F401 - counters need it later, when an import may fail
from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.config import CONFIG, Config
from profkit.errors import ProfilerBusy, SamplerError
from profkit.model.notes import Note, NoteCode
from profkit.model.session import Cover
from profkit.process.guard import reraise_program_error, reraise_signal_error
from profkit.process.manifest import process_info
from profkit.samplers.inprocess import forks  # noqa: F401 - adds its hooks before those of this module
from profkit.samplers.options import SamplerOptions
from profkit.samplers.registry import list_fallbacks
from profkit.session import activity, windows
from profkit.session.counters import Counters, Policy
from profkit.session.failures import RETRY_AFTER_S
from profkit.session.fallbacks import ListFallbacks, RecentFailures
from profkit.session.joining import Separations, is_of_program
from profkit.session.owner import SessionOwner
from profkit.session.pushing import keep_pushing
from profkit.session.results import LONGEST_PAUSE_S
from profkit.session.session import Session
from profkit.session.ticker import Ticker
from profkit.store.clearing import keep_within

_POLL_S = 0.001
_LONGEST_FLUSH_S = 0.1


class SessionManager(SessionOwner):
    """Owner of this process's session."""

    def __init__(
        self, config: Config = CONFIG, clock: Clock = SYSTEM_CLOCK,
        list_fallbacks: ListFallbacks = list_fallbacks,
    ) -> None:  # fmt: skip
        super().__init__(config, clock)
        self._list_fallbacks = list_fallbacks
        self.session: Session | None = None
        self.on_start: Callable[[], None] = lambda: None
        """Callback after the start of a session; the ticker's."""
        self._recent = RecentFailures(clock, self._failures.say_once)
        self._ended: Session | None = None
        """Last session; calls that outlive it are still counted there."""
        self._interrupted: Session | None = None
        """Window that has failed, and is followed by another one later."""
        self._separations = Separations()

    def configure(self, **changes: str) -> None:
        """Change the limit of the spool, or where sessions are sent: members of `Config`."""
        self._config = replace(self._config, **changes)  # type: ignore[arg-type]

    def must_wait(self, counters: Counters) -> bool:
        """Return whether `enter` may block longer than an event loop should."""
        if not self.lock.acquire(blocking=False):  # as while the ticker begins a new segment
            return True
        self.lock.release()
        session = self.session
        joins = session is not None and windows.fits(session, counters.options) and session.attachment
        return self._is_starting() or counters.owns_segments or not joins

    def leave(self, counters: Counters, tid: int | None = None) -> None:
        """End the segment of a region to which whole segments belong.

        End the session too if its scope is "process" and no such region is left.
        """
        if self.lock_is_mine():
            return
        with self.lock:
            session, cover = self.session, Cover(counters.region.id, tid)
            if self._interrupted is not None:
                self._interrupted.leave(cover)
            if session is None:
                return
            session.leave(cover)
            is_last = session.options.scope == "process" and not session.active
            self._guarded(None, self._end_session if is_last else session.renew_covers)

    def may_flush(self) -> bool:
        """Return whether to write a call that has ended takes only a small part of the time."""
        session = self.session
        return session is not None and session.may_flush()

    def flush(self, counters: Counters) -> None:
        """Write what a region has counted, unless another thread is in here for long."""
        if self.lock_is_mine() or not self.lock.acquire(timeout=_LONGEST_FLUSH_S):
            return
        try:
            session = self.session
            if session is not None and counters.has_joined(session.id):
                self._guarded(None, lambda: session.write_calls([counters]))
        finally:
            self.lock.release()

    def mention(self, counters: Counters) -> None:
        """Record a region that a compiler traced through in the session, if there is one."""
        if self._closed or self.lock_is_mine():
            return
        with self.lock:
            session = self.session
            if session is not None and session.open:
                self._guarded(None, lambda: session.mention(counters))

    def tick(self) -> bool:
        """Let the session write its counts and enforce its limits; return False if none is left."""
        if not self.lock.acquire(blocking=False):
            return True  # a sampler is being started or stopped: leave it to the next tick
        try:
            self._guarded(None, self._tick_session)
            return self.session is not None or self._interrupted is not None
        finally:
            self.lock.release()

    def _tick_session(self) -> None:
        session, now_s = self.session, self._clock.monotonic_s()
        if session is None:
            if self._interrupted is not None and now_s >= self._interrupted.last_used_s + RETRY_AFTER_S:
                self._begin_window(self._interrupted)
            return
        if not windows.is_over(session, now_s):
            session.tick()
        if windows.is_over(session, now_s) or windows.must_resume(session):
            self._begin_window(session)
        self._put_away()

    def _begin_window(self, session: Session) -> None:
        """Start the session that follows one as long as a window, or one whose sampler has ended."""
        session.last_used_s = self._clock.monotonic_s()
        self.session, self._ended = self._new_session(session.options, session.policy), session
        try:
            windows.follow(self.session, session)
            self._interrupted = None
        finally:
            # Its folder may be sent and deleted now. What is still counted is written by the next session.
            self._ended = None
            self.deliveries.add(session)

    def rotate(self) -> None:
        """End the segment and start another, with a short gap."""
        with self.lock:
            if self.session is not None:
                self.session.rotate(self.session.policy)

    def end_session(self, error: str | None = None) -> None:
        """End the session, if there is one; the next call starts another."""
        with self.lock:
            self._end_session(error)

    def become_child(self) -> None:
        """Reset in a forked child: the session and the thread with the lock are the parent's."""
        super().become_child()
        for session in (self.session, self._ended):
            if session is not None:
                session.forget()
        self.session = self._ended = self._interrupted = None
        self._recent.forget()
        activity.keep_own(sys._getframe(1))

    def fail(self, error: Exception) -> None:
        """End the session because of an error, which is logged once and kept with its runs."""
        session = self.session
        if session is not None and isinstance(error, SamplerError):
            session.fallbacks.refuse(error)
        reason = self._failures.of_session(session.options if session else None, error)
        try:
            self._end_session(reason)
        except Exception as later:  # noqa: BLE001 - logged
            reraise_program_error(later)
            self._failures.of_session(None, later)
        if session is not None and windows.must_resume(session):
            self._interrupted = session

    def _is_starting(self) -> bool:
        """Return whether the lock is held while a sampler starts, which may take long."""
        session = self.session
        return session is not None and session.is_starting

    def _enter(self, counters: Counters, own: int, tid: int | None) -> bool:
        deadline_s = self._clock.monotonic_s() + counters.policy.running_timeout_s
        while True:
            if not self._is_starting():
                with self.lock:
                    if self._closed:
                        return False
                    joined = self._try_enter(counters, own, tid)
                if joined is not None:
                    return joined
            if self._clock.monotonic_s() >= deadline_s:
                counters.skipped.append(None)
                return False
            self._clock.sleep(_POLL_S)

    def _try_enter(self, counters: Counters, own: int, tid: int | None) -> bool | None:
        """Return True if joined, False to run unprofiled, None to wait and try again."""
        # `busy`: a region of another call context is active; `nested`: one of the same context is.
        busy, nested = activity.calls_under_way() > own, own > 1
        session = self._usable_session(is_idle=not busy and not nested)
        if session is None:
            return self._start(counters, tid)
        options, policy = counters.options, counters.policy
        exclusive = "process" in (session.options.scope, options.scope)
        fits = nested or (windows.fits(session, options) and not (exclusive and busy))
        if not fits and not busy:
            return self._start(counters, tid)
        if not fits and policy.on_busy == "wait":
            return None
        if not fits and policy.on_busy == "raise" and policy.strict:
            raise ProfilerBusy(counters.region.key.label, session.holder)
        if not fits and (policy.on_busy != "share" or exclusive):
            counters.skipped.append(None)
            return False
        if policy.strict:
            session.fallbacks.raise_if_unsampled()
        if not fits:
            self._note_sharing(session, counters)
        age_s = self._clock.monotonic_s() - session.started_s if not busy and not nested else 0.0
        if self._separations.is_due(session, counters, age_s):
            return self._start(counters, tid)
        return self._join(session, counters, tid)

    def _usable_session(self, *, is_idle: bool) -> Session | None:
        """Return the session if calls may join it; not an idle one whose sampler may be tried again."""
        session = self.session if self.session is not None and self.session.open else None
        if session is not None and is_idle:
            session.active.clear()  # left over after an exception of a signal handler
            if session.fallbacks.may_retry():
                return None
        return session

    def _note_sharing(self, session: Session, counters: Counters) -> None:
        label = counters.region.key.label
        if not is_of_program(session.counters):  # its code knows nothing of that session
            self._failures.say_once(
                f"{label!r} shares the session that {session.holder!r} started with other sampler options; "
                "its run records the options in effect"
            )
        session.add_note(Note.of(NoteCode.OTHER_OPTIONS, label=label))

    def _join(self, session: Session, counters: Counters, tid: int | None) -> bool:
        try:
            session.join(counters, counters.policy, _cover_of(counters, tid))
        except Exception as error:
            self._end_session(str(error) or type(error).__name__)
            if counters.policy.strict or not isinstance(error, SamplerError):
                raise
            reraise_signal_error(error)
            session.fallbacks.refuse(error)
            return self._start(counters, tid)
        return True

    def _start(self, counters: Counters, tid: int | None) -> bool:
        """Start a session in the place of the one that there may be, with this call."""
        self._end_session()
        if self._failures.refuse(counters):
            return False
        self._count_late_calls()
        self.session = session = self._new_session(counters.options, counters.policy)
        try:
            session.join(counters, counters.policy, _cover_of(counters, tid))
        except BaseException as error:
            self._end_session(str(error) or type(error).__name__)
            raise
        self.on_start()
        return True

    def _new_session(self, options: SamplerOptions, policy: Policy) -> Session:
        """Return a session with a folder and no segment yet; raises as `Session` does."""
        keep_within(self.spool, self._config.spool_limit, self._failures.say_once, self._clock)
        session = Session(
            self.spool, self._list_fallbacks, self._recent, options, policy, process_info(), self._clock
        )  # fmt: skip
        if self._config.push:
            keep_pushing(self.spool, self._config.push, self._failures.say_once)
        return session

    def _settle(self, counters: Counters) -> None:
        self._guarded(counters, lambda: self._write_all(counters))

    def _write_all(self, counters: Counters) -> None:
        """Write a region's data; end the segment only if something ran since it began."""
        self._count_late_calls()
        session = self.session
        if session is None or session.id not in counters.sessions:
            return
        is_busy = bool(activity.calls_under_way())
        if not is_busy:
            session.active.clear()
        session.drain()
        if session.attachment is None or not (session.calls_in_segment or is_busy):
            return
        if is_busy or session.active:
            session.rotate(counters.policy)
        else:
            session.sleep(counters.policy)

    def _close(self) -> None:
        self._guarded(None, self._end_session)
        self._guarded(None, self._count_late_calls)

    def _end_session(self, error: str | None = None) -> None:
        if self.session is not None:
            try:
                self.session.end(error, last=self._closed)
            finally:
                self._put_away()

    def _put_away(self) -> None:
        """Make room for another session if this one has ended; else it was interrupted and continues."""
        session = self.session
        if session is not None and not session.open:
            self.session, self._ended = None, session
            self.deliveries.add(session)

    def _count_late_calls(self) -> None:
        if self._ended is not None:
            self._ended.drain()

    def _guarded(self, counters: Counters | None, step: Callable[[], object]) -> None:
        """Run a step; an error ends the session, and is raised only if the counters' policy is strict."""
        try:
            step()
        except Exception as error:
            reraise_program_error(error)
            self.fail(error)
            if counters is not None and counters.policy.strict:
                raise self._failures.explained(error) from error


def _cover_of(counters: Counters, tid: int | None) -> Cover | None:
    return Cover(counters.region.id, tid) if counters.owns_segments else None


def _install(manager: SessionManager) -> None:
    """Have this process tick and end the manager's sessions, and fork without their threads."""
    ticker = Ticker(manager.tick, lambda: manager.session, manager.deliveries)

    def begin() -> None:
        ticker.start()
        manager.close_if_spawned()

    def stop_threads() -> None:
        # Since 3.12 CPython warns if a process with several threads forks. The ticker may be waiting for the
        # lock that `forks` takes then, and a callback for one that the thread that forks holds.
        ticker.stop()
        manager.deliveries.wait(LONGEST_PAUSE_S)

    manager.on_start = begin
    manager.install(stop_threads, ticker.restart)


MANAGER = SessionManager()
_install(MANAGER)
