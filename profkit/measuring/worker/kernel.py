"""prctl(2): what becomes of processes when others end."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

_LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """Be killed when the thread that started this process ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def flush_c_streams() -> None:
    """Write out what C and C++ code has printed and the C library still holds."""
    _LIBC.fflush(None)


def _prctl(option: int, argument: int) -> None:
    zero = ctypes.c_ulong(0)
    if _LIBC.prctl(option, ctypes.c_ulong(argument), zero, zero, zero) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
