"""Names of this process's threads that its sampler cannot see: the kernel keeps 15 bytes of a name."""

from __future__ import annotations

import posix
import sys
from typing import TYPE_CHECKING

from profkit.model.session import ThreadName

if TYPE_CHECKING:
    from threading import Thread

KERNEL_BYTES = 15
"""Length of a name in the kernel (TASK_COMM_LEN in sched.h, without the end)."""
LONGEST = 200
"""Number of characters of a name that are recorded."""


class ThreadNames:
    """Finds names that are not recorded yet."""

    def __init__(self) -> None:
        self._recorded: dict[int, ThreadName] = {}

    def new(self) -> tuple[ThreadName, ...]:
        """Return the names of running threads that differ from the kernel's and from what was returned."""
        threading = sys.modules.get("threading")
        # No lock, as gevent replaces it: copying a dictionary needs none.
        threads = list(getattr(threading, "_active", {}).values())
        found = {name.tid: name for name in map(_name_of, threads) if name is not None}
        new = tuple(name for tid, name in found.items() if self._recorded.get(tid) != name)
        self._recorded = found
        return new


def kernel_name(name: str) -> str:
    """Return what a sampler reads as the name of a thread that Python 3.14 or later gave this name."""
    encoded = name.encode(sys.getfilesystemencoding(), "replace").partition(b"\0")[0]
    return encoded[:KERNEL_BYTES].rstrip(b"\n").decode("utf-8", "replace")


def _name_of(thread: Thread) -> ThreadName | None:
    """Return a thread's name, None if the kernel has it; runs no code of the program."""
    state = getattr(thread, "__dict__", {})
    tid, name = state.get("_native_id"), state.get("_name")
    if type(tid) is not int or type(name) is not str or tid == posix.getpid():
        return None
    seen = kernel_name(name)
    return None if seen == name else ThreadName(tid, seen, name[:LONGEST])
