"""From a message's arms to functions that run blocks."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType

from .asked import Arm, Job
from .blocks import Elapsed
from .library import NOTHING, STATEMENT, Library
from .measured import Measured, Namespace, calls, nothing, run_global_setup, statement

Open = contextlib.ExitStack
"""What ends when the job does."""


@contextlib.contextmanager
def own_main() -> Iterator[Namespace]:
    """The names of an empty `__main__`, the user's, whose classes can so be pickled and looked up."""
    workers = sys.modules["__main__"]
    users = sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield vars(users)
    finally:
        sys.modules["__main__"] = workers


def measured_arm(job: Job, place: int, parcel_fd: int | None, still_open: Open) -> Measured:
    """An arm after its setup."""
    arm, use_threads = job["arms"][place], partial(_use_threads, job["num_threads"])
    if arm["library"] is not None:
        return _library(arm["library"], STATEMENT, use_threads, still_open)
    namespace = still_open.enter_context(own_main())
    use_threads()
    measured = _set_up(arm, f" {place + 1}" if len(job["arms"]) > 1 else "", parcel_fd, namespace)
    use_threads()  # the setup may just have imported torch
    return measured


def baseline_of(arm: Arm, still_open: Open) -> Measured:
    """The same loop around nothing; of a Python arm, among the names of the one that was set up last."""
    if arm["library"] is not None:
        return _library(arm["library"], NOTHING, lambda: None, still_open)
    return nothing(vars(sys.modules["__main__"]), arm["level"])


def timed_by(measured: Measured, arm: Arm, num_threads: int) -> Elapsed:
    """How to run a block and time it: by torch where the process has it."""
    if "torch" in sys.modules:
        from .torch_blocks import clock, clock_of_library, elapsed_by_torch

        reads = clock if arm["library"] is None else clock_of_library
        return elapsed_by_torch(measured, reads, arm["stmt"] or "", arm["setup"], num_threads)

    def elapsed(number: int) -> float:
        before, after = measured.run(number, time.perf_counter)
        return after - before

    return elapsed


def _set_up(arm: Arm, nth: str, parcel_fd: int | None, namespace: Namespace) -> Measured:
    if arm["parcel"]:
        from .unpack import unpack

        assert parcel_fd is not None
        return calls(*unpack(parcel_fd))
    run_global_setup(arm["global_setup"], namespace, nth)
    return statement(arm["stmt"] or "", arm["setup"], namespace, arm["level"], nth)


def _library(path: str, function: str, at_start: Callable[[], None], still_open: Open) -> Library:
    library = Library(path, function, at_start)
    still_open.callback(library.close)
    return library


def _use_threads(num_threads: int) -> None:
    """In this thread, where torch is imported."""
    if "torch" in sys.modules:
        from .torch_blocks import use_threads

        use_threads(num_threads)
