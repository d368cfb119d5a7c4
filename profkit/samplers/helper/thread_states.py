"""States of threads in the kernel: whether they are on a processor or wait for one.

CPython's reader can report them, too. But it opens a file per thread in each round, even for a thread that is
known to work because it has the GIL. Reading a file that stays open takes less than half as long.
"""

from __future__ import annotations

import posix

TYPE_CHECKING = False  # `typing` takes long to import
if TYPE_CHECKING:
    from collections.abc import Set

_READ_BYTES = 128
"""Enough for the state, the third field: names have at most 15 characters."""
_OFF_PROCESSORS = (b"S", b"D")
"""Sleeping, and sleeping without being interruptible. A thread that a debugger stopped is neither."""
_FILES_END = 100
"""Descriptors from this number on do not stay open: the limit of open files can be low."""
_MOST_UNUSED = 16
"""Open files of ended threads that are tolerated, since looking for them takes time."""


class ThreadStates:
    """States of the threads of a process, from /proc/PID/task/TID/stat (proc(5))."""

    def __init__(self, pid: int, *, keep_open: bool) -> None:
        """Open nothing yet. In the sampled process itself, keep no files open: the program may close them."""
        self._folder, self._keep_open = f"/proc/{pid}/task", keep_open
        self._files: dict[int, int] = {}

    def is_off_processors(self, tid: int) -> bool:
        """Return whether a thread neither is on a processor nor waits for one; False if that is not known."""
        try:
            stat = self._read(tid)
        except OSError:  # it has ended; its id may be used again
            self._close(tid)
            return False
        state = stat.rfind(b")") + 2
        return stat[state : state + 1] in _OFF_PROCESSORS

    def forget_others(self, tids: Set[int]) -> None:
        """Close the files of threads that are not among `tids`, unless there are few."""
        if len(self._files) > len(tids) + _MOST_UNUSED:
            for tid in self._files.keys() - tids:
                self._close(tid)

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
