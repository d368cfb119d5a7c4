"""Stacks of a process, read by CPython's own `_remote_debugging.RemoteUnwinder`, without stopping it.

The reader is private to each version of Python. So its answers are checked; one that is not as expected
raises `Unexpected`. It reads only processes of the same minor version. A stack that changes meanwhile may
raise an exception, even SystemError without a reason: another read can succeed (Modules/_remote_debugging in
CPython 3.15, Modules/_remote_debugging_module.c in 3.14).
"""

from __future__ import annotations

import sys

from . import proc_files, tasks
from .consistency import Check
from .journal import GIL, WAITING
from .thread_states import STOPPED, ThreadStates

TYPE_CHECKING = False  # `typing` takes long to import
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol, TypeAlias

    from .journal import Frames

    _Place: TypeAlias = tuple[int, int]
    """Number of an interpreter, and a thread's id."""

    class Thread(Protocol):
        """Thread as read; `frame_info` has its frames, leaf first."""

        thread_id: int
        status: int
        frame_info: list[object]

    class Reader(Protocol):
        """CPython's `RemoteUnwinder`."""

        def get_stack_trace(self) -> Iterable[Thread]:
            """Return the threads, by interpreter since 3.15."""

        def get_async_stack_trace(self) -> Iterable[object]:
            """Return the running tasks of each thread, with those that await them."""


HAS_STATES = sys.version_info >= (3, 15)
"""True if the reader reports the state of each thread, the threads of all interpreters, and instructions."""
ALL_THREADS, ON_CPU, HOLDS_GIL = "all", "cpu", "gil"
"""Threads to sample: all, those on a processor or holding the GIL, and those holding the GIL."""

_WALL, _ON_CPU_ONLY, _WITH_GIL_ONLY, _ALL_STATES = 0, 1, 2, 3
"""Modes of the reader: PROFILING_MODE_WALL, PROFILING_MODE_CPU, PROFILING_MODE_GIL and PROFILING_MODE_ALL."""
_MODES = {ON_CPU: _ON_CPU_ONLY, HOLDS_GIL: _WITH_GIL_ONLY}
_FRAMELESS = "initial frame"
"""Part of the reader's message about a thread without frames."""
TOO_DEEP = "Too many "
"""Beginning of its messages about too many frames or tasks: about 1,500 with 3.15, 1,000 with 3.14."""
_UNREADABLE = "<unreadable>"
_FIRST_TRIES = 10
_HAS_GIL_BIT, _ON_CPU_BIT, _GIL_REQUESTED_BIT = 1, 2, 8
_WANTED = {ALL_THREADS: 0, ON_CPU: _ON_CPU_BIT | _HAS_GIL_BIT, HOLDS_GIL: _HAS_GIL_BIT}


class Unexpected(Exception):
    """The reader did not answer as expected."""


class Denied(Exception):
    """The system does not allow this process to read the other one."""


class Ended(Exception):
    """The process has ended."""


class Changing(Exception):
    """A stack changed while it was read: another read may succeed."""


class Frameless(Changing):
    """A thread has no frames, such as one that waits for the GIL to begin: no other can be read either."""


class TooDeep(Changing):
    """A stack has, or seems to have, too many frames for the reader: no thread can be read meanwhile."""


class Process:
    """A sampled process, and what was read of it last."""

    def __init__(self, pid: int, only: str, *, without: int = -1, with_tasks: bool = False) -> None:
        """Open a process, without interpreter number `without`; raises Denied, Ended or Unexpected."""
        self.pid, self._wanted, self._without = pid, _WANTED[only], without
        self._with_tasks = with_tasks
        self._start = proc_files.start_ticks(pid)
        self._reader = _reader(pid, _WALL if only == ALL_THREADS else _ALL_STATES, with_tasks=with_tasks)
        self._readers: dict[str, Reader] = {}
        """Readers of some of the threads, by their state."""
        self.seen: dict[int, tuple[object, int]] = {}
        """By thread: its frames as read last, and the number of their stack."""
        self.function = -1
        """Number of the function in which a thread was seen last that was elsewhere before; -1 at first."""
        self.is_partial = False
        """True if only the threads on a processor could be read last."""
        self.is_stopped = False
        """True if a signal has stopped the process, as its states say that were asked for last."""
        self._wanting: set[int] = set()
        """Threads that requested the GIL, as read last; empty if the reader does not report it."""
        self._states = ThreadStates(pid, keep_open=without < 0, gil=not HAS_STATES)
        self._checks: dict[_Place, Check] = {}

    def try_to_read(self) -> None:
        """Read the threads, more than once if they change; raises as `threads`."""
        for _ in range(_FIRST_TRIES):
            try:
                self.threads()
            except Changing:
                continue
            return
        self.threads()

    def is_running(self) -> bool:
        """Return whether the process still runs; a zombie has ended."""
        return self._start is not None and proc_files.start_ticks(self.pid) == self._start

    def threads(self) -> dict[int, list[object]]:
        """Return the frames of each thread by its id, leaf first.

        Raises Changing, Denied, Ended or Unexpected.
        """
        return self._read(self._reader)

    def threads_in(self, state: str) -> dict[int, list[object]]:
        """Return the threads that are `ON_CPU` or `HOLDS_GIL`, even if another one has no frames.

        Raises as `threads`.
        """
        reader = self._readers.get(state)
        if reader is None:
            reader = self._readers[state] = _reader(self.pid, _MODES[state], with_tasks=self._with_tasks)
        return self._read(reader)

    def state(self, tid: int, *, is_new: bool = True) -> str:
        """Return the letter of a thread's state.

        `is_new` says whether its stack is another one than in the last round. A thread that holds the GIL can
        wait, too.
        """
        if is_new:
            self._states.forget(tid)
        state = self._states.state(tid)
        self.is_stopped = state == STOPPED
        return GIL if state == WAITING and tid in self._wanting else state

    def close(self) -> None:
        """Close all files."""
        self._states.close()

    def _read(self, reader: Reader) -> dict[int, list[object]]:
        try:
            return self._threads_with_tasks(reader) if self._with_tasks else self._threads(reader)
        except PermissionError as error:
            raise Denied(error.strerror or str(error)) from error
        except ProcessLookupError as error:
            raise Ended from error
        except (RuntimeError, OSError, ValueError, MemoryError, SystemError) as error:
            raise _changing(str(error)) from error
        except (AttributeError, IndexError) as error:
            raise Unexpected(str(error)) from error

    def _threads(self, reader: Reader) -> dict[int, list[object]]:
        found = reader.get_stack_trace()
        threads = self._of_all(found) if HAS_STATES else {one.thread_id: one.frame_info for one in found}
        self._states.close_others(threads.keys())
        return threads

    def _threads_with_tasks(self, reader: Reader) -> dict[int, list[object]]:
        """Return the frames of each thread, continued by the tasks that await the running one."""
        before = tasks.running(reader.get_async_stack_trace())
        threads = self._threads(reader)
        found = tasks.with_tasks(threads, before, tasks.running(reader.get_async_stack_trace()))
        if found is None:
            raise Changing("another task runs")
        return found

    def _of_all(self, interpreters: Iterable[object]) -> dict[int, list[object]]:
        """Return the threads of all interpreters; one that runs several of them has the stacks of all."""
        threads: dict[int, list[object]] = {}
        wanting = self._wanting = set()
        are_consistent = True
        # A subinterpreter has a higher number than the one that called it.
        others = (one for one in interpreters if _number(one) != self._without)
        for interpreter in sorted(others, key=_number, reverse=True):
            for thread in interpreter.threads:  # type: ignore[attr-defined]
                if thread.status & _GIL_REQUESTED_BIT:
                    wanting.add(thread.thread_id)
                if not self._wanted or thread.status & self._wanted:
                    called = threads.get(thread.thread_id)
                    place = _number(interpreter), thread.thread_id
                    if place not in self._checks:
                        self._checks[place] = Check()
                    found = self._checks[place].consistent(thread.frame_info)
                    if found is None:
                        are_consistent = False
                    else:
                        threads[thread.thread_id] = called + found if called else found
        if not are_consistent:
            raise Changing("a stack is of two moments")
        return threads


def _changing(message: str) -> Changing:
    if message.startswith(TOO_DEEP):
        return TooDeep(message)
    is_frameless = HAS_STATES and _FRAMELESS in message
    return (Frameless if is_frameless else Changing)(message)


def frames_of(found: list[object]) -> Frames:
    """Return frames as read; raises Unexpected."""
    try:
        if not HAS_STATES:
            return [
                (_name(frame.funcname), _name(frame.filename), frame.lineno or 0)  # type: ignore[attr-defined]
                for frame in found
            ]
        return [
            (frame.funcname, frame.filename, frame.location.lineno or 0 if frame.location else 0)  # type: ignore[attr-defined]
            for frame in found
        ]
    except AttributeError as error:
        raise Unexpected(str(error)) from error


def _name(text: str) -> str:
    """Return a name as 3.14 has read it; if it is not ASCII, all of it is zeros (python/cpython#149214)."""
    return _UNREADABLE if "\0" in text else text


def _number(interpreter: object) -> int:
    number: int = interpreter.interpreter_id  # type: ignore[attr-defined]
    return number


def _reader(pid: int, mode: int, *, with_tasks: bool) -> Reader:
    """Return a reader of the stacks of a process; raises Denied, Ended or Unexpected.

    With tasks, it reads no instructions: that takes twice as long, and so more tasks change meanwhile.
    """
    try:
        from _remote_debugging import RemoteUnwinder  # type: ignore[import-not-found]

        if HAS_STATES:
            # To cache frames, it would write into the process's memory.
            reader: Reader = RemoteUnwinder(
                pid,
                all_threads=True,
                mode=mode,
                skip_non_matching_threads=mode in (_ON_CPU_ONLY, _WITH_GIL_ONLY),
                cache_frames=False,
                native=not with_tasks,
                opcodes=not with_tasks,
            )
        else:
            reader = RemoteUnwinder(pid, all_threads=True)
    except PermissionError as error:
        raise Denied(error.strerror or str(error)) from error
    except ProcessLookupError as error:
        raise Ended from error
    except (ImportError, AttributeError, TypeError, ValueError, RuntimeError, OSError, SystemError) as error:
        raise Unexpected(f"{type(error).__name__}: {error}") from error
    return reader
