"""States and times of threads in rounds of py-spy, from /proc/PID/task (proc(5)), and when to look."""

from __future__ import annotations

import posix

from . import proc_files
from .proc_files import Gil, system_call
from .thread_states import OFF_PROCESSORS, STOPPED_LETTER, Thread

TYPE_CHECKING = False  # `typing` takes long to import
if TYPE_CHECKING:
    from collections.abc import Iterator

WORKS, WAITS, WANTS_GIL, PAUSED = "w", "s", "g", "p"
"""States in the journal: on a processor or ready for one, waiting, waiting for the GIL, and stopped."""

_LISTS, _LISTS_IF_STOPPED = 1, 3
"""Lists of the threads in a round of a sampler that does not stop them, and the fewest if it does."""
_RUNNING = b"running"
_SETTLED_S = 0.0005
"""Time after which a thread that was stopped in a system call waits in it again."""
_KNOWN_PER_LOOKUP = 32
"""Rounds with the same state after which one round needs no lookup."""
_MOST_OPEN = 200
"""Number of threads whose files stay open."""
_TIMES = 3
"""Fields of /proc/PID/task/TID/schedstat (Documentation/scheduler/sched-stats.rst of Linux)."""


class Process:
    """A sampled process: its rounds so far, and its threads."""

    def __init__(self, pid: int, number: int, *, stops: bool) -> None:
        """Raise OSError if there is no such process; `stops`: the sampler stops its threads."""
        self.pid, self.number, self.rounds = pid, number, 0
        self._stops, self._lists = stops, 0
        # An open folder is listed without another open, which would look like the sampler's.
        self._folder = posix.open(
            f"{proc_files.PROC}/{pid}/task", posix.O_RDONLY | posix.O_DIRECTORY | posix.O_CLOEXEC
        )
        self._threads: dict[int, _Thread] = {}
        self._ended: list[_Thread] = []
        self._gil = Gil(pid)

    def begins_round(self, *, is_list: bool) -> bool:
        """Return whether an open begins a round: that of `stat`, after enough lists of the threads."""
        if is_list:
            self._lists += 1
            return False
        if self._lists < (_LISTS_IF_STOPPED if self._stops and self.rounds else _LISTS):
            return False
        self._lists = 0
        self.rounds += 1
        return True

    def find_threads(self) -> list[int]:
        """Return the ids of new threads; those that have ended are no longer looked up."""
        try:
            tids = {int(name) for name in posix.listdir(self._folder)}
        except OSError:  # the process has ended
            tids = set()
        for tid in self._threads.keys() - tids:
            self._ended.append(self._threads.pop(tid))
        return sorted(tids - self._threads.keys())

    def add_thread(self, tid: int, number: int) -> None:
        """Add a thread with its number in the journal."""
        self._threads[tid] = _Thread(f"{proc_files.PROC}/{self.pid}/task/{tid}", number)

    def look(self, rounds: int) -> None:
        """Look up the states of the threads; they count for so many rounds."""
        unclear = []
        for thread in self._threads.values():
            if thread.repeat(rounds):
                continue
            state = self._state(thread)
            if state is None:
                unclear.append(thread)
            else:
                thread.note(state, rounds)
        if unclear:
            import time

            time.sleep(_SETTLED_S)
            for thread in unclear:
                thread.note(self._state(thread) or WORKS, rounds)

    def take_runs(self) -> Iterator[str]:
        """Yield lines of the journal about the states since the last call."""
        for thread in (*self._threads.values(), *self._ended):
            runs = thread.take_runs()
            if runs:
                yield f"s {thread.number} {runs}"
        for thread in self._ended:
            thread.close()
        self._ended.clear()
        for thread in list(self._threads.values())[_MOST_OPEN:]:
            thread.close()

    def new_times(self) -> Iterator[str]:
        """Yield lines of the journal about threads that have run since the last call."""
        for thread in self._threads.values():
            times = thread.new_times()
            if times is not None:
                cpu_ns, late_ns, slices = times
                yield f"c {thread.number} {self.rounds} {cpu_ns // 1000} {late_ns // 1000} {slices}"

    def _state(self, thread: _Thread) -> str | None:
        """Return the state of a thread, None if the sampler may just have stopped or continued it."""
        letter = thread.letter()
        if letter == STOPPED_LETTER:
            return PAUSED
        is_off = letter in OFF_PROCESSORS
        if not is_off and not self._stops:
            return WORKS
        call = thread.system_call()
        if call[0] == _RUNNING:
            return WAITS if is_off else None  # it cannot be read, or has woken since
        if call[0][:1] == b"-":  # in none
            return WORKS
        return WANTS_GIL if self._gil.is_awaited(call) else WAITS


class _Thread(Thread):
    """A thread: its states in the last rounds, and its times."""

    __slots__ = ("_runs", "_times", "number")

    def __init__(self, folder: str, number: int) -> None:
        super().__init__(folder)
        self.number = number
        self._runs: list[tuple[str, int]] = []
        self._times: list[int] = []

    def repeat(self, rounds: int = 1) -> bool:
        """See `Thread.repeat`; adds the state to the runs."""
        repeats = super().repeat(rounds)
        if repeats:
            self._add(rounds)
        return repeats

    def note(self, state: str, rounds: int = 1, known_per_lookup: int = _KNOWN_PER_LOOKUP) -> None:
        """See `Thread.note`; adds the state to the runs."""
        super().note(state, rounds, known_per_lookup)
        self._add(rounds)

    def _add(self, rounds: int) -> None:
        if self._runs and self._runs[-1][0] == self.state:
            rounds += self._runs.pop()[1]
        self._runs.append((self.state, rounds))

    def take_runs(self) -> str:
        """Return the states since the last call, such as `w12s3`."""
        runs = "".join([f"{state}{rounds}" for state, rounds in self._runs])
        self._runs.clear()
        return runs

    def system_call(self) -> list[bytes]:
        """Return the number and arguments of the current system call, or `running` if that cannot be read."""
        return system_call(self.folder) or [_RUNNING]

    def new_times(self) -> list[int] | None:
        """Return the times on a processor and of waiting for one, in ns, and how often it was put on one.

        None if they have not changed since the last call.
        """
        times = [int(field) for field in proc_files.read(f"{self.folder}/schedstat").split()]
        if len(times) < _TIMES or times == self._times:
            return None
        self._times = times
        return times
