"""Sampling in a signal handler of the main thread, for programs whose main thread does the work.

Its signal is SIGURG, so SIGALRM, `alarm` and `setitimer` remain the program's. SIGURG has no effect by
default, so one that comes late, as after `exec`, does no harm. While the main thread runs C code, the handler
waits; its sample then counts for that time.

Only the main thread can install a handler. So there is one for all sessions: other threads may then start and
stop the timer, as when a segment ends.
"""

from __future__ import annotations

import posix
import signal
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

from profkit.originals import REAL
from profkit.process import procfs
from profkit.process.background import is_main_thread
from profkit.process.guard import reraise_program_error
from profkit.process.sockets import SocketWatch
from profkit.samplers.helper.journal import ASKED
from profkit.samplers.inprocess.frames import FrameRounds
from profkit.samplers.inprocess.ways import (
    FASTEST_HZ,
    Kind,
    Request,
    Way,
    WayFailed,
    check_frames,
    check_idle,
)

if TYPE_CHECKING:
    from profkit.samplers.inprocess.posix_timer import PosixTimer

SIGNAL = signal.SIGURG
_PAUSE_S, _LONGEST_WAIT_S = 0.0005, 0.5
_WAKING = frozenset({"asyncio", "trio", "twisted", "uvloop"})
"""Packages whose signal handlers wake an event loop through a pipe (`signal.set_wakeup_fd`)."""


_FOLDER = __file__.rsplit("/", 3)[0] + "/"
"""Folder of the package."""
_FOLDER_LENGTH = len(_FOLDER)


class _InUse:
    way: TimerWay | None = None
    """The way that the signals are for."""


class TimerWay(Way):
    kind = Kind.TIMER

    def __init__(self, request: Request) -> None:
        self._idle = request.idle
        period_s = 1 / min(request.rate_hz, FASTEST_HZ[self.kind])
        self.rounds = FrameRounds(request, self.kind, period_s)
        self.is_sampling = False
        self._timer: PosixTimer | None = None
        self._sockets = SocketWatch(clock=request.clock)

    def start(self) -> None:
        """See `Way.start`; the main thread must have called it once, and the handler must be left."""
        check_idle(self._idle)
        check_frames()
        is_main = is_main_thread()
        if not is_main and signal.getsignal(SIGNAL) is not _on_signal:
            raise WayFailed("the main thread has not started it", "begin with a call in the main thread")
        if not _is_free():
            raise _signal_is_used()
        self._check_disturbance()
        if is_main and _has_wakeup_descriptor():
            raise WayFailed("the program reads the numbers of its signals")
        from profkit.samplers.inprocess.posix_timer import PosixTimer  # imports ctypes

        try:
            timer = PosixTimer(SIGNAL, posix.getpid())
        except (OSError, AttributeError) as error:
            raise WayFailed(str(error)) from error
        if is_main:
            signal.signal(SIGNAL, _on_signal)
            signal.siginterrupt(SIGNAL, False)  # system calls of C code continue
        else:
            self.rounds.write()  # it runs, although the main thread may run C code for long
        self._timer, _InUse.way = timer, self
        self.rounds.begin(self.rounds.period_s)
        timer.repeat(self.rounds.period_s)

    def is_running(self) -> bool:
        """See `Way.is_running`; raises `WayFailed` once the signal would change what the program does."""
        if self._timer is not None:
            if signal.getsignal(SIGNAL) is not _on_signal:
                raise _signal_is_used()
            self._check_disturbance()
        return self.rounds.check()

    def has_ended(self) -> bool:
        return self._timer is None

    def stop(self) -> None:
        """See `Way.stop`; any thread may call it."""
        timer, self._timer = self._timer, None
        if timer is None:
            return
        timer.delete()
        self._release_signal()
        if self._await_sample():
            self.rounds.write(ASKED)
        self.rounds.close()

    def in_child(self) -> None:
        self._timer = None
        self._release_signal()

    def _release_signal(self) -> None:
        """Remove the handler, which only the main thread can do; it does nothing without a way."""
        if _InUse.way is self:
            _InUse.way = None
        if _InUse.way is None and is_main_thread() and signal.getsignal(SIGNAL) is _on_signal:
            signal.signal(SIGNAL, signal.SIG_DFL)

    def _check_disturbance(self) -> None:
        """Raise `WayFailed` if signals would change what the program does.

        They restart the kernel's timeouts of sockets. They also fill the pipe by which other signals wake an
        event loop: if it is full, such a signal is lost.
        """
        handlers = map(signal.getsignal, range(1, signal.NSIG))
        modules = {str(getattr(handler, "__module__", "")).partition(".")[0] for handler in handlers}
        if not modules.isdisjoint(_WAKING):
            raise WayFailed("signals wake an event loop of the program")
        if self._sockets.timed():
            raise WayFailed("signals would restart the timeout of a socket")

    def _await_sample(self) -> bool:
        """Wait for a sample that the main thread is taking; return whether it has ended.

        It does not if this call interrupts it, or if a signal handler of the program does that for long. Such
        a handler may itself wait for what the caller holds.
        """
        until_s = REAL.monotonic() + _LONGEST_WAIT_S
        while self.is_sampling:
            if is_main_thread() or REAL.monotonic() > until_s:
                return False
            REAL.sleep(_PAUSE_S)
        return True


def _has_wakeup_descriptor() -> bool:
    """Return whether the program has a descriptor for signal numbers; only the main thread may ask.

    CPython returns it only when it is replaced.
    """
    descriptor = signal.set_wakeup_fd(-1)
    if descriptor == -1:
        return False
    with suppress(OSError, ValueError):  # the program has closed it, or has made it blocking
        signal.set_wakeup_fd(descriptor)
    return True


def _on_signal(number: int, frame: FrameType | None) -> None:
    """Sample, unless this interrupts a sample, or the sampling has ended.

    Raises only exceptions of the program, which its own signal handlers raise during a sample.
    """
    way = _InUse.way
    if way is None or way.is_sampling:
        return
    way.is_sampling = True
    try:
        way.rounds.sample(REAL.get_ident(), frame)
    except (RecursionError, MemoryError) as error:
        # Nothing is called here: there may be no room for another frame.
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename[:_FOLDER_LENGTH] == _FOLDER:
            trace = trace.tb_next
        if trace is not None:
            raise
        error.__traceback__ = None  # it refers to the frames of the program
        way.rounds.error = error
    except Exception as error:  # noqa: BLE001 - the poll reports it
        trace = error.__traceback__  # without this function, which is no handler of the program
        error.__traceback__ = trace.tb_next if trace is not None else None
        reraise_program_error(error)
        error.__traceback__ = None
        way.rounds.error = error
    finally:
        way.is_sampling = False


def _signal_is_used() -> WayFailed:
    return WayFailed("the program uses SIGURG", "use another signal in the program")


def _is_free() -> bool:
    if int(procfs.status("self").get("SigBlk", "0"), 16) >> (SIGNAL - 1) & 1:
        return False
    handler = signal.getsignal(SIGNAL)
    return handler is _on_signal or (
        handler is signal.SIG_DFL and not procfs.catches_signal(posix.getpid(), SIGNAL)
    )
