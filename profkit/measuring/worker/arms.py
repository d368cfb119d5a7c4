"""From a message's arms to functions that run blocks."""

from __future__ import annotations

import contextlib
import random
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import TypeVar

from .asked import Arm, Job
from .blocks import Elapsed
from .library import NOTHING, STATEMENT, Library, within
from .measured import Measured, Namespace, calls, nothing, run_global_setup, statement

T = TypeVar("T")

_Open = contextlib.ExitStack
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


def with_arms(job: Job, parcel_fd: int | None, work: Callable[[list[Measured]], T]) -> T:
    """Do something with a job's arms, after their setups.

    A library that is alone gets no thread of its own: where there are two threads, C++ counts its shared
    pointers' owners atomically, and some statements become half as slow again.
    """
    first, *others = job["arms"]
    if first["library"] is not None and not others:
        _use_threads(job["num_threads"])
        return within(first["library"], STATEMENT, lambda measured: work([measured]))
    with contextlib.ExitStack() as still_open:
        # In random order: who is set up first gets the better places in memory.
        places = random.Random(job["seed"]).sample(range(len(job["arms"])), len(job["arms"]))
        ready = {place: _measured_arm(job, place, parcel_fd, still_open) for place in places}
        return work([ready[place] for place in sorted(ready)])


def with_baseline(job: Job, place: int, parcel_fd: int | None, work: Callable[[Measured, Measured], T]) -> T:
    """Do something with an arm after its setup, and with the same loop around nothing."""
    arm = job["arms"][place]
    library = arm["library"]
    if library is not None:
        _use_threads(job["num_threads"])
        return within(
            library, NOTHING, lambda empty: within(library, STATEMENT, lambda full: work(full, empty))
        )
    with contextlib.ExitStack() as still_open:
        measured = _measured_arm(job, place, parcel_fd, still_open)
        return work(measured, nothing(vars(sys.modules["__main__"]), arm["level"]))


def timed_by(measured: Measured, arm: Arm, num_threads: int) -> Elapsed:
    """How to run a block and time it: by torch where the process has it."""
    if "torch" in sys.modules:
        from .torch_blocks import clock, clock_of_library, elapsed_by_torch

        reads = clock() if arm["library"] is None else clock_of_library()
        return elapsed_by_torch(measured, reads, arm["stmt"] or "", arm["setup"], num_threads)

    def elapsed(number: int) -> float:
        before, after = measured.run(number, time.perf_counter)
        return after - before

    return elapsed


def _measured_arm(job: Job, place: int, parcel_fd: int | None, still_open: _Open) -> Measured:
    """An arm after its setup."""
    arm, use_threads = job["arms"][place], partial(_use_threads, job["num_threads"])
    if arm["library"] is not None:
        library = Library(arm["library"], STATEMENT, use_threads)
        still_open.callback(library.close)
        return library
    namespace = still_open.enter_context(own_main())
    use_threads()
    measured = _set_up(arm, f" {place + 1}" if len(job["arms"]) > 1 else "", parcel_fd, namespace)
    use_threads()  # the setup may just have imported torch
    return measured


def _set_up(arm: Arm, nth: str, parcel_fd: int | None, namespace: Namespace) -> Measured:
    if arm["parcel"]:
        from .unpack import unpack

        assert parcel_fd is not None
        return calls(*unpack(parcel_fd), again=partial(unpack, parcel_fd, read=True))
    futures = run_global_setup(arm["global_setup"], namespace, nth)
    return statement(arm["stmt"] or "", arm["setup"], namespace, arm["level"], futures, nth)


def _use_threads(num_threads: int) -> None:
    """In this thread, where torch is imported."""
    if "torch" in sys.modules:
        from .torch_blocks import use_threads

        use_threads(num_threads)
