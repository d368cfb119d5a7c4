"""Timer of the kernel that sends a signal to one thread (timer_create(2)).

Unlike those of setitimer(2), it is not shared with the program, a forked child does not have it, and `exec`
ends it instead of handing it to the next program, which SIGALRM would kill.
"""

from __future__ import annotations

import ctypes
import os

_CLOCK_MONOTONIC = 1
_SIGEV_THREAD_ID = 4


class _SigEvent(ctypes.Structure):
    _fields_ = (
        ("value", ctypes.c_void_p),
        ("number", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("tid", ctypes.c_int),
        ("padding", ctypes.c_char * 44),
    )


class _TimeSpec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _TimerSpec(ctypes.Structure):
    _fields_ = (("interval", _TimeSpec), ("first", _TimeSpec))


class PosixTimer:
    """One timer; not thread-safe."""

    def __init__(self, number: int, tid: int) -> None:
        """Make a timer that sends signal `number` to thread `tid`; raises OSError."""
        self._libc = _library()
        self._id: ctypes.c_void_p | None = ctypes.c_void_p()
        event = _SigEvent(None, number, _SIGEV_THREAD_ID, tid)
        self._call("timer_create", _CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(self._id))

    def repeat(self, period_s: float) -> None:
        """Fire every so many seconds from now on, not at all for 0; raises OSError."""
        seconds, rest = divmod(round(period_s * 1e9), 10**9)
        period = _TimeSpec(seconds, rest)
        spec = _TimerSpec(period, period)
        self._call("timer_settime", self._id, 0, ctypes.byref(spec), None)

    def delete(self) -> None:
        """End the timer; does nothing if it has ended."""
        if self._id is not None:
            self._call("timer_delete", self._id)
            self._id = None

    def _call(self, name: str, *arguments: object) -> None:
        if getattr(self._libc, name)(*arguments) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{name}: {os.strerror(number)}")


def _library() -> ctypes.CDLL:
    """Return the C library with timers; before glibc 2.34 it is another one."""
    library = ctypes.CDLL(None, use_errno=True)
    return library if hasattr(library, "timer_create") else ctypes.CDLL("librt.so.1", use_errno=True)
