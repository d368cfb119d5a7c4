"""Recorder of memory: tracks one call at a time with memray, and skips others; each has its own capture.

It has the place of the session manager for regions with `mode="memory"`. Nothing here parses captures.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.config import CONFIG, Config
from profkit.errors import SamplerError
from profkit.model.region import MEMRAY
from profkit.model.session import Capture, Manifest, SamplerPlan, SessionState
from profkit.originals import REAL
from profkit.process.manifest import process_info
from profkit.samplers.memray.captures import capture_name
from profkit.samplers.memray.tracker import TrackerBusy, Tracking, start_tracking, stop_all, version
from profkit.session.activity import OPEN_BLOCKS
from profkit.session.counters import Counters
from profkit.session.owner import SessionOwner
from profkit.session.record import SessionRecord
from profkit.store import spool as files
from profkit.store.clearing import keep_within

MOST_CAPTURES = 1000
"""Tracked calls per session; more begin another one, so that no run has too many."""


class MemorySession(SessionRecord):
    """Session with a capture for each tracked call, until the process ends or there are many captures."""

    def __init__(self, config: Config, clock: Clock, say: Callable[[str], None]) -> None:
        """Make a session with a folder; raises OSError, and leaves nothing behind then."""
        keep_within(config.spool, config.spool_limit, say, clock)
        process = process_info()
        manifest = Manifest(
            files.new_session_id(process.pid), SessionState.RUNNING, clock.unix_ns(), process,
            SamplerPlan.unknown(MEMRAY, scope="process"), sampler_version=version(),
        )  # fmt: skip
        super().__init__(config.spool, manifest, clock)
        self.captures = 0
        """Number of captures so far."""

    def begin(self, capture: Capture) -> None:
        """Record that a call begins; raises OSError if the disk is full."""
        self.write_regions()
        self.append((capture,))

    def finish(self, capture: Capture) -> None:
        """Record that a call has ended, and the counts until now."""
        self.append((replace(capture, ended=True),))
        self.drain()

    def end(self) -> None:
        """Write remaining counts and close the folder; raises OSError if the disk is full."""
        self.drain()
        self.change(state=SessionState.SUCCESS, ended_ns=self._clock.unix_ns())


@dataclass(frozen=True, slots=True)
class _Tracked:
    counters: Counters
    capture: Capture
    tracking: Tracking

    def is_under_way(self, entering: Counters) -> bool:
        """Return whether the call goes on; if not, an interrupt came between its start and its body.

        The call of `entering` that is about to begin is none.
        """
        blocks = sum(block.counters is self.counters for block in list(OPEN_BLOCKS))
        return len(self.counters.callers) + blocks > (self.counters is entering)


class MemoryRecorder(SessionOwner):
    """Owner of this process's memory session."""

    def __init__(self, config: Config = CONFIG, clock: Clock = SYSTEM_CLOCK) -> None:
        super().__init__(config, clock)
        self.session: MemorySession | None = None
        self._tracked: _Tracked | None = None

    def must_wait(self, counters: Counters) -> bool:
        """Return False: whoever is late is not tracked."""
        return False

    def leave(self, counters: Counters, tid: int | None = None) -> None:
        """End the tracking of a region's call, and count it."""
        tracked = self._tracked
        if tracked is None or tracked.counters is not counters:
            return
        tracked.tracking.stop()  # before anything that allocates
        with self.lock:
            self._finish(tracked)

    def mention(self, counters: Counters) -> None:
        """Record a region that a compiler traced through in the session, if there is one."""
        if self._closed or self.lock_is_mine():
            return
        with self.lock:
            if self.session is not None:
                self.session.mention(counters)

    def become_child(self) -> None:
        """Reset in a forked child: session and capture are the parent's."""
        self._tracked = None
        super().become_child()
        if self.session is not None:
            self.session.forget()
        self.session = None

    def _enter(self, counters: Counters, own: int, tid: int | None) -> bool:
        joined = False
        with self.lock:
            if not self._failures.refuse(counters):
                joined = self._track(counters)
        return joined  # after `with`: within it, an interrupt of the return could leak the lock

    def _settle(self, counters: Counters) -> None:
        if self.session is not None:
            self.session.drain()

    def _track(self, counters: Counters) -> bool:
        if self._tracked is not None and not self._tracked.is_under_way(counters):
            self._tracked.tracking.stop()
            self._finish(self._tracked)
        if self._tracked is not None:
            self._refuse(counters, self._tracked.counters)
            return False
        stop_all()
        session = self._current()
        session.mention(counters)
        capture = Capture(
            session.captures, counters.region.id, self._clock.unix_ns(), REAL.get_native_id(),
            threading.current_thread().name,
        )  # fmt: skip
        # Counted even if the start fails: its number may be taken by a file.
        session.captures += 1
        file = session.folder / capture_name(capture.index)
        tracking = start_tracking(file.absolute(), python_allocators=counters.options.python_allocators)
        try:
            session.begin(capture)
            self._tracked = _Tracked(counters, capture, tracking)
        except BaseException:
            tracking.stop()
            file.unlink(missing_ok=True)
            raise
        return True

    def _refuse(self, counters: Counters, holder: Counters) -> None:
        """Count and log a call during the tracked one."""
        if self.session is not None:
            self.session.mention(counters)
        counters.skipped.append(None)
        label, of = counters.region.key.label, holder.region.key.label
        if counters is holder:
            self._failures.say_once(
                f"{label!r} is called by several threads at once, and memory is tracked in one call at a "
                "time: what the others allocate is part of that call; call it from one thread to have each "
                "call's peak"
            )
            return
        self._failures.say_once(
            f"{label!r} is not tracked during a call of {of!r}: a process has one tracker of memory. What it "
            f"allocates is part of the run of {of!r}; set mode='memory' on one of the two"
        )

    def _current(self) -> MemorySession:
        """Return the session, a new one if there is none with room for another capture."""
        if self.session is not None and self.session.captures >= MOST_CAPTURES:
            self._close()
            self.deliveries.call_in_background()
        if self.session is None:
            self.session = MemorySession(self._config, self._clock, self._failures.say_once)
            self.close_if_spawned()
        return self.session

    def _finish(self, tracked: _Tracked) -> None:
        """Note that a call has ended; its tracker has been stopped."""
        if self._tracked is not tracked:
            return
        self._tracked = None
        if self.session is not None:
            self.session.finish(tracked.capture)

    def _close(self) -> None:
        """End the session, also if a call is under way, as at exit from a thread."""
        tracked, session = self._tracked, self.session
        if tracked is not None:
            tracked.tracking.stop()
            self._finish(tracked)
        self.session = None
        if session is not None:
            session.end()
            self.deliveries.add(session)

    def _fail_call(self, counters: Counters, error: Exception) -> None:
        if isinstance(error, TrackerBusy):  # it may be over before the next call
            if counters.policy.strict:
                raise error
            self._failures.say_once(f"{counters.region.key.label!r} runs unprofiled: {error}")
            return
        self._failures.of_call(counters, error)
        if not isinstance(error, SamplerError):
            self.session = None  # its folder cannot be written


def _nothing() -> None: ...


RECORDER = MemoryRecorder()
RECORDER.install(_nothing, _nothing)
