"""Session manager: starts, shares and ends the session of this process, at most one at a time.

One lock guards everything here. It is only taken by `with`, which nothing interrupts between acquiring and
entering (see `process.locks`), so a KeyboardInterrupt cannot leak it. The hot path takes no lock.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import profkit.stats  # noqa: F401 - counters need it later, when an import may fail
from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.config import CONFIG, Config
from profkit.errors import ProfilerBusy, SamplerError
from profkit.model.notes import Note, NoteCode
from profkit.model.session import Cover
from profkit.process.guard import reraise_program_error, reraise_signal_error
from profkit.process.locks import new_rlock
from profkit.samplers.inprocess import forks  # noqa: F401 - adds its hooks before those of this module
from profkit.samplers.registry import rungs
from profkit.session import activity
from profkit.session.counters import Counters, Policy
from profkit.session.delivery import Deliveries
from profkit.session.failures import Failures, ended_early
from profkit.session.installation import install
from profkit.session.joining import (
    Decision,
    Separations,
    decide,
    is_of_program,
    sharing_message,
)
from profkit.session.ladder import Refusals, Rungs
from profkit.session.opening import open_session
from profkit.session.session import Session
from profkit.session.ticker import EARLY_S

_POLL_S = 0.001
_LONGEST_FLUSH_S = 0.1


class SessionManager:
    """Owner of this process's session."""

    def __init__(
        self, config: Config = CONFIG, clock: Clock = SYSTEM_CLOCK,
        rungs: Rungs = rungs,
    ) -> None:  # fmt: skip
        self._config, self._clock, self._rungs = config, clock, rungs
        self.lock = new_rlock()
        self.session: Session | None = None
        self.policy = Policy()
        """Policy of the call that started the session."""
        self.deliveries = Deliveries(config.store_url)
        """Callbacks to call without the lock."""
        self.on_start: Callable[[], None] = lambda: None
        """Callback after the start of a session; the ticker's."""
        self._busy_starting = self._closed = False
        self._failures = Failures(clock, config.spool)
        self._refusals = Refusals(clock, self._failures.say_once)
        self._ended: Session | None = None
        """Last session; calls that outlive it are still counted there."""
        self._separations = Separations()
        self._covering: list[Cover] = []
        """Active regions to which whole segments belong."""

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
        if self._is_off():
            self._failures.note_children_off(counters)
            return False
        try:
            joined = self._enter(counters, own, tid)
        except Exception as error:  # noqa: BLE001 - logged, or raised for a strict policy
            reraise_program_error(error)
            self._failures.of_call(counters, error)
            return False
        counters.refused = not joined
        return joined

    def must_wait(self, counters: Counters) -> bool:
        """Return whether `enter` may block longer than an event loop should."""
        if not self.lock.acquire(blocking=False):  # as while the ticker begins a new segment
            return True
        self.lock.release()
        session = self.session
        joins = session is not None and session.options == counters.options and session.attachment
        return self._busy_starting or counters.covers or not joins

    def lock_is_mine(self) -> bool:
        """Return whether this thread is inside the manager, as in a signal handler or finalizer."""
        return self.lock._is_owned()  # type: ignore[attr-defined,no-any-return]

    def leave(self, counters: Counters, tid: int | None = None) -> None:
        """End the segment of a region to which whole segments belong.

        End the session too if its scope is "process" and no such region is left.
        """
        if self.lock_is_mine():
            return
        with self.lock:
            cover = Cover(counters.region.id, tid)
            if cover in self._covering:
                self._covering.remove(cover)
            session = self.session
            exclusive = session is not None and session.options.scope == "process"
            is_last = exclusive and not self._covering
            self._guarded(None, self._end_session if is_last else self._recover)

    def may_flush(self) -> bool:
        """Return whether to write a call that has ended takes only a small part of the time."""
        session = self.session
        return session is not None and session.calls.may_flush()

    def flush(self, counters: Counters) -> None:
        """Write what a region has counted, unless another thread is in here for long."""
        if self.lock_is_mine() or not self.lock.acquire(timeout=_LONGEST_FLUSH_S):
            return
        try:
            session = self.session
            if session is not None and counters.has_joined(session.id):
                self._guarded(None, lambda: session.flush(counters))
        finally:
            self.lock.release()

    def mention(self, counters: Counters) -> None:
        """Record a region that a compiler traced through in the session, if there is one."""
        if self._is_off() or self.lock_is_mine():
            return
        with self.lock:
            session = self.session
            if session is not None and session.open:
                self._guarded(None, lambda: session.mention(counters))

    def settle(self, counters: Counters) -> tuple[Path, ...]:
        """Write all data of a region to disk; return its session folders, newest first.

        Ends the segment only if something ran since it began. Raises for a strict policy.
        """
        if not self.lock_is_mine():
            with self.lock:
                self._guarded(counters, lambda: self._settle(counters))
        return tuple(self.spool / session for session in reversed(counters.sessions))

    def rotate(self) -> None:
        """End the segment and start another, with a short gap."""
        with self.lock:
            if self.session is not None:
                self._rotate(self.session, self.policy)

    def end_session(self, error: str | None = None) -> None:
        """End the session, if there is one; the next call starts another."""
        with self.lock:
            self._end_session(error)

    def end_without_sampler(self) -> None:
        """End the session because its sampler has ended; the next call may start another."""
        with self.lock:
            session = self.session
            if session is None:
                return
            if self._clock.monotonic_s() - session.segment_started_s < EARLY_S:
                session.ladder.refuse(ended_early(session.plan.sampler, EARLY_S))  # the next session says so
            self._end_session("the sampler ended unexpectedly")

    def close(self) -> None:
        """End the session; nothing is profiled afterwards."""
        self._closed = True
        with suppress(KeyboardInterrupt), self.lock:  # the program has ended: nothing is left to interrupt
            self._guarded(None, self._end_session)
            self._guarded(None, self._count_late_calls)
        if self.deliveries.used:
            self.deliveries.finish()

    def become_child(self) -> None:
        """Reset in a forked child: the session and the thread with the lock are the parent's."""
        self.lock = new_rlock()
        for session in (self.session, self._ended):
            if session is not None:
                session.forget()
        self.session = self._ended = None
        self._busy_starting = False
        self._covering.clear()
        self.deliveries.forget()
        self._failures.forget()
        self._refusals.forget()
        activity.keep_own(sys._getframe(1))

    def _is_off(self) -> bool:
        if self._closed:
            return True
        return not self._config.children and activity.is_child()

    def _enter(self, counters: Counters, own: int, tid: int | None) -> bool:
        deadline_s = self._clock.monotonic_s() + counters.policy.running_timeout_s
        while True:
            if not self._busy_starting:
                with self.lock:
                    if self._closed:
                        return False
                    cover = Cover(counters.region.id, tid) if counters.covers else None
                    joined = self._try_enter(counters, own, cover)
                    if joined and cover is not None:
                        self._cover(counters, cover)
                if joined is not None:
                    return joined
            if self._clock.monotonic_s() >= deadline_s:
                counters.skipped.append(None)
                return False
            self._clock.sleep(_POLL_S)

    def _try_enter(self, counters: Counters, own: int, cover: Cover | None) -> bool | None:
        """Return True if joined, False to run unprofiled, None to wait and try again."""
        session = self.session if self.session is not None and self.session.open else None
        busy, nested = activity.calls_under_way() > own, own > 1
        if not busy and not nested:
            self._covering.clear()  # left over after an exception of a signal handler
        if session is not None and not busy and not nested and session.ladder.may_retry():
            self._end_session()
            session = None
        current = session.options if session is not None else None
        decision = decide(current, counters.options, counters.policy, busy=busy, nested=nested)
        if session is None or decision is Decision.REPLACE:
            self._end_session()
            return self._start(counters, cover)
        if decision is Decision.WAIT:
            return None
        if decision is Decision.SKIP:
            counters.skipped.append(None)
            return False
        if decision is Decision.RAISE:
            raise ProfilerBusy(counters.region.key.label, session.holder)
        if counters.policy.strict:
            session.ladder.raise_if_unsampled()
        if decision is Decision.SHARE:
            label = counters.region.key.label
            if not is_of_program(session.counters):  # its code knows nothing of that session
                self._failures.say_once(sharing_message(label, session.holder))
            session.add_note(Note.of(NoteCode.OTHER_OPTIONS, label=label))
        age_s = self._clock.monotonic_s() - session.started_s if not busy and not nested else 0.0
        if self._separations.is_due(session, counters, age_s):
            self._end_session()
            return self._start(counters, cover)
        return self._join(session, counters, cover)

    def _join(self, session: Session, counters: Counters, cover: Cover | None) -> bool:
        try:
            if session.attachment is None and not session.manifest.truncated:
                self._begin_segment(session, counters.policy, cover)
            session.join(counters)
        except Exception as error:
            self._end_session(str(error) or type(error).__name__)
            if counters.policy.strict or not isinstance(error, SamplerError):
                raise
            reraise_signal_error(error)
            session.ladder.refuse(error)
            return self._start(counters, cover)
        return True

    def _start(self, counters: Counters, cover: Cover | None) -> bool:
        if self._failures.refuse(counters):
            return False
        self._count_late_calls()
        session = open_session(
            self.spool, counters.options, self._rungs, self._clock, self._refusals,
            strict=counters.policy.strict,
        )  # fmt: skip
        self.policy, self.session = counters.policy, session
        try:
            session.join(counters)
            self._begin_segment(session, counters.policy, cover)
        except BaseException as error:
            self._end_session(str(error) or type(error).__name__)
            raise
        self.on_start()
        return True

    def _begin_segment(self, session: Session, policy: Policy, new: Cover | None = None) -> None:
        """Begin a segment for the active covers, and for that of a region that is entered just now."""
        covers = (*self._covering, *(() if new is None else (new,)))
        self._busy_starting = True
        try:
            session.begin_segment(policy, covers)
        finally:
            self._busy_starting = False

    def _cover(self, counters: Counters, cover: Cover) -> None:
        self._covering.append(cover)
        try:
            self._guarded(counters, self._recover)
        except BaseException:
            self._covering.remove(cover)
            raise

    def _recover(self) -> None:
        """Rotate if the set of covering regions has changed."""
        session = self.session
        if session is None or session.manifest.truncated:
            return
        if set(self._covering) != set(session.covers):
            self._rotate(session, self.policy)

    def _rotate(self, session: Session, policy: Policy) -> None:
        try:
            session.end_segment(policy)
            self._begin_segment(session, policy)
        except KeyboardInterrupt:
            session.pause()
            raise

    def _settle(self, counters: Counters) -> None:
        self._count_late_calls()
        if not activity.calls_under_way():
            self._covering.clear()
        session = self.session
        if session is None or session.id not in counters.sessions:
            return
        session.drain()
        if session.attachment is None or (not session.calls_in_segment and not activity.calls_under_way()):
            return
        if activity.calls_under_way() or self._covering:
            self._rotate(session, counters.policy)
        else:
            session.sleep(counters.policy)

    def _end_session(self, error: str | None = None) -> None:
        session = self.session
        if session is None:
            return
        try:
            session.end(self.policy, error, last=self._closed)
        finally:
            if not session.open:  # else it was interrupted and continues
                self.session, self._ended = None, session
                self.deliveries.add(session)

    def _count_late_calls(self) -> None:
        if self._ended is not None:
            self._ended.drain()

    def _guarded(self, counters: Counters | None, step: Callable[[], None]) -> None:
        """Run a step; an error ends the session, and is raised only if the counters' policy is strict."""
        try:
            step()
        except Exception as error:
            reraise_program_error(error)
            self.fail(error)
            if counters is not None and counters.policy.strict:
                raise self._failures.explained(error) from error

    def fail(self, error: Exception) -> None:
        """End the session because of an error, which is logged once and kept with its runs."""
        session = self.session
        if session is not None and isinstance(error, SamplerError):
            session.ladder.refuse(error)
        reason = self._failures.of_session(session.options if session else None, error)
        try:
            self._end_session(reason)
        except Exception as later:  # noqa: BLE001 - logged
            reraise_program_error(later)
            self._failures.of_session(None, later)


MANAGER = SessionManager()
install(MANAGER)
