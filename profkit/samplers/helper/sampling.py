"""Sampling loop: read all processes at a fixed rate into a journal; when an unreadable one is given up."""

from __future__ import annotations

from . import proc_files
from .journal import DURATION, ENDED, Journal
from .reader import (
    HOLDS_GIL,
    ON_CPU,
    Changing,
    Denied,
    Ended,
    Frameless,
    Process,
    TooDeep,
    Unexpected,
    frames_of,
)

TYPE_CHECKING = False  # `typing` takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Clock: TypeAlias = Callable[[], float]
    """Monotonic time in seconds."""
    Wait: TypeAlias = Callable[[float], str | None]
    """Waits for some seconds; returns earlier, with the reason, if the sampling should end."""

_WRITE_EVERY_S = 0.4
"""Time between two writes: a kill loses less than a second of samples."""
_UNREADABLE_S = 2.0
"""Time without a readable stack after which the process is given up, as after `exec`."""
_GAP_S, _GAP_ROUNDS = 0.1, 3
"""Time without a stack from which on it is a gap, if it is also that of so many rounds."""
_CHILDREN_EVERY_S = 0.1
_CHILD_STARTS_S = 2.0
"""Time in which a child process may become one that can be read."""
_CHILD_UNREADABLE_S = 0.5
"""Time without a readable stack after which a child is opened again, since it may have called `exec`."""


class Unreadable(Exception):
    """No stack of the process could be read for some time."""


class Sampling:
    """Rounds of reading a process, and its child processes if there is a function that opens them."""

    def __init__(
        self, first: Process, journal: Journal, clock: Clock, retries: int,
        opened: Callable[[int], Process] | None = None,
    ) -> None:  # fmt: skip
        self._journal, self._clock, self._most_retries, self._opened = journal, clock, retries, opened
        self._processes = {first.pid: first}
        self._first = first
        self._starting_s: dict[int, float] = {}
        """When each child was seen first that cannot be read yet."""
        self._readable_s: dict[int, float] = {}
        """When each child was read last."""
        self._left_out: set[int] = set()
        self._rounds = self._repeated = self._skipped = 0
        self._read_s, self._period_s = clock(), 0.0
        """When the first process was read last, and the time between two rounds."""
        self._problem = ""
        """Why a stack could not be read last."""

    def run(self, period_s: float, duration_s: float, wait: Wait) -> str:
        """Sample until the end and return its reason; raises Denied, Unexpected, Unreadable or OSError."""
        start_s = due_s = written_s = readable_s = looked_s = self._read_s = self._clock()
        self._period_s = period_s
        while True:
            reason = wait(max(0.0, due_s - self._clock()))
            if reason is not None:
                return reason
            now_s = self._clock()
            if self._opened is not None and now_s - looked_s >= _CHILDREN_EVERY_S:
                self._find_children(self._opened, now_s)
                looked_s = now_s
            if self._round(now_s):
                self._note_gap(now_s)
                self._read_s = readable_s = now_s
            elif self._first.is_stopped:
                readable_s = now_s
            elif not self._first.is_running():
                return ENDED
            elif now_s - readable_s > _UNREADABLE_S:
                raise Unreadable(f"no stack could be read for {_UNREADABLE_S:g} s: {self._problem}")
            if self._rounds == 1 or now_s - written_s > _WRITE_EVERY_S:
                self.write()
                written_s = now_s
            if now_s - start_s > duration_s:
                return DURATION
            missed = max(0, int((now_s - due_s) / period_s))
            self._skipped += missed
            due_s += period_s * (missed + 1)

    def write(self, reason: str | None = None) -> None:
        """Write what is not written yet, if anything was sampled at all; raises OSError.

        A `reason` is that of the end.
        """
        if self._rounds:
            if reason is not None:
                self._note_gap(self._clock())
            self._journal.write(self._rounds, self._repeated, self._skipped, reason)

    def _note_gap(self, now_s: float) -> None:
        """Record the time since the last stack of the first process, if it is long."""
        gap_s = now_s - self._read_s - self._period_s
        if gap_s >= max(_GAP_S, _GAP_ROUNDS * self._period_s):
            self._journal.add_gap(gap_s)

    def _round(self, now_s: float) -> bool:
        """Read each process; return whether the first one could be read."""
        readable = self._sample(self._first)
        self._rounds += readable
        for process in [*self._processes.values()][1:]:
            try:
                if self._sample(process):
                    self._readable_s[process.pid] = now_s
                elif now_s - self._readable_s.get(process.pid, now_s) > _CHILD_UNREADABLE_S:
                    self._forget(process.pid)
            except (Denied, Unexpected) as error:
                self._leave_out(process.pid, str(error))
        return readable

    def _sample(self, process: Process) -> bool:
        """Add the stacks of a process; return False if it could not be read, or is stopped."""
        process.is_stopped = False
        threads, samples = self._threads(process), list[tuple[int, int, str]]()
        if threads is None:
            return False
        for tid, found in threads.items():
            last, stack = process.seen.get(tid, (None, -1))
            is_new = found != last
            if is_new:
                frames = frames_of(found)
                stack = self._journal.stack(frames)
                process.seen[tid] = found, stack
                if frames:
                    process.function = self._journal.function(frames[0][0], frames[0][1])
            if stack >= 0:
                samples.append((tid, stack, process.state(tid, is_new=is_new)))
                if process.is_stopped:
                    self._journal.drop(process.function)
                    return False
        for tid, stack, state in samples:
            self._journal.add(process.pid, tid, stack, state=state)
        return True

    def _threads(self, process: Process) -> dict[int, list[object]] | None:
        """Return the frames of the threads, None if the process has ended or keeps changing."""
        is_frameless = False
        for attempt in range(self._most_retries + 1):
            try:
                threads = process.threads()
            except Changing as error:
                self._problem = str(error)
                is_frameless = isinstance(error, Frameless)
                if is_frameless and process.is_partial:
                    break  # a thread may wait long for the GIL
                if isinstance(error, TooDeep) and attempt:
                    break  # not for a moment only, and each try takes long
            except Ended:
                self._forget(process.pid)
                return None
            else:
                process.is_partial = False
                self._repeated += attempt > 0 and process is self._first
                return threads
        found = self._some_threads(process) if is_frameless else None
        process.is_partial = found is not None
        if found is None and process.is_running():
            self._journal.drop(process.function)
        elif found is None:
            self._forget(process.pid)
        elif process is self._first:
            self._journal.count_partial()
        return found

    def _some_threads(self, process: Process) -> dict[int, list[object]] | None:
        """Return the frames of the threads on a processor, or of the one with the GIL, None as `_threads`.

        A thread that waits for the GIL to begin is on a processor now and then, and never has the GIL.
        """
        for attempt in range(self._most_retries + 1):
            try:
                return process.threads_in(HOLDS_GIL if attempt % 2 else ON_CPU)
            except Changing:
                continue
            except Ended:
                break
        return None

    def _find_children(self, opened: Callable[[int], Process], now_s: float) -> None:
        for pid in proc_files.children(self._first.pid):
            if pid in self._processes or pid in self._left_out:
                continue
            try:
                process = opened(pid)
                process.try_to_read()
            except Ended:
                continue
            except (Changing, Denied, Unexpected) as error:  # it may be starting, or be no Python
                if now_s - self._starting_s.setdefault(pid, now_s) > _CHILD_STARTS_S:
                    self._leave_out(pid, str(error))
                continue
            self._processes[pid] = process
            self._readable_s[pid] = now_s
            self._journal.add_child(pid, proc_files.command(pid))

    def _leave_out(self, pid: int, reason: str) -> None:
        self._forget(pid)
        self._left_out.add(pid)
        self._journal.leave_out(pid, reason)

    def _forget(self, pid: int) -> None:
        if pid != self._first.pid:
            if pid in self._processes:
                self._processes[pid].close()
            for known in (self._processes, self._readable_s, self._starting_s):
                known.pop(pid, None)
