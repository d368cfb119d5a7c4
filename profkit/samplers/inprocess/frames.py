"""Rounds of `current_frames()`, fewer if they take long, in a journal; and the thread that takes them.

A round may be late, because it needs the GIL. It then counts for all periods since the last one. If a round
takes long, as with very deep stacks, fewer are taken, which count in the same way.
"""

from __future__ import annotations

import _thread
import math
import os
import posix
import sys
import time
from collections.abc import Callable
from functools import partial
from types import FrameType

from profkit.originals import REAL
from profkit.process.background import BackgroundThread, current_frames, is_gil_enabled
from profkit.process.guard import reraise_signal_error
from profkit.samplers.helper import proc_files
from profkit.samplers.helper.journal import ASKED, Frames, Journal
from profkit.samplers.inprocess.ways import (
    FASTEST_HZ,
    Kind,
    Request,
    ThreadedWay,
    WayFailed,
    check_frames,
    check_idle,
    has_other_interpreters,
    other_interpreters,
)

_WRITE_EVERY_S = 0.4
"""Time between two writes: if the process is killed, less than a second of samples is lost."""
_ROUNDING = 1e-6
_LARGEST_SHARE = 0.05
"""Largest share of a processor that rounds may take, except if each takes more than 0.1 s."""
_LONGEST_S = 2.0
"""Longest time between two rounds."""
_ACCEPTED = (RecursionError, MemoryError)
"""Failures that cost a round: the program is at the limit of recursion or memory, and may leave it."""
_MAIN: dict[int, int] = {}
"""Number of the main thread, by pid, once the main thread has asked for it."""


class FrameRounds:
    """The rounds of one way, with their journal."""

    def __init__(
        self, request: Request, kind: Kind, period_s: float, cpu_s: Callable[[], float] = time.thread_time
    ) -> None:
        self._clock, self._cpu_s, self.period_s = request.clock, cpu_s, period_s
        # Made here, as a round should run no Python code but profkit's: see `timer._on_signal`.
        self._pid, self._output = request.pid, os.fspath(request.output)
        self._kind, self._left = kind.value, request.left
        self.error: BaseException | None = None
        """Exception of the last round, if it failed; the samples since the last write are lost then."""
        self._threads = Threads(request.pid)
        self._done_s = self._written_s = self._clock.monotonic_s()
        self._journal: Journal | None = self._new_journal()
        """None during a round: if it fails, the journal's tables may not agree with its lines."""
        self._rounds = self._unwritten = 0
        self._every, self._cost_of_last_s = 1, 0.0
        self._has_written = self._is_closed = False
        self._failure: WayFailed | None = None

    @property
    def interval_s(self) -> float:
        """Time between two rounds."""
        return self.period_s * self._every

    def begin(self, first_after_s: float) -> None:
        """Count from now on; the first round is due after this time.

        Rounds of a timer must begin with it: else those that come in time would be late for others, and
        count less than those that C code delays.
        """
        self._done_s = self._clock.monotonic_s() + first_after_s - self.period_s

    def sample(self, without: int, interrupted: FrameType | None = None) -> None:
        """Record the stacks of all threads but `without`.

        A handler in the main thread passes the frame that it interrupts, and its own thread as `without`.
        Raises what signal handlers of the program raise, and RecursionError and MemoryError.
        """
        periods = int((self._clock.monotonic_s() - self._done_s) / self.period_s + _ROUNDING)
        if periods < self._every or self._is_closed:
            return
        if has_other_interpreters():
            self._fail(other_interpreters())
            return
        began_s = self._cpu_s()
        journal, self._journal = self._journal or self._next_journal(), None
        self._done_s += periods * self.period_s
        self._unwritten += periods
        self._record(journal, periods, without, interrupted)
        self._rounds += periods
        if not self._has_written or self._clock.monotonic_s() - self._written_s > _WRITE_EVERY_S:
            self._write(journal)
        self._adapt(journal, self._cpu_s() - began_s)
        self._journal = journal

    def _record(self, journal: Journal, periods: int, without: int, interrupted: FrameType | None) -> None:
        pid, found = self._pid, current_frames()
        found.pop(without, None)
        if interrupted is not None:
            journal.add(pid, pid, journal.stack(frames_of(interrupted)), periods)
        for ident, frame in found.items():
            journal.add(pid, self._threads.tid(ident), journal.stack(frames_of(frame)), periods)

    def _adapt(self, journal: Journal, cost_s: float) -> None:
        """Take fewer rounds if two in a row took long, and more again if they take much less.

        One in a power of two is taken, so that the rate and the note on it seldom change.
        """
        usual_s, self._cost_of_last_s = min(cost_s, self._cost_of_last_s), cost_s
        needed = max(1, math.ceil(min(usual_s / _LARGEST_SHARE, _LONGEST_S) / self.period_s))
        if needed > self._every or 4 * needed <= self._every:
            self._every = 1 << (needed - 1).bit_length()
            journal.take_one_in(self._every)

    def write(self, reason: str | None = None) -> None:
        """Write what is not written yet; `check` reports a failure."""
        self._journal = self._journal or self._next_journal()
        self._write(self._journal, reason)

    def _write(self, journal: Journal, reason: str | None = None) -> None:
        if self._is_closed:
            return
        try:
            journal.write(self._rounds, 0, 0, reason)
        except OSError as error:
            reraise_signal_error(error)
            self._fail(WayFailed(error.strerror or str(error), "make sure that the spool can be written"))
        else:
            self._has_written, self._unwritten, self._written_s = True, 0, self._clock.monotonic_s()

    def close(self) -> None:
        """Record nothing any more."""
        self._is_closed = True

    def _fail(self, failure: WayFailed) -> None:
        self._failure = self._failure or failure
        self.close()

    def check(self) -> bool:
        """Return whether the journal exists; raises `WayFailed` if sampling has failed."""
        if self._failure is None and self.error is not None and not isinstance(self.error, _ACCEPTED):
            self._fail(WayFailed(f"{type(self.error).__name__}: {self.error}"))
        if self._failure is not None:
            raise self._failure
        return self._has_written

    def _next_journal(self) -> Journal:
        """Return a journal after a round that failed, which counts the rounds that are lost."""
        journal = self._new_journal()
        journal.drop(-1, self._unwritten)
        self._rounds = self._unwritten = 0
        if self._every > 1:
            journal.take_one_in(self._every)
        return journal

    def _new_journal(self) -> Journal:
        journal = Journal(self._output, self._pid, self.period_s, self._threads.name)
        journal.describe(self._kind, gil=is_gil_enabled(), left=self._left)
        return journal


def frames_of(frame: FrameType | None) -> Frames:
    """Return a stack, leaf first."""
    found = []
    while frame is not None:
        code = frame.f_code
        found.append((code.co_qualname, code.co_filename, frame.f_lineno or 0))
        frame = frame.f_back
    return found


class Threads:
    """The kernel's numbers and the names of the threads of this process."""

    def __init__(self, pid: int) -> None:
        self._pid, self._main = pid, main_ident()
        self._names: dict[int, str] = {}

    def tid(self, ident: int) -> int:
        """Return the kernel's number of a thread, else Python's, and note its name.

        Runs no code of the program, such as a property of a subclass of `Thread`.
        """
        if ident == self._main:
            return self._pid
        known = getattr(sys.modules.get("threading"), "_active", None)
        thread = known.get(ident) if isinstance(known, dict) else None
        state = getattr(thread, "__dict__", {})
        tid, name = state.get("_native_id"), state.get("_name")
        if type(tid) is not int:
            return ident
        if type(name) is str:
            self._names[tid] = name
        return tid

    def name(self, pid: int, tid: int) -> str:
        """Return the name of a thread: Python's if there is one, else the kernel's."""
        return self._names.get(tid) or proc_files.thread_name(pid, tid)


def main_ident() -> int | None:
    """Return Python's number of the main thread; None if that is not known."""
    if sys.version_info >= (3, 13):
        return _thread._get_main_thread_ident()
    pid = posix.getpid()
    if REAL.get_native_id() == pid:
        _MAIN[pid] = REAL.get_ident()
    main = getattr(sys.modules.get("threading"), "_main_thread", None)
    return _MAIN.get(pid) or getattr(main, "_ident", None)


class ThreadWay(ThreadedWay):
    """Thread of the program, which needs the GIL for each sample.

    So it sees mostly places at which the GIL is released: waiting, and C code that returns.
    """

    kind = Kind.THREAD

    def __init__(self, request: Request) -> None:
        self._idle = request.idle
        period_s = 1 / min(request.rate_hz, FASTEST_HZ[self.kind])
        self._rounds = FrameRounds(request, self.kind, period_s)
        self._stop = REAL.allocate_lock()
        """Held while the thread should continue."""

    def start(self) -> None:
        check_idle(self._idle)
        check_frames()
        self._rounds.begin(0.0)
        self._stop = REAL.allocate_lock()
        self._stop.acquire()
        self._thread = BackgroundThread(self._run)
        try:
            self._thread.start()
        except RuntimeError as error:
            self._thread = None
            raise WayFailed(str(error), "raise the limit of threads (ulimit -u)") from error

    def is_running(self) -> bool:
        return self._rounds.check()

    def stop(self) -> None:
        if self._stop.locked():
            self._stop.release()

    def after_fork(self) -> None:
        if self.has_ended():
            self.start()

    def _run(self) -> None:
        me, stop = REAL.get_ident(), self._stop
        self._try(partial(self._rounds.sample, me))
        while not stop.acquire(timeout=self._rounds.interval_s):
            self._try(partial(self._rounds.sample, me))
        self._try(partial(self._rounds.write, ASKED))

    def _try(self, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception as error:  # noqa: BLE001 - the poll reports it
            error.__traceback__ = None  # it refers to the frames of the program
            self._rounds.error = error
