"""How processes ended, in words."""

from __future__ import annotations

import os
import signal

from profkit.measuring.worker.messages import CANNOT_ANSWER

_HINTS = {
    int(signal.SIGKILL): ", as the system does where memory runs out",
    int(signal.SIGILL): ", as Valgrind does at instructions that it does not know "
    "(ATEN_CPU_CAPABILITY=default keeps torch from using them)",
}


def how_ended(status: int) -> str:
    """A wait status as the end of a sentence that begins with "its process"."""
    code = os.waitstatus_to_exitcode(status)
    if code == CANNOT_ANSWER:
        return "closed the descriptor of its answer"
    if code >= 0:
        return f"exited with status {code}"
    return f"was ended by {_signal_name(-code)}{_HINTS.get(-code, '')}"


def is_own_end(status: int) -> bool:
    """Whether a child ended as one does that has answered."""
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal between the first and the last
        return f"signal {number}"
