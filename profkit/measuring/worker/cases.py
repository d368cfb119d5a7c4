"""Set up the cases of a job, Python or C++, as code that runs in blocks."""

from __future__ import annotations

import contextlib
import ctypes
import random
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from queue import SimpleQueue
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from .protocol import Case, JobMessage
from .runnable import InThisThread, Namespace, Runnable, calls, nothing, run_global_setup, statement

if TYPE_CHECKING:
    from concurrent.futures import Future  # imported late: it takes long, and few jobs need it

T = TypeVar("T")

STATEMENT, NOTHING = "profkit_measure", "profkit_measure_empty"
"""Functions that a shared object exports: the statement, and the empty block as a baseline."""

_Block = Callable[[int, int], bytes | None]


def within(path: str, function: str, work: Callable[[Runnable], T]) -> T:
    """Run a shared object's setup in this thread, and `work` while its variables and guards exist.

    Raises what `work` raises, and RuntimeError with the user's C++ exception.
    """
    done: list[T] = []
    raised: list[BaseException] = []

    def ready(block: _Block, context: int) -> None:
        try:
            done.append(work(_Blocks(block, context)))
        except BaseException as error:  # noqa: BLE001 - re-raised outside C++
            raised.append(error)

    measure = getattr(ctypes.CDLL(path), function)
    measure.restype = ctypes.c_char_p
    block_type = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64)
    thrown = measure(ctypes.CFUNCTYPE(None, block_type, ctypes.c_void_p)(ready))
    if raised:
        raise raised[0]
    _raise_if_thrown(thrown)
    return done[0]


class _Blocks(InThisThread):
    def __init__(self, block: _Block, context: int) -> None:
        self._block, self._context = block, context

    def run(self, number: int, probe: Callable[[], T]) -> tuple[T, T]:
        block, none = partial(self._block, self._context, number), ()
        before = probe(*none)
        thrown = block(*none)
        after = probe(*none)
        _raise_if_thrown(thrown)
        return before, after


class Library:
    """A shared object with its own thread; raises RuntimeError with the user's C++ exception."""

    def __init__(self, path: str, function: str, at_start: Callable[[], None] = lambda: None) -> None:
        """Start the thread, which calls `at_start` and then runs the setup."""
        from concurrent.futures import Future

        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        ready: Future[Runnable] = Future()
        self._thread = threading.Thread(
            target=self._live, args=(path, function, at_start, ready), name=function, daemon=True
        )
        self._thread.start()
        self._blocks = ready.result()

    def do(self, task: Callable[[], T]) -> T:
        """Run a task in the object's thread. See `Runnable.do`."""
        from concurrent.futures import Future

        done: Future[T] = Future()

        def whole() -> None:
            try:
                result = task()
            except BaseException as error:  # noqa: BLE001 - re-raised in the calling thread
                done.set_exception(error)
            else:
                done.set_result(result)

        self._tasks.put(whole)
        return done.result()

    def run(self, number: int, probe: Callable[[], T]) -> tuple[T, T]:
        """Run a block, in the object's thread. See `Runnable.run`."""
        return self._blocks.run(number, probe)

    def close(self) -> None:
        """Destroy the setup's variables and end the thread."""
        self._tasks.put(None)
        self._thread.join()

    def _live(self, path: str, function: str, at_start: Callable[[], None], ready: Future[Runnable]) -> None:
        def serve(blocks: Runnable) -> None:
            ready.set_result(blocks)
            while (task := self._tasks.get()) is not None:
                task()

        try:
            at_start()
            within(path, function, serve)
        except BaseException as error:  # noqa: BLE001 - re-raised in the thread that made the object
            ready.set_exception(error)


def _raise_if_thrown(text: bytes | None) -> None:
    if text is not None:
        raise RuntimeError(text.decode("utf-8", "replace"))


_Open = contextlib.ExitStack
"""Resources that are closed when the job ends."""


@contextlib.contextmanager
def own_main() -> Iterator[Namespace]:
    """Yield the names of an empty `__main__` for the user, whose classes can then be pickled by name."""
    workers = sys.modules["__main__"]
    users = sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield vars(users)
    finally:
        sys.modules["__main__"] = workers


def with_cases(job: JobMessage, payload_fd: int | None, work: Callable[[list[Runnable]], T]) -> T:
    """Call `work` with a job's cases, after their setups.

    A single library gets no thread of its own: with two threads, C++ counts references of shared pointers
    atomically, and some statements become 50 % slower.
    """
    first, *others = job["cases"]
    if first["library"] is not None and not others:
        _use_threads(job["num_threads"])
        return within(first["library"], STATEMENT, lambda measured: work([measured]))
    with contextlib.ExitStack() as still_open:
        # In random order: the first case gets better places in memory.
        indexes = random.Random(job["seed"]).sample(range(len(job["cases"])), len(job["cases"]))
        ready = {index: _measured_case(job, index, payload_fd, still_open) for index in indexes}
        return work([ready[index] for index in sorted(ready)])


def with_baseline(
    job: JobMessage, index: int, payload_fd: int | None, work: Callable[[Runnable, Runnable], T]
) -> T:
    """Call `work` with a case after its setup, and with the same loop, empty."""
    case = job["cases"][index]
    library = case["library"]
    if library is not None:
        _use_threads(job["num_threads"])
        return within(
            library, NOTHING, lambda empty: within(library, STATEMENT, lambda full: work(full, empty))
        )
    with contextlib.ExitStack() as still_open:
        measured = _measured_case(job, index, payload_fd, still_open)
        return work(measured, nothing(vars(sys.modules["__main__"]), case["level"]))


def _measured_case(job: JobMessage, index: int, payload_fd: int | None, still_open: _Open) -> Runnable:
    case, use_threads = job["cases"][index], partial(_use_threads, job["num_threads"])
    if case["library"] is not None:
        library = Library(case["library"], STATEMENT, use_threads)
        still_open.callback(library.close)
        return library
    namespace = still_open.enter_context(own_main())
    use_threads()
    measured = _set_up(case, f" {index + 1}" if len(job["cases"]) > 1 else "", payload_fd, namespace)
    use_threads()  # the setup may have imported torch
    return measured


def _set_up(case: Case, nth: str, payload_fd: int | None, namespace: Namespace) -> Runnable:
    if case["payload"]:
        from .unpack import unpack

        assert payload_fd is not None
        call = unpack(payload_fd)
        if case["stmt"] is None:
            return calls(*call, again=partial(unpack, payload_fd, read=True))
        namespace.update(call[2])
    futures = run_global_setup(case["global_setup"], namespace, nth)
    return statement(case["stmt"] or "", case["setup"], namespace, case["level"], futures, nth)


def _use_threads(num_threads: int) -> None:
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(num_threads)
