"""Call profiled code of every kind for a long time: `soaking.py LOG DURATION_S`."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Iterator

from benchmarks.faults.programs.owned import OwnLog, spin
from profkit import profile, profiled

LOG = OwnLog(sys.argv[1])
END_S = time.monotonic() + float(sys.argv[2])


@profile(label="function")
def function() -> None:
    """Run in three threads."""
    spin(0.002)


@profile(label="generator")
def generator() -> Iterator[int]:
    """Yield items; the generator is not always exhausted."""
    yield 1
    spin(0.002)
    yield 2


@profile(label="coroutine")
async def coroutine() -> None:
    """Run as a coroutine."""
    await asyncio.sleep(0)
    spin(0.002)


def closure(number: int) -> None:
    """Create and decorate a new function each time."""

    @profile(label="closure")
    def inner() -> int:
        return number

    inner()


def loop() -> None:
    """Make one thread's calls, until the time is over."""
    rounds = 0
    while time.monotonic() < END_S:
        rounds += 1
        function()
        next(generator())
        list(generator())
        with profiled("block"):
            spin(0.001)
        closure(rounds)
        if rounds % 300 == 0:
            profile(label="other options", rate=100 + rounds % 50)(spin)(0.01)
            function.last_run  # noqa: B018 - asking for it ends a segment
        time.sleep(0.005)


if __name__ == "__main__":
    threads = [threading.Thread(target=loop) for _ in range(3)]
    for thread in threads:
        thread.start()
    LOG.write("begun")
    while time.monotonic() < END_S:
        asyncio.run(coroutine())
        time.sleep(0.05)
    for thread in threads:
        thread.join()
    print("done")
