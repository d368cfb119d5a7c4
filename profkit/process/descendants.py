"""CPU time of a process's descendants, from /proc (proc(5)): living ones, and those it has waited for."""

from __future__ import annotations

import posix
from collections.abc import Callable, Collection
from dataclasses import dataclass
from heapq import nlargest
from pathlib import Path

from profkit.model.session import ChildUsage
from profkit.process import procfs
from profkit.process.guard import reraise_signal_error

_OWN_CODE = f"{Path(__file__).parents[1]}/".encode()
_LONGEST_LAUNCH = 8
"""Number of arguments, launchers included, among which a helper of profkit has its script."""
_MOST_ENDED = 100
"""Number of ended processes whose times are kept."""
_MUCH, _MOST = 0.05, 0.5
"""Part of all time from which on a process counts, and part that these must have used to be counted."""

_Key = tuple[int, int]
"""Pid and start in ticks, since pids are reused."""


@dataclass(frozen=True, slots=True)
class ProcessTimes:
    """CPU time and threads of a process now, from one read of its `stat`."""

    start_ticks: int
    cpu_s: float
    waited_s: float
    """CPU time of children that it has waited for, and of theirs."""
    threads: int


def times_of(pid: int) -> ProcessTimes | None:
    """Return the times of a process; None if /proc shows no such process."""
    fields = procfs.stat_fields(pid)
    if not fields:
        return None
    # proc(5) counts from 1, and the list begins with field 3.
    user, system, waited_user, waited_system = (int(ticks) for ticks in fields[11:15])
    per_second = posix.sysconf("SC_CLK_TCK")
    cpu_s, waited_s = (user + system) / per_second, (waited_user + waited_system) / per_second
    return ProcessTimes(int(fields[19]), cpu_s, waited_s, int(fields[17]))


def children_of(pid: int) -> list[int]:
    """Return the pids of a process's children, which the kernel lists by thread."""
    try:
        tids = posix.listdir(f"{procfs.PROC}/{pid}/task")
    except OSError as error:
        reraise_signal_error(error)
        return []
    lists = (procfs.read(f"{procfs.PROC}/{pid}/task/{tid}/children") for tid in tids)
    return [int(child) for children in lists for child in children.split()]


class Descendants:
    """Descendants of a process, without helpers of profkit; not thread-safe.

    Their time is that since the first look, and never falls: if nobody waits for a process, its time until
    the last look stays counted.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._before_s: float | None = None
        """Time that does not count: used before the first look, or by helpers that were waited for."""
        self._total_s = self._lost_s = 0.0
        self._living: dict[_Key, float] = {}
        """Time of each living process itself."""
        self._first_s: dict[_Key, float] = {}
        """Time that processes had used at the first look."""
        self._helpers: dict[_Key, float] = {}
        self._ended: list[float] = []
        """Largest times of ended processes that were not recorded."""
        self._ended_s = 0.0
        """Time of all of these."""

    def look(self, waited_s: float, recorded: Callable[[], Collection[int]]) -> ChildUsage | None:
        """Return what they have used since the first look, None if nothing.

        `waited_s` is the time of children that the process has waited for. `recorded` returns the pids of all
        processes that may have been recorded themselves since then.
        """
        living, helpers, total_s = self._living_ones(waited_s)
        if self._before_s is None:
            self._before_s, self._total_s, self._first_s = total_s, total_s, dict(living)
        self._before_s += sum(self._helpers[key] for key in self._helpers.keys() - helpers.keys())
        self._lost_s += max(0.0, self._total_s - total_s)
        ended = {key: self._since(key) for key in self._living.keys() - living.keys()}
        self._living, self._helpers, self._total_s = living, helpers, total_s
        used_s = total_s + self._lost_s - self._before_s
        return self._usage(used_s, ended, recorded()) if used_s > 0 else None

    def _usage(self, used_s: float, ended: dict[_Key, float], recorded: Collection[int]) -> ChildUsage:
        new = [time_s for (pid, _), time_s in ended.items() if pid not in recorded]
        self._ended, self._ended_s = nlargest(_MOST_ENDED, self._ended + new), self._ended_s + sum(new)
        living = [self._since(key) for key in self._living if key[0] not in recorded]
        # The time of a process that was waited for includes what it used after the last look. If it may be
        # that of a recorded one, only processes that were seen count.
        unrecorded_s = min(used_s, self._ended_s + sum(living)) if recorded else used_s
        large = [time_s for time_s in self._ended + living if time_s >= _MUCH * unrecorded_s]
        known = unrecorded_s > 0 and sum(large) >= _MOST * unrecorded_s
        return ChildUsage(round(used_s, 2), round(unrecorded_s, 2), len(large) if known else 0)

    def _since(self, key: _Key) -> float:
        return self._living[key] - self._first_s.get(key, 0.0)

    def _living_ones(self, waited_s: float) -> tuple[dict[_Key, float], dict[_Key, float], float]:
        """Return the times of living processes and of helpers, and the total with those waited for."""
        living, helpers = {}, {}
        pending = children_of(self._pid)
        while pending:
            pid = pending.pop()
            times = times_of(pid)
            if times is None:
                continue
            key = pid, times.start_ticks
            if key in self._helpers or (key not in self._living and _is_helper(pid)):
                helpers[key] = times.cpu_s + times.waited_s + _time_of_tree(children_of(pid))
            else:
                living[key] = times.cpu_s
                waited_s += times.cpu_s + times.waited_s
                pending += children_of(pid)
        return living, helpers, waited_s


def _time_of_tree(pids: list[int]) -> float:
    found = [(pid, times) for pid in pids if (times := times_of(pid)) is not None]
    return sum(times.cpu_s + times.waited_s + _time_of_tree(children_of(pid)) for pid, times in found)


def _is_helper(pid: int) -> bool:
    """Return whether a process runs a script of profkit's own, as samplers' watchdogs and zygotes do."""
    return any(word.startswith(_OWN_CODE) for word in procfs.command_line(pid)[:_LONGEST_LAUNCH])
