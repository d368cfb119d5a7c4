"""prctl(2) on the calling process; Python has no binding of its own."""

from __future__ import annotations

_PR_GET_DUMPABLE = 3
_PR_SET_PTRACER = 0x59616D61


def is_self_dumpable() -> bool:
    """Whether processes of the same user may read this one."""
    return _prctl(_PR_GET_DUMPABLE, 0) == 1


def set_ptracer(pid: int) -> bool:
    """Ask Yama to let `pid` and its descendants read this process; False where there is no Yama."""
    return _prctl(_PR_SET_PTRACER, pid) == 0


def _prctl(option: int, argument: int) -> int:
    import ctypes  # costs 5 ms, which only a denied attach or a machine with Yama needs to pay

    zero = ctypes.c_ulong(0)
    return int(ctypes.CDLL(None).prctl(option, ctypes.c_ulong(argument), zero, zero, zero))
