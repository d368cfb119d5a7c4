"""What the threads of a process do in each round of py-spy, which records no states: read beside it.

At the beginning of each round, py-spy lists the threads of a process and opens its `stat` (remoteprocess 0.5,
`Process::threads` and `Thread::active`). If it stops them, it lists them at least twice more. `Opens` reports
these opens in order. So rounds are counted exactly, and states are read within 0.1 ms on a quiet machine.
Opens of `stat` alone would not do: profkit's ticker and monitors of processes open it, too.

The journal has text lines that are only ever appended; `samplers.thread_rounds` reads it:

    profkit-rounds 1
    p PROCESS PID                  a process; they are numbered from 0 in order, and so are
    t THREAD PROCESS TID ROUND     threads; ROUND is the number of the process's rounds before its first one
    s THREAD RUNS                  states in the next rounds, such as `w12s3g1`
    c THREAD ROUND CPU_US LATE_US SLICES
                                   since it started: its times on a processor and of waiting for one, and how
                                   often it was put on one
    r PROCESS ROUND MS             rounds so far, and the time since the machine was started
    x PROCESS ROUND                a round that failed, by the sampler's log
    b PROCESS ROUND                rounds when the sampler said that it samples; before, it only tries to
"""

from __future__ import annotations

import posix
import sys

from . import proc_files
from .journal import append
from .thread_lookups import Process

HEADER = "profkit-rounds 1"

_WRITE_EVERY_MS, _TIMES_EVERY_MS, _CHILDREN_EVERY_MS = 1000, 500, 100
_NOTABLE_PAUSE_MS = 100
"""Time between two rounds from which on it is recorded: something was stopped or late."""
_SAMPLES = b"Sampling process "
_FAILED = b"Failed to get stack trace from "

_IN_CLOSE_NOWRITE, _IN_OPEN = 0x10, 0x20
_WANTED = _IN_CLOSE_NOWRITE | _IN_OPEN
"""The kernel makes one event of equal ones in a row: those of closes separate those of opens."""
_FLAGS = posix.O_NONBLOCK | posix.O_CLOEXEC
_HEADER_BYTES, _MOST_BYTES = 16, 1 << 16
"""Size of `struct inotify_event` without its name, and the most bytes read at once."""


class Opens:
    """Opens of files by any process, in order, from inotify(7); it reports those of files in /proc, too."""

    def __init__(self) -> None:
        """Raise OSError if the user has too many such readers, and ImportError without ctypes."""
        import ctypes  # here, since it takes 3 ms, in which the sampler can start

        self._libc, self._errno = ctypes.CDLL(None, use_errno=True), ctypes.get_errno
        self.descriptor = self._checked(self._libc.inotify_init1(_FLAGS))

    def watch(self, path: str) -> int:
        """Return the number of a watch on a file or folder; raises OSError."""
        return self._checked(self._libc.inotify_add_watch(self.descriptor, path.encode(), _WANTED))

    def read(self) -> list[int]:
        """Return the watches whose files have been opened since the last call, in order."""
        try:
            data = posix.read(self.descriptor, _MOST_BYTES)
        except BlockingIOError:
            return []
        found, place = list[int](), 0
        while place < len(data):
            watch, mask, _, name_bytes = (
                int.from_bytes(data[place + start : place + start + 4], sys.byteorder)
                for start in (0, 4, 8, 12)
            )
            if mask & _IN_OPEN and not name_bytes:  # with a name, it is a file in the folder
                found.append(watch)
            place += _HEADER_BYTES + name_bytes
        return found

    def _checked(self, result: int) -> int:
        if result < 0:
            code = self._errno()
            raise OSError(code, posix.strerror(code))
        return result


class Rounds:
    """Observer of the rounds in which a process is sampled, and its children if they are, too."""

    def __init__(self, pid: int, output: str, *, stops: bool, children: bool) -> None:
        """Watch for rounds; `stops`: the sampler stops the process. Raises OSError or ImportError."""
        self._first, self._output, self._stops, self._children = pid, output, stops, children
        self._opens = Opens()
        self.descriptor = self._opens.descriptor
        """Readable if `take` has something to do."""
        self._uptime = posix.open(f"{proc_files.PROC}/uptime", posix.O_RDONLY | posix.O_CLOEXEC)
        self._log = posix.open(f"{proc_files.PROC}/self/fd/1", posix.O_RDONLY | posix.O_CLOEXEC)
        self._read_bytes = posix.fstat(self._log).st_size
        self._processes: dict[int, Process] = {}
        self._watches: dict[int, tuple[Process, bool]] = {}
        """By watch: its process, and whether it is the list of threads that is watched."""
        self._threads = 0
        self._lines = [HEADER]
        self._written_ms = self._timed_ms = self._searched_ms = self._round_ms = self._now_ms()
        self._watch(pid)

    def take(self) -> None:
        """Look at the threads if rounds have begun since the last call; raises OSError if it cannot write."""
        begun: dict[Process, int] = {}
        for watch in self._opens.read():
            process, is_list = self._watches[watch]
            if process.begins_round(is_list=is_list):
                begun[process] = begun.get(process, 0) + 1
        now_ms = self._now_ms()
        if begun:
            self._look(begun, now_ms)
        if self._children and now_ms - self._searched_ms >= _CHILDREN_EVERY_MS:
            self._searched_ms = now_ms
            for child in proc_files.children(self._first):
                self._watch(child)
        if now_ms - self._timed_ms >= _TIMES_EVERY_MS:
            self._timed_ms = now_ms
            self._add_times()
        if now_ms - self._written_ms >= _WRITE_EVERY_MS:
            self.write()

    def write(self) -> None:
        """Append what is not written yet; raises OSError."""
        self._written_ms = self._now_ms()
        self._read_log()
        self._add_times()
        for process in self._processes.values():
            self._lines += process.take_runs()
            self._lines.append(f"r {process.number} {process.rounds} {self._round_ms}")
        append(self._output, "".join([f"{line}\n" for line in self._lines]).encode("ascii"))
        self._lines.clear()

    def _watch(self, pid: int) -> None:
        """Watch another process; do nothing if it is watched or has ended."""
        if pid in self._processes:
            return
        try:
            process = Process(pid, len(self._processes), stops=self._stops)
            lists, status = (
                self._opens.watch(f"{proc_files.PROC}/{pid}/{name}") for name in ("task", "stat")
            )
        except OSError:
            if pid == self._first:
                raise
            return
        self._processes[pid] = process
        self._watches[lists], self._watches[status] = (process, True), (process, False)
        self._lines.append(f"p {process.number} {pid}")

    def _look(self, begun: dict[Process, int], now_ms: int) -> None:
        self._read_log()
        if now_ms - self._round_ms >= _NOTABLE_PAUSE_MS:
            for process, number in begun.items():
                self._lines.append(f"r {process.number} {process.rounds - number} {self._round_ms}")
                self._lines.append(f"r {process.number} {process.rounds - number + 1} {now_ms}")
        self._round_ms = now_ms
        for process, number in begun.items():
            before = process.rounds - number
            new = process.find_threads()
            for tid in new:
                self._lines.append(f"t {self._threads} {process.number} {tid} {before}")
                process.add_thread(tid, self._threads)
                self._threads += 1
            process.look(number)
            if new:
                self._add_times()

    def _add_times(self) -> None:
        now_ms = self._now_ms()
        for process in self._processes.values():
            if lines := list(process.new_times()):
                self._lines += (*lines, f"r {process.number} {process.rounds} {now_ms}")

    def _read_log(self) -> None:
        """Record which rounds have failed since the last call, as the sampler's log says."""
        if posix.fstat(self._log).st_size <= self._read_bytes:
            return
        for line in posix.pread(self._log, 1 << 16, self._read_bytes).splitlines(keepends=True):
            if line[-1:] != b"\n":
                break
            self._read_bytes += len(line)
            place = line.find(_FAILED)
            pid = int(line[place + len(_FAILED) :].partition(b":")[0]) if place >= 0 else self._first
            if pid in self._processes and (place >= 0 or _SAMPLES in line):
                process = self._processes[pid]
                self._lines.append(f"{'x' if place >= 0 else 'b'} {process.number} {process.rounds}")

    def _now_ms(self) -> int:
        # Not from a clock: libfaketime may be preloaded.
        return int(posix.pread(self._uptime, 32, 0).split()[0].replace(b".", b"")) * 10
