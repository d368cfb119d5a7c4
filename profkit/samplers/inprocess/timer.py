"""Sampling in a signal handler of the main thread, for programs whose main thread does the work.

It uses a real-time signal that the program does not use, so SIGALRM, `alarm` and `setitimer` remain the
program's. While the main thread runs C code, the handler waits; its sample then counts for that time.
"""

from __future__ import annotations

import posix
import signal
from types import FrameType

from profkit.originals import REAL
from profkit.samplers.helper.journal import ASKED
from profkit.samplers.inprocess.frames import FrameRounds
from profkit.samplers.inprocess.posix_timer import PosixTimer
from profkit.samplers.inprocess.ways import FASTEST_HZ, Kind, Request, WayFailed, check_idle

_PAUSE_S = 0.0005


class TimerWay:
    """See `Way`."""

    kind = Kind.TIMER

    def __init__(self, request: Request) -> None:
        self._idle = request.idle
        period_s = 1 / min(request.rate_hz, FASTEST_HZ[self.kind])
        self._rounds = FrameRounds(request, self.kind, period_s)
        self._timer: PosixTimer | None = None
        self._number = 0
        self._sampling = False

    def start(self) -> None:
        """See `Way.start`; only the main thread may call it."""
        check_idle(self._idle)
        if REAL.get_native_id() != posix.getpid():
            raise WayFailed("the main thread has not started it")
        number = _free_signal()
        if number is None:
            raise WayFailed("the program uses all real-time signals")
        try:
            timer = PosixTimer(number, posix.getpid())
        except (OSError, AttributeError) as error:
            raise WayFailed(str(error)) from error
        signal.signal(number, self._handle)
        signal.siginterrupt(number, False)  # system calls of C code continue
        self._number, self._timer = number, timer
        timer.repeat(self._rounds.period_s)

    def is_running(self) -> bool:
        """See `Way.is_running`."""
        return self._rounds.check()

    def has_ended(self) -> bool:
        """See `Way.has_ended`."""
        return self._timer is None

    def stop(self) -> None:
        """See `Way.stop`; any thread may call it."""
        timer, self._timer = self._timer, None
        if timer is None:
            return
        timer.delete()
        if REAL.get_native_id() == posix.getpid() and signal.getsignal(self._number) == self._handle:
            signal.signal(self._number, signal.SIG_DFL)
        if self._await_sample():
            self._rounds.write(ASKED)

    def await_end(self) -> None:
        """See `Way.await_end`."""

    def before_fork(self) -> None:
        """See `Way.before_fork`: the child does not have the timer."""

    def after_fork(self) -> None:
        """See `Way.after_fork`."""

    def _await_sample(self) -> bool:
        """Wait for a sample that the main thread is taking; return False if this call interrupts it."""
        while self._sampling:
            if REAL.get_native_id() == posix.getpid():
                return False
            REAL.sleep(_PAUSE_S)
        return True

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Sample, unless this interrupts a sample, or the sampling has ended."""
        if self._timer is not None and not self._sampling:
            self._sampling = True
            try:
                self._rounds.sample(REAL.get_ident(), frame)
            finally:
                self._sampling = False


def _free_signal() -> int | None:
    """Return a real-time signal that has no handler and is not blocked; None if there is none."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    numbers = range(signal.SIGRTMAX - 1, signal.SIGRTMIN, -1)
    return next(
        (
            number
            for number in numbers
            if number not in blocked and signal.getsignal(number) is signal.SIG_DFL
        ),
        None,
    )
