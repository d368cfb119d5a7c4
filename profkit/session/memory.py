"""Recorder of memory: tracks one call at a time with memray, each in a capture of its own.

It has the place of the session manager for regions with `mode="memory"`. One lock guards everything, taken as
that of the manager. A session goes on until the process ends, or has many captures; nothing here parses them.
"""

from __future__ import annotations

import atexit
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.config import CONFIG, Config
from profkit.errors import SamplerError
from profkit.model.session import Capture
from profkit.originals import REAL
from profkit.process.fork_hooks import HOOKS, Hooks
from profkit.process.guard import guarded, reraise_program_error
from profkit.process.locks import new_rlock
from profkit.samplers.memray.captures import capture_name
from profkit.samplers.memray.tracker import TrackerBusy, Tracking, start_tracking, stop_all
from profkit.session import activity
from profkit.session.activity import OPEN_BLOCKS, is_spawned
from profkit.session.counters import Counters
from profkit.session.delivery import Deliveries
from profkit.session.failures import Failures
from profkit.session.memory_session import MemorySession

MOST_CAPTURES = 1000
"""Tracked calls per session; more begin another one, so that no run has too many."""


@dataclass(frozen=True, slots=True)
class _Tracked:
    """The call that is being tracked."""

    counters: Counters
    capture: Capture
    tracking: Tracking

    def is_under_way(self, entering: Counters) -> bool:
        """Return whether the call goes on; if not, an interrupt came between its start and its body.

        The call of `entering` that is about to begin is none.
        """
        blocks = sum(block.counters is self.counters for block in list(OPEN_BLOCKS))
        return len(self.counters.callers) + blocks > (self.counters is entering)


class MemoryRecorder:
    """Owner of this process's memory session; for its methods see `SessionManager`."""

    def __init__(self, config: Config = CONFIG, clock: Clock = SYSTEM_CLOCK) -> None:
        self._config, self._clock = config, clock
        self.lock = new_rlock()
        self.session: MemorySession | None = None
        self._tracked: _Tracked | None = None
        self._closed = False
        self._failures = Failures(clock, config.spool)
        self._deliveries = Deliveries(config.store_url)

    @property
    def spool(self) -> Path:
        """Folder of the session folders."""
        return self._config.spool

    def enter(self, counters: Counters, own: int, tid: int | None = None) -> bool:
        """Track a call; return False if it runs untracked. Raises only for a strict policy."""
        counters.refused = True
        if self._closed or self.lock_is_mine():
            return False
        if not self._config.children and activity.is_child():
            self._failures.note_children_off(counters)
            return False
        try:
            with self.lock:
                if self._failures.refuse(counters):
                    return False
                entered = self._enter(counters)
        except Exception as error:  # noqa: BLE001 - logged, or raised for a strict policy
            reraise_program_error(error)
            self._fail(counters, error)
            return False
        counters.refused = not entered
        return entered

    def must_wait(self, counters: Counters) -> bool:
        """Return False: whoever is late is not tracked."""
        return False

    def lock_is_mine(self) -> bool:
        """Return whether this thread is inside the recorder, as in a signal handler or finalizer."""
        return self.lock._is_owned()  # type: ignore[attr-defined,no-any-return]

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

    def settle(self, counters: Counters) -> tuple[Path, ...]:
        """Write all counts of a region; return its session folders, newest first."""
        if not self.lock_is_mine():
            with self.lock:
                if self.session is not None:
                    self.session.drain()
        return tuple(self.spool / session for session in reversed(counters.sessions))

    def close(self) -> None:
        """End the session; nothing is tracked afterwards."""
        self._closed = True
        with suppress(KeyboardInterrupt), self.lock:
            self._end()
        self._deliveries.finish()

    def become_child(self) -> None:
        """Reset in a forked child: session and capture are the parent's."""
        self._tracked = None
        self.lock = new_rlock()
        if self.session is not None:
            for counters in self.session.counters:
                counters.forget()
        self.session = None
        self._deliveries.forget()
        self._failures.forget()

    def _enter(self, counters: Counters) -> bool:
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
            session.append_capture(capture)
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
            self._end()
            self._deliveries.call_in_background()
        if self.session is None:
            self.session = MemorySession.open(self._config, self._clock, self._failures.say_once)
            _register()
        return self.session

    def _finish(self, tracked: _Tracked) -> None:
        """Note that a call has ended; its tracker has been stopped."""
        if self._tracked is not tracked:
            return
        self._tracked = None
        if self.session is not None:
            self.session.finish(tracked.capture)

    def _end(self) -> None:
        """End the session, also if a call is under way, as at exit from a thread."""
        tracked, session = self._tracked, self.session
        if tracked is not None:
            tracked.tracking.stop()
            self._finish(tracked)
        self.session = None
        if session is not None:
            session.end()
            self._deliveries.add(session)

    def _fail(self, counters: Counters, error: Exception) -> None:
        if isinstance(error, TrackerBusy):  # it may be over before the next call
            if counters.policy.strict:
                raise error
            self._failures.say_once(f"{counters.region.key.label!r} runs unprofiled: {error}")
            return
        self._failures.of_call(counters, error)
        if not isinstance(error, SamplerError):
            self.session = None  # its folder cannot be written


RECORDER = MemoryRecorder()
_close = guarded("ending the session at exit", RECORDER.close)


def _nothing() -> None: ...


def _register() -> None:
    """Ensure that the session ends in workers of multiprocessing, which run no exit handlers."""
    if is_spawned():
        sys.modules["multiprocessing.util"].Finalize(None, _close, exitpriority=0)


HOOKS.add(Hooks(_nothing, _nothing, RECORDER.become_child))
atexit.register(_close)
