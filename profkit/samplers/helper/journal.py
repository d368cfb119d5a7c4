"""Journal of stacks: text lines that are only ever appended. `samplers.stack_journal` reads it.

    profkit-stacks 1 PID PERIOD_NS     first line: version of the format, sampled process, intended period
    i KIND                             the sampler is in the sampled process itself: how it reads the stacks
    g                                  there is no GIL
    l KIND REASON                      a better way to read them, and why it could not be used
    q ROUNDS                           from here on, one round in ROUNDS is taken, and counts for all of them
    f NAME FILE                        a function; functions are numbered from 0 in order, and so are
    s PARENT FUNCTION LINE             stacks: a function called by the leaf of stack PARENT, -1 for none
    t PID TID NAME                     threads
    p PID COMMAND                      command line of a child process, its arguments separated by spaces
    r THREAD STACK WEIGHT              samples of a thread, WEIGHT in a row; its state is unknown
    k THREAD STACK WEIGHT              the same of a thread that works: on a processor, or ready for one
    z THREAD STACK WEIGHT              the same of a thread that waits
    y THREAD STACK WEIGHT              the same of a thread that waits for the GIL
    d FUNCTION ROUNDS                  rounds in which a process could not be read, by its last function
    u MS                               time without a stack, as if it was stopped or has called exec
    w ROUNDS                           rounds in which only threads on a processor, or with the GIL, were read
    x PID REASON                       a child process that is not sampled
    n ROUNDS REPEATED SKIPPED          totals so far: rounds, those read more than once, those skipped
    e REASON                           the end; missing if the sampler was killed

Names, files, commands and reasons are JSON strings in ASCII. A reader needs no end: everything up to the last
complete line is valid. Another first line begins a new part, which has its own numbers.
"""

from __future__ import annotations

import posix
from _json import encode_basestring_ascii as quoted

TYPE_CHECKING = False  # `typing` takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

VERSION = 1
_APPEND = posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_CLOEXEC | posix.O_NOFOLLOW
_FOLDER = posix.O_RDONLY | posix.O_DIRECTORY | posix.O_CLOEXEC | posix.O_NOFOLLOW
UNKNOWN, WORKING, WAITING, GIL = "r", "k", "z", "y"
LETTERS = {"UNKNOWN": UNKNOWN, "WORKING": WORKING, "WAITING": WAITING, "GIL": GIL}
"""First letters of the lines of samples, by state."""
ASKED, ENDED, DURATION = "asked", "ended", "duration"
"""Reasons of an end: a signal, the end of the process, and the time limit."""

TASK = "task"
"""Name of the frame of an asyncio task, or its beginning; such a frame has no file."""

Frames = list[tuple[str, str, int]]
"""Name, file and line of each frame, leaf first."""


class Journal:
    """Writer of a journal: tables of functions, stacks and threads, and samples."""

    def __init__(self, path: str, pid: int, period_s: float, name_of: Callable[[int, int], str]) -> None:
        self._path, self._name_of = path, name_of
        self._lines = [f"profkit-stacks {VERSION} {pid} {round(period_s * 1e9)}"]
        self._functions: dict[tuple[str, str], int] = {}
        self._stacks: dict[tuple[int, int, int], int] = {}
        self._threads: dict[tuple[int, int], int] = {}
        self._last: dict[int, tuple[int, str, int]] = {}
        """By thread: its last stack, its state's letter, and how often that was seen since the last line."""
        self._dropped: dict[int, int] = {}
        self._partial = 0

    def describe(self, kind: str, *, gil: bool = True, left: Iterable[tuple[str, str]] = ()) -> None:
        """Record how a sampler in the sampled process reads the stacks, and why not in better ways."""
        self._lines.append(f"i {quoted(kind)}")
        if not gil:
            self._lines.append("g")
        self._lines += [f"l {quoted(way)} {quoted(reason)}" for way, reason in left]

    def take_one_in(self, rounds: int) -> None:
        """Record that from now on each round that is taken counts for so many."""
        self._lines.append(f"q {rounds}")

    def add(self, pid: int, tid: int, stack: int, weight: int = 1, *, state: str = UNKNOWN) -> None:
        """Add one sample of a thread, or several of the same stack and state, given by its letter."""
        thread = self._thread(pid, tid)
        last = self._last.get(thread)
        if last is not None and last[0] == stack and last[1] == state:
            weight += last[2]
        elif last is not None:
            self._lines.append(_samples(thread, *last))
        self._last[thread] = stack, state, weight

    def stack(self, frames: Frames) -> int:
        """Return the number of a stack, -1 for an empty one."""
        parent = -1
        for name, file, line in reversed(frames):
            key = parent, self.function(name, file), line
            number = self._stacks.get(key)
            if number is None:
                number = self._stacks[key] = len(self._stacks)
                self._lines.append(f"s {parent} {key[1]} {line}")
            parent = number
        return parent

    def function(self, name: str, file: str) -> int:
        """Return the number of a function."""
        number = self._functions.get((name, file))
        if number is None:
            number = self._functions[name, file] = len(self._functions)
            self._lines.append(f"f {quoted(name)} {quoted(file)}")
        return number

    def add_child(self, pid: int, command: str) -> None:
        """Record the command line of a child process."""
        self._lines.append(f"p {pid} {quoted(command)}")

    def leave_out(self, pid: int, reason: str) -> None:
        """Record that a child process is not sampled."""
        self._lines.append(f"x {pid} {quoted(reason)}")

    def drop(self, function: int, rounds: int = 1) -> None:
        """Count rounds in which a process could not be read; `function` is the last that it was seen in."""
        self._dropped[function] = self._dropped.get(function, 0) + rounds

    def add_gap(self, length_s: float) -> None:
        """Record a time in which the sampled process could not be read, or was stopped."""
        self._lines.append(f"u {round(length_s * 1e3)}")

    def count_partial(self) -> None:
        """Count a round in which only the threads on a processor could be read."""
        self._partial += 1

    def write(self, rounds: int, repeated: int, skipped: int, reason: str | None = None) -> None:
        """Append everything to the file, and the reason of the end if there is one.

        Creates the file if it is missing. Raises OSError if that fails; the journal must not be used then.
        """
        self._lines += [_samples(thread, *last) for thread, last in self._last.items()]
        self._last.clear()
        self._lines += [f"d {function} {number}" for function, number in self._dropped.items()]
        self._dropped.clear()
        if self._partial:
            self._lines.append(f"w {self._partial}")
            self._partial = 0
        self._lines.append(f"n {rounds} {repeated} {skipped}")
        if reason is not None:
            self._lines.append(f"e {quoted(reason)}")
        data = "".join([f"{line}\n" for line in self._lines]).encode("ascii")
        self._lines.clear()
        append(self._path, data)

    def _thread(self, pid: int, tid: int) -> int:
        number = self._threads.get((pid, tid))
        if number is None:
            number = self._threads[pid, tid] = len(self._threads)
            self._lines.append(f"t {pid} {tid} {quoted(self._name_of(pid, tid))}")
        return number


def _samples(thread: int, stack: int, letter: str, weight: int) -> str:
    return f"{letter} {thread} {stack} {weight}"


def _open(path: str) -> int:
    """Open a file as `profkit.regular_files.open_own` does, which cannot be imported here."""
    above, _, name = path.rpartition("/")
    folder = posix.open(above or ".", _FOLDER)
    try:
        if posix.fstat(folder).st_uid != posix.geteuid():
            raise PermissionError(f"{above} belongs to another user")
        return posix.open(name, _APPEND, 0o600, dir_fd=folder)
    finally:
        posix.close(folder)


def append(path: str, data: bytes) -> None:
    """Append to a file in a folder of this user's; if that fails, the file is as before."""
    # Not kept open: inside the sampled process, the program may close it and reuse its number.
    file = _open(path)
    try:
        size = posix.fstat(file).st_size
        try:
            while data:
                data = data[posix.write(file, data) :]
        except BaseException:  # part of a line would make the following lines unreadable
            posix.ftruncate(file, size)
            raise
    finally:
        posix.close(file)
