"""Repeat one public use of profkit, and write what is alive after a tenth of the times and after all.

The arguments are LOG USE TIMES.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import itertools
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from benchmarks.faults.programs import kinds
from benchmarks.faults.programs.owned import OwnLog
from profkit import profile, profiled

NUMBERS = itertools.count()
function, generator = profile(kinds.function), profile(kinds.generator)
coroutine, async_generator = profile(kinds.coroutine), profile(kinds.async_generator)


@profile
def failing() -> None:
    """Raise."""
    raise KeyError(next(NUMBERS))


@profile(scope="process")
def process() -> None:
    """Do nothing; whole segments belong to this."""


@profile(rate=50)
def other_rate() -> None:
    """Do nothing, with options that need a session of their own."""


class Counter:
    """Class with a decorated method."""

    @profile
    def method(self) -> int:
        """Return a number."""
        return 1


@profile
def recurse(depth: int = 3) -> int:
    """Call itself."""
    return recurse(depth - 1) if depth else 1


def fail() -> None:
    """Call what raises."""
    with suppress(KeyError):
        failing()


def enter_block() -> None:
    """Enter a block with options that are made anew, one of them not hashable."""
    with profiled("block", sample_tags=["a", "b"], on_run=lambda run: None):
        pass


def enter_new_label() -> None:
    """Enter a block with another label each time."""
    with profiled(f"label {next(NUMBERS)}"):
        pass


def decorate() -> None:
    """Decorate a new function, and call it."""
    number = next(NUMBERS)

    @profile
    def inner() -> int:
        return number

    inner()


def track_memory() -> None:
    """Decorate a new function, and track the memory of a call."""
    profile(lambda: [0] * 1000, mode="memory")()


@profile(mode="timer", runs=2000, max_signatures=1)
def timed() -> int:
    """Return a number."""
    return 1


def in_thread() -> None:
    """Call in a thread of its own."""
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


async def exhaust() -> None:
    """Exhaust the async generator."""
    async for _ in async_generator():
        pass


def in_child() -> None:
    """Call in a forked child."""
    pid = os.fork()
    if not pid:
        function()
        os._exit(0)
    os.waitpid(pid, 0)


def change_sessions() -> None:
    """Call functions that need different sessions."""
    function()
    other_rate()


USES: dict[str, Callable[[], object]] = {
    "function": recurse,
    "raising": fail,
    "method": lambda: Counter().method(),
    "generator": lambda: list(generator()),
    "unfinished generator": lambda: next(generator()),
    "coroutine": lambda: asyncio.run(coroutine()),
    "async generator": lambda: asyncio.run(exhaust()),
    "block": enter_block,
    "new label": enter_new_label,
    "decorating": decorate,
    "timer": timed,
    "memory": track_memory,
    "thread": in_thread,
    "reading": lambda: (function(), function.last_run),
    "sessions": change_sessions,
    "process": process,
    "fork": in_child,
}


class _MallInfo2(ctypes.Structure):
    """See mallinfo(3)."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks",
            "keepcost",
        )
    )  # fmt: skip


def allocated_bytes() -> int:
    """Return the bytes that malloc has allocated in all arenas: large objects, and those of C libraries."""
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = _MallInfo2
    found = mallinfo2()
    return int(found.uordblks + found.hblkhd)


def alive() -> tuple[int, ...]:
    """Return the numbers of objects, small blocks, threads and descriptors, and the bytes of large blocks."""
    function()
    assert function.runs  # reading them settles what all calls have left
    for _ in range(3):
        gc.collect()
    descriptors = len(os.listdir("/proc/self/fd"))
    objects, threads = len(gc.get_objects()), threading.active_count()
    return objects, sys.getallocatedblocks(), threads, descriptors, allocated_bytes()


def main() -> None:
    """Repeat, and write what is alive."""
    log, use, times = OwnLog(sys.argv[1]), USES[sys.argv[2]], int(sys.argv[3])
    for number in range(times):
        if number == times // 10:
            log.write("early", *alive())
        use()
    log.write("late", *alive())


if __name__ == "__main__":
    main()
