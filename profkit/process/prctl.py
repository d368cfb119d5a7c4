"""prctl(2) for the calling process, and the Yama security module, which restricts its tracers."""

from __future__ import annotations

from pathlib import Path

from profkit.process.guard import suppressed

_PR_GET_DUMPABLE = 3
_PR_SET_DUMPABLE = 4
_PR_SET_PTRACER = 0x59616D61


def is_self_dumpable() -> bool:
    """Return whether processes of the same user may read this one."""
    return _prctl(_PR_GET_DUMPABLE, 0) == 1


def set_dumpable(*, dumpable: bool = True) -> bool:
    """Allow or forbid processes of the same user to read this one; return False if the kernel refuses.

    Needs no privilege. Core dumps are allowed and forbidden with it.
    """
    return _prctl(_PR_SET_DUMPABLE, int(dumpable)) == 0


class DumpableState:
    """State of this process that forbids others to read it, and can be lifted for a while.

    The kernel sets it if a program gains privileges or changes its user, and programs set it themselves.
    """

    def __init__(self, *, may_lift: bool) -> None:
        self._may_lift, self._lifted = may_lift, False

    def lift(self, *, needed: bool = True) -> None:
        """Make the process dumpable if it is not, and may be made so; undo that if it is not needed."""
        if not needed:
            self.restore()
        elif self._may_lift and not is_self_dumpable():
            self._lifted = set_dumpable()

    def restore(self) -> None:
        """Undo `lift`; does nothing if that changed nothing."""
        if self._lifted:
            set_dumpable(dumpable=False)
            self._lifted = False


def set_ptracer(pid: int) -> bool:
    """Ask Yama to let `pid` and its descendants read this process; return False if there is no Yama."""
    return _prctl(_PR_SET_PTRACER, pid) == 0


def _prctl(option: int, argument: int) -> int:
    # Needed only after a denied attach or with Yama; takes 5 ms, and with libffi 3.5 keeps a descriptor open.
    import ctypes

    zero = ctypes.c_ulong(0)
    return int(ctypes.CDLL(None).prctl(option, ctypes.c_ulong(argument), zero, zero, zero))


SCOPE_FILE = Path("/proc/sys/kernel/yama/ptrace_scope")
_RESTRICTED = 1


def ptrace_scope(path: Path = SCOPE_FILE) -> int:
    """Return Yama's ptrace_scope, 0 to 3; 0 if the kernel has no Yama, or its file cannot be read."""
    with suppressed(OSError, ValueError):
        return int(path.read_text("ascii"))
    return 0


def allow_tracer(pid: int, path: Path = SCOPE_FILE) -> bool:
    """Let process `pid` and its descendants read the calling process, if Yama requires permission.

    A process has one such permission: this replaces an earlier one. The kernel revokes it when `pid` ends.
    Returns whether it was given; needed and possible only with scope 1.
    """
    return ptrace_scope(path) == _RESTRICTED and set_ptracer(pid)
