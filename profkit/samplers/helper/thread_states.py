"""States of threads in rounds of CPython's reader: on a processor, ready for one, or waiting.

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
OFF_PROCESSORS = (b"S", b"D")
"""Letters of threads that sleep, interruptibly or not. A thread that a debugger stopped is neither."""
STOPPED_LETTER = b"T"
"""Letter of a thread that a signal stopped; a tracer's have another one."""
STOPPED = "stopped"
"""State of a thread whose process was stopped by a signal."""
_FILES_END = 100
"""Descriptors from this number on do not stay open: the limit of open files can be low."""
_KNOWN_PER_LOOKUP, _MOST_WITHOUT_LOOKUP = 8, 15
"""Rounds with the same state after which one round needs no lookup, and the most such rounds in a row.

A change is then noticed late by at most an eighth of the time that it took to come.
"""
_MOST_UNUSED = 16
"""Ended threads whose files stay open, since looking for them takes time."""


class Thread:
    """A thread whose state is looked up in its `stat`, again after a part of the time that it lasts."""

    __slots__ = ("file", "folder", "left", "rounds", "state")

    def __init__(self, folder: str) -> None:
        """Open no file yet; the folder is /proc/PID/task/TID."""
        self.folder, self.file = folder, -1
        self.state, self.rounds, self.left = "", 0, 0
        """The last state, for how many rounds it has been known, and how many need no lookup."""

    def repeat(self, rounds: int = 1) -> bool:
        """Keep the state in the next rounds if it has been the same for long; return whether it has."""
        if not self.left:
            return False
        self.left -= 1
        self.rounds += rounds
        return True

    def note(self, state: str, rounds: int = 1, known_per_lookup: int = _KNOWN_PER_LOOKUP) -> None:
        """Note the state in the next rounds, as looked up."""
        if state != self.state:
            self.state, self.rounds = state, 0
        self.rounds += rounds
        self.left = min(self.rounds // known_per_lookup, _MOST_WITHOUT_LOOKUP)

    def letter(self, end: int = 1 << 30) -> bytes:
        """Return the letter of the state, empty if the thread has ended.

        The file stays open if its number is below `end`.
        """
        try:
            if self.file < 0:
                self.file = posix.open(f"{self.folder}/stat", posix.O_RDONLY | posix.O_CLOEXEC)
            text = posix.pread(self.file, _READ_BYTES, 0)
        except OSError:  # its id may be used again
            self.close()
            return b""
        if self.file >= end:
            self.close()
        start = text.rfind(b")") + 2
        return text[start : start + 1]

    def close(self) -> None:
        """Close its file; it is opened again when needed."""
        if self.file >= 0:
            posix.close(self.file)
            self.file = -1


class ThreadStates:
    """States of the threads of a process."""

    def __init__(self, pid: int, *, keep_open: bool, gil: bool = False) -> None:
        """Open no file of a thread yet; `gil` finds out which threads wait for the GIL.

        In the sampled process itself, keep no files open: the program may close them.
        """
        self._gil = Gil(pid) if gil else None
        self._folder, self._end = f"{proc_files.PROC}/{pid}/task", _FILES_END if keep_open else 0
        self._threads: dict[int, Thread] = {}

    def state(self, tid: int) -> str:
        """Return the state of a thread: a letter of the journal, or `STOPPED`; it works if that is not known.

        Call it once a round, and `forget` first if the thread does something else than before.
        """
        thread = self._threads.get(tid)
        if thread is None:
            thread = self._threads[tid] = Thread(f"{self._folder}/{tid}")
        if not thread.repeat():
            thread.note(self._look_up(thread))
            if thread.state == STOPPED:  # it will go on at once
                thread.left = 0
        return thread.state

    def forget(self, tid: int) -> None:
        """Look up the state of a thread again the next time."""
        thread = self._threads.get(tid)
        if thread is not None:
            thread.state, thread.left = "", 0

    def _look_up(self, thread: Thread) -> str:
        letter = thread.letter(self._end)
        if letter == STOPPED_LETTER:
            return STOPPED
        if letter not in OFF_PROCESSORS:
            return WORKING
        waits_for_gil = self._gil is not None and self._gil.is_awaited(system_call(thread.folder))
        return GIL if waits_for_gil else WAITING

    def close_others(self, tids: Set[int]) -> None:
        """Forget threads that are not among `tids`, and close their files, unless there are few."""
        if len(self._threads) > len(tids) + _MOST_UNUSED:
            for tid in self._threads.keys() - tids:
                self._threads.pop(tid).close()

    def close(self) -> None:
        """Close all files."""
        for thread in self._threads.values():
            thread.close()
