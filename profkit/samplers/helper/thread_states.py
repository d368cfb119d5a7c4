"""States of threads in the kernel: whether they are on a processor or wait for one.

CPython's reader can report them, too. But it opens a file per thread in each round, even for a thread that is
known to work because it has the GIL, which takes more than half as long as the rest. So files stay open here,
and a state is looked up again after an eighth of the rounds for which it has been the same.
"""

from __future__ import annotations

import posix

from . import proc_files

TYPE_CHECKING = False  # `typing` takes long to import
if TYPE_CHECKING:
    from collections.abc import Set

_READ_BYTES = 128
"""Enough for the state, the third field: names have at most 15 characters."""
_OFF_PROCESSORS = (b"S", b"D")
"""Sleeping, and sleeping without being interruptible. A thread that a debugger stopped is neither."""
_FILES_END = 100
"""Descriptors from this number on do not stay open: the limit of open files can be low."""
_KNOWN_PER_LOOKUP, _MOST_WITHOUT_LOOKUP = 8, 15
"""Rounds with the same state after which one round needs no lookup, and the most such rounds in a row.

A change is then noticed late by at most an eighth of the time that it took to come.
"""
_MOST_UNUSED = 16
"""Ended threads whose files stay open, since looking for them takes time."""


class _State:
    """Whether a thread is off the processors, for how many rounds, and rounds until the next lookup."""

    __slots__ = ("is_off", "left", "rounds")

    def __init__(self, is_off: bool) -> None:
        self.is_off, self.rounds, self.left = is_off, 0, 0


class ThreadStates:
    """States of the threads of a process, from /proc/PID/task/TID/stat (proc(5))."""

    def __init__(self, pid: int, *, keep_open: bool) -> None:
        """Open nothing yet. In the sampled process itself, keep no files open: the program may close them."""
        self._folder, self._keep_open = f"{proc_files.PROC}/{pid}/task", keep_open
        self._files: dict[int, int] = {}
        self._known: dict[int, _State] = {}

    def is_off_processors(self, tid: int) -> bool:
        """Return whether a thread neither is on a processor nor waits for one; False if that is not known.

        Call it once a round, and `forget` first if the thread does something else than before.
        """
        known = self._known.get(tid)
        if known is not None and known.left:
            known.left -= 1
            known.rounds += 1
            return known.is_off
        is_off = self._look_up(tid)
        if known is None or known.is_off is not is_off:
            known = self._known[tid] = _State(is_off)
        known.rounds += 1
        known.left = min(known.rounds // _KNOWN_PER_LOOKUP, _MOST_WITHOUT_LOOKUP)
        return is_off

    def forget(self, tid: int) -> None:
        """Look up the state of a thread again the next time."""
        self._known.pop(tid, None)

    def _look_up(self, tid: int) -> bool:
        try:
            stat = self._read(tid)
        except OSError:  # it has ended; its id may be used again
            self._close(tid)
            return False
        state = stat.rfind(b")") + 2
        return stat[state : state + 1] in _OFF_PROCESSORS

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
