"""Resources of a session's process and CPU time of its children, measured when the session asks for them."""

from __future__ import annotations

import posix
from pathlib import Path

from profkit.clock import Clock
from profkit.model.session import ChildUsage, ResourcePoint
from profkit.process import procfs
from profkit.process.background import RUNNING
from profkit.process.descendants import Descendants, times_of
from profkit.store.spool import pids_of_later_sessions

_LOOK_SHARE = 0.01
"""Part of the time that looking for children may take."""


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
