"""Rounds of `sys._current_frames()`, kept in a journal.

A round may be late, because it needs the GIL. It then counts for all periods since the last one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

from profkit.process.frames import current_frames
from profkit.process.guard import reraise_signal_error
from profkit.samplers.helper import proc_files
from profkit.samplers.helper.journal import Frames, Journal
from profkit.samplers.inprocess.ways import Kind, Request, WayFailed

_WRITE_EVERY_S = 0.4
"""Time between two writes: if the process is killed, less than a second of samples is lost."""
_ROUNDING = 1e-6


class FrameRounds:
    """The rounds of one way, with their journal."""

    def __init__(self, request: Request, kind: Kind, period_s: float) -> None:
        self._clock, self._request, self._kind, self.period_s = request.clock, request, kind, period_s
        self._pid, self._names = request.pid, dict[int, str]()
        self._done_s = self._written_s = self._clock.monotonic_s()
        self._journal, self._rounds = self._new_journal(), 0
        self._has_written = False
        self._failure: str | None = None

    def begin(self, first_after_s: float) -> None:
        """Count from now on; the first round is due after this time.

        Rounds of a timer must begin with it: else those that come in time would be late for others, and
        count less than those that C code delays.
        """
        self._done_s = self._clock.monotonic_s() + first_after_s - self.period_s

    def sample(self, without: int, interrupted: FrameType | None = None) -> None:
        """Record the stacks of all threads but `without`; `interrupted` is the caller's own, if wanted.

        Raises only what signal handlers of the program raise. The samples since the last write are lost then.
        """
        try:
            self._sample(without, interrupted)
        except BaseException:  # the tables of the journal may not agree with its lines
            self._journal, self._rounds = self._new_journal(), 0
            raise

    def _sample(self, without: int, interrupted: FrameType | None) -> None:
        now_s = self._clock.monotonic_s()
        periods = int((now_s - self._done_s) / self.period_s + _ROUNDING)
        if periods < 1:
            return
        self._done_s += periods * self.period_s
        first = not self._rounds
        self._rounds += periods
        found = current_frames()
        found.pop(without, None)
        if interrupted is not None:
            found[without] = interrupted
        for ident, frame in found.items():
            tid = self._tid(ident)
            self._journal.add(self._pid, tid, self._journal.stack(frames_of(frame)), periods)
        if first or now_s - self._written_s > _WRITE_EVERY_S:
            self._written_s = now_s
            self.write()

    def write(self, reason: str | None = None) -> None:
        """Write what is not written yet; `check` reports a failure."""
        try:
            self._journal.write(self._rounds, 0, 0, reason)
        except OSError as error:
            reraise_signal_error(error)
            self._failure = error.strerror or str(error)
        else:
            self._has_written = True

    def check(self) -> bool:
        """Return whether the journal exists; raises `WayFailed` if it could not be written."""
        if self._failure is not None:
            raise WayFailed(self._failure)
        return self._has_written

    def _new_journal(self) -> Journal:
        output = os.fspath(self._request.output)
        return Journal(output, self._pid, self.period_s, self._name, self._kind.value)

    def _tid(self, ident: int) -> int:
        """Return the kernel's number of a thread, else Python's, and note its name."""
        thread = _threads().get(ident)
        tid = getattr(thread, "native_id", None)
        if not isinstance(tid, int):
            return self._pid if ident == main_ident() else ident
        self._names[tid] = str(getattr(thread, "name", ""))
        return tid

    def _name(self, pid: int, tid: int) -> str:
        return self._names.get(tid) or proc_files.thread_name(pid, tid)


def frames_of(frame: FrameType | None) -> Frames:
    """Return a stack, leaf first."""
    found = []
    while frame is not None:
        code = frame.f_code
        found.append((code.co_qualname, code.co_filename, frame.f_lineno or 0))
        frame = frame.f_back
    return found


def main_ident() -> int | None:
    """Return Python's number of the main thread; None if the program has no `threading`."""
    threading = sys.modules.get("threading")
    main = getattr(threading, "_main_thread", None)
    return getattr(main, "ident", None)


def _threads() -> Mapping[int, Any]:
    """Return the threads that `threading` knows, by Python's number."""
    known = getattr(sys.modules.get("threading"), "_active", None)
    return known if isinstance(known, dict) else {}
