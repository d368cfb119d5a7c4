"""Names of this process's threads that its sampler may not see."""

from __future__ import annotations

import posix
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from profkit.model.session import ThreadName

if TYPE_CHECKING:
    from threading import Thread

KERNEL_BYTES = 15
"""Length of a name in the kernel (TASK_COMM_LEN in sched.h, without the end)."""
LONGEST = 200
"""Number of characters of a name that are recorded."""


class ThreadNames:
    """Finds names that are not recorded yet, for a sampler that sees `seen(name)` instead of a name."""

    def __init__(self, seen: Callable[[str], str]) -> None:
        self._seen = seen
        self._recorded: dict[int, ThreadName] = {}

    def new(self) -> tuple[ThreadName, ...]:
        """Return the names of running threads that differ from what is seen and from what was returned."""
        threading = sys.modules.get("threading")
        # No lock, as gevent replaces it: copying a dictionary needs none.
        threads = list(getattr(threading, "_active", {}).values())
        names = (_name_of(thread, self._seen) for thread in threads)
        found = {name.tid: name for name in names if name is not None}
        new = tuple(name for tid, name in found.items() if self._recorded.get(tid) != name)
        self._recorded = found
        return new


def kernel_name(name: str) -> str:
    """Return what a sampler reads as the name of a thread that Python 3.14 or later gave this name."""
    encoded = name.encode(sys.getfilesystemencoding(), "replace").partition(b"\0")[0]
    return encoded[:KERNEL_BYTES].rstrip(b"\n").decode("utf-8", "replace")


def no_name(name: str) -> str:
    """Return what py-spy has for a thread that ran its first sample before `threading` listed it."""
    return ""


SEEN: Mapping[str, Callable[[str], str]] = {"cpython": kernel_name, "pyspy": no_name}
"""By sampler, what it may see instead of a thread's name; others see all names."""


def _name_of(thread: Thread, seen_of: Callable[[str], str]) -> ThreadName | None:
    """Return a thread's name, None if its sampler sees it; runs no code of the program."""
    state = getattr(thread, "__dict__", {})
    tid, name = state.get("_native_id"), state.get("_name")
    if type(tid) is not int or type(name) is not str or tid == posix.getpid():
        return None
    seen = seen_of(name)
    return None if seen == name else ThreadName(tid, seen, name[:LONGEST])
