"""Call profiled code in one of several ways: `caller.py LOG WAY SEED DURATION_S SAMPLER [DEATH AFTER_S]`.

It logs each call. With a DEATH it ends itself that way AFTER_S seconds after it has begun.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import random
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.faults.programs.owned import OwnLog, spin
from profkit import profile, profiled

LOG = OwnLog(sys.argv[1])
RNG = random.Random(sys.argv[3])
END_S = time.monotonic() + float(sys.argv[4])
SAMPLER = sys.argv[5]
RATES_HZ = (50, 100) if SAMPLER == "inprocess" else (100, 200)
"""From the first to below the second; from inside, 100 is the maximum before Python 3.15."""
_HOARD: list[bytearray] = []
_short_of_memory = threading.Event()


def work(duration_s: float, label: str) -> None:
    """Do one call's work; fill the memory if `memory` limited it."""
    with LOG.call(label):
        spin(duration_s)
        while _short_of_memory.is_set() and threading.current_thread() is threading.main_thread():
            _HOARD.append(bytearray(1 << 20))


def running() -> bool:
    """Return whether the given time is not over."""
    return time.monotonic() < END_S


def steady() -> None:
    """Run a function, a block and a generator in one session."""

    @profile(label="items", sampler=SAMPLER)
    def items() -> Iterator[int]:
        for number in range(3):
            work(0.005, "items")
            yield number

    function = profile(label="function", sampler=SAMPLER)(work)
    while running():
        function(0.01, "function")
        with profiled("block", sampler=SAMPLER):
            work(0.01, "block")
        list(items())


def restless() -> None:
    """Start and end sessions: change options, and ask for results."""
    while running():
        function = profile(label="restless", sampler=SAMPLER, rate=RNG.randrange(*RATES_HZ))(work)
        for _ in range(RNG.randrange(1, 12)):
            function(0.02, "restless")
        if RNG.random() < 0.3:
            function.last_run  # noqa: B018 - asking for it ends a segment


def threads() -> None:
    """Run three threads in their own functions, and the main thread in a fourth."""

    def loop(label: str) -> None:
        function = profile(label=label, sampler=SAMPLER)(work)
        while running():
            function(0.01, label)

    for number in range(3):
        threading.Thread(target=loop, args=(f"thread-{number}",), daemon=True).start()
    loop("main")


def coroutines() -> None:
    """Run five tasks of one coroutine function."""

    @profile(label="coroutine", sampler=SAMPLER)
    async def task() -> None:
        while running():
            work(0.004, "coroutine")
            await asyncio.sleep(0)

    async def main() -> None:
        await asyncio.gather(*(task() for _ in range(5)))

    asyncio.run(main())


def memory() -> None:
    """Limit the address space to a few more megabytes."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    limit = pages * resource.getpagesize() + (4 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    _short_of_memory.set()


DEATHS: dict[str, Callable[[], object]] = {
    "abort": os.abort,
    "segfault": lambda: ctypes.string_at(0),
    "_exit": lambda: os._exit(7),
    "memory": memory,
}
WAYS = {way.__name__: way for way in (steady, restless, threads, coroutines)}

if __name__ == "__main__":
    LOG.write("begun", time.monotonic_ns())
    if len(sys.argv) > 6:
        timer = threading.Timer(float(sys.argv[7]), DEATHS[sys.argv[6]])
        timer.daemon = True
        timer.start()
    try:
        WAYS[sys.argv[2]]()
    finally:
        _HOARD.clear()
        LOG.write("exit", time.monotonic_ns())
    print("done")
