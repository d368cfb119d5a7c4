"""States of threads in the kernel: whether they are on a processor or ready for one, or wait.

CPython's reader can report them, too. But it opens a file per thread in each round, even for a thread that is
known to work because it has the GIL, which takes more than half as long as the rest. So files stay open here,
and a state is looked up again after an eighth of the rounds for which it has been the same.
"""

from __future__ import annotations

import posix

from . import proc_files
from .journal import GIL, WAITING, WORKING
from .proc_files import Gil, system_call

TYPE_CHECKING = False  # `typing` takes long to import
if TYPE_CHECKING:
    from collections.abc import Set

_READ_BYTES = 128
"""Enough for the state, the third field: names have at most 15 characters."""
_OFF_PROCESSORS = (b"S", b"D")
"""Sleeping, and sleeping without being interruptible. A thread that a debugger stopped is neither."""
STOPPED = "stopped"
"""State of a thread whose process was stopped by a signal."""
_STOPPED_LETTER = b"T"
_FILES_END = 100
"""Descriptors from this number on do not stay open: the limit of open files can be low."""
_KNOWN_PER_LOOKUP, _MOST_WITHOUT_LOOKUP = 8, 15
"""Rounds with the same state after which one round needs no lookup, and the most such rounds in a row.

A change is then noticed late by at most an eighth of the time that it took to come.
"""
_MOST_UNUSED = 16
"""Ended threads whose files stay open, since looking for them takes time."""


class _State:
    """State of a thread, for how many rounds it has been the same, and rounds until the next lookup."""

    __slots__ = ("left", "rounds", "value")

    def __init__(self, value: str) -> None:
        self.value, self.rounds, self.left = value, 0, 0


class ThreadStates:
    """States of the threads of a process, from /proc/PID/task/TID/stat (proc(5))."""

    def __init__(self, pid: int, *, keep_open: bool, gil: bool = False) -> None:
        """Open no file of a thread yet; `gil` finds out which threads wait for the GIL.

        In the sampled process itself, keep no files open: the program may close them.
        """
        self._gil = Gil(pid) if gil else None
        self._folder, self._keep_open = f"{proc_files.PROC}/{pid}/task", keep_open
        self._files: dict[int, int] = {}
        self._known: dict[int, _State] = {}

    def state(self, tid: int) -> str:
        """Return the state of a thread: a letter of the journal, or `STOPPED`; it works if that is not known.

        Call it once a round, and `forget` first if the thread does something else than before.
        """
        known = self._known.get(tid)
        if known is not None and known.left:
            known.left -= 1
            known.rounds += 1
            return known.value
        value = self._look_up(tid)
        if known is None or known.value != value:
            known = self._known[tid] = _State(value)
        known.rounds += 1
        if value != STOPPED:  # it will go on at once
            known.left = min(known.rounds // _KNOWN_PER_LOOKUP, _MOST_WITHOUT_LOOKUP)
        return value

    def forget(self, tid: int) -> None:
        """Look up the state of a thread again the next time."""
        self._known.pop(tid, None)

    def _look_up(self, tid: int) -> str:
        try:
            stat = self._read(tid)
        except OSError:  # it has ended; its id may be used again
            self._close(tid)
            return WORKING
        place = stat.rfind(b")") + 2
        letter = stat[place : place + 1]
        if letter == _STOPPED_LETTER:
            return STOPPED
        if letter not in _OFF_PROCESSORS:
            return WORKING
        waits_for_gil = self._gil is not None and self._gil.is_awaited(system_call(f"{self._folder}/{tid}"))
        return GIL if waits_for_gil else WAITING

    def close_others(self, tids: Set[int]) -> None:
        """Forget threads that are not among `tids`, and close their files, unless there are few."""
        if max(len(self._files), len(self._known)) > len(tids) + _MOST_UNUSED:
            for tid in (self._files.keys() | self._known.keys()) - tids:
                self._close(tid)
                self.forget(tid)

    def close(self) -> None:
        """Close all files."""
        for tid in list(self._files):
            self._close(tid)

    def _read(self, tid: int) -> bytes:
        file = self._files.get(tid)
        if file is not None:
            return posix.pread(file, _READ_BYTES, 0)
        file = posix.open(f"{self._folder}/{tid}/stat", posix.O_RDONLY | posix.O_CLOEXEC)
        if self._keep_open and file < _FILES_END:
            self._files[tid] = file
            return posix.pread(file, _READ_BYTES, 0)
        try:
            return posix.read(file, _READ_BYTES)
        finally:
            posix.close(file)

    def _close(self, tid: int) -> None:
        file = self._files.pop(tid, None)
        if file is not None:
            posix.close(file)
