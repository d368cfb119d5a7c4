"""Sampling by a thread of the program, which needs the GIL for each sample.

So it sees mostly places at which the GIL is released: waiting, and C code that returns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from profkit.originals import REAL
from profkit.process.background import BackgroundThread
from profkit.samplers.helper.journal import ASKED
from profkit.samplers.inprocess.frames import FrameRounds
from profkit.samplers.inprocess.ways import (
    FASTEST_HZ,
    Kind,
    Request,
    ThreadedWay,
    WayFailed,
    check_frames,
    check_idle,
)


class ThreadWay(ThreadedWay):
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
