"""What a session records of its process: resources, CPU time of its children, and names of its threads."""

from __future__ import annotations

import posix
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from profkit.clock import Clock
from profkit.model.session import ChildUsage, ResourcePoint, ThreadName
from profkit.process import procfs
from profkit.process.background import RUNNING
from profkit.process.descendants import Descendants, times_of
from profkit.store.spool import pids_of_later_sessions

if TYPE_CHECKING:
    from threading import Thread

_LOOK_SHARE = 0.01
"""Part of the time that looking for children may take."""
KERNEL_BYTES = 15
"""Length of a name in the kernel (TASK_COMM_LEN in sched.h, without the end)."""
LONGEST = 200
"""Number of characters of a name that are recorded."""


class ResourceMeter:
    """Meter of one session's process; not thread-safe."""

    def __init__(self, pid: int, folder: Path, clock: Clock) -> None:
        self._pid, self._folder, self._clock = pid, folder, clock
        self._descendants = Descendants(pid)
        self._children: ChildUsage | None = None
        self._next_look_s = 0.0

    def point(self, *, is_last: bool = False) -> ResourcePoint | None:
        """Return what the process uses now, without profkit's own threads; None if it has ended.

        If the process has many children, they are not looked at each time, but they are with `is_last`.
        """
        # `stat` first: whoever counts the sampler's rounds takes a list of threads before it for one.
        times = times_of(self._pid)
        if times is None:
            return None
        began_s = self._clock.monotonic_s()
        if is_last or began_s >= self._next_look_s:
            self._children = self._descendants.look(times.waited_s, self._recorded)
            ended_s = self._clock.monotonic_s()
            self._next_look_s = ended_s + (ended_s - began_s) / _LOOK_SHARE
        return _point(self._pid, times.cpu_s, times.threads, self._children, self._clock)

    def _recorded(self) -> set[int]:
        return pids_of_later_sessions(self._folder) - {self._pid}


def resources_of(pid: int, clock: Clock) -> ResourcePoint | None:
    """Return what a process uses now, without its children; None if it has ended."""
    times = times_of(pid)
    return None if times is None else _point(pid, times.cpu_s, times.threads, None, clock)


def _point(pid: int, cpu_s: float, threads: int, children: ChildUsage | None, clock: Clock) -> ResourcePoint:
    own_threads = len(RUNNING) if pid == posix.getpid() else 0
    return ResourcePoint(clock.unix_ns(), cpu_s, procfs.resident_bytes(pid), threads - own_threads, children)


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
