"""Raise KeyboardInterrupt at places of a profiled call.

The arguments are LOG KIND STAGE SAMPLER FIRST EVERY MOST. CPython runs signal handlers after calls, at the
beginning of functions and at the ends of loops. Every such moment in profkit's code is a place. This
interrupts one call at each `EVERY`th place from `FIRST`, `MOST` calls at most. Another call follows each, and
must be counted. Stages: "warm" (a session counts the function already) and "starting" (the call starts a
session).
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

import profkit
from benchmarks.faults.programs import kinds
from benchmarks.faults.programs.interrupter import Interrupter, see_own_work
from benchmarks.faults.programs.owned import OwnLog
from profkit import MeasuredRun, Run, profile, profiled
from profkit.calls import slow_path
from profkit.session.activity import OPEN_BLOCKS

LOG = OwnLog(sys.argv[1])
KIND, STAGE, SAMPLER = sys.argv[2:5]
FIRST, EVERY, MOST = map(int, sys.argv[5:])
OWN = (f"{profkit.__path__[0]}/",)


class Said(logging.Handler):
    """Handler that writes what profkit says to the log."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a message."""
        LOG.write(f"said {record.getMessage()}")


sampled = partial(profile, sampler=SAMPLER)
function, generator = sampled(kinds.function), sampled(kinds.generator)
coroutine, async_generator = sampled(kinds.coroutine), sampled(kinds.async_generator)


@sampled(scope="process")
def process() -> int:
    """Return a number; whole segments belong to this."""
    return 1


BLOCK = profiled("block", sampler=SAMPLER)


def block() -> None:
    """Enter a block."""
    with BLOCK:
        pass


async def consume() -> None:
    """Exhaust the async generator."""
    async for _ in async_generator():
        pass


def finish(running: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine to its end, without an event loop."""
    with suppress(StopIteration):
        while True:
            running.send(None)


class Recorded(Protocol):
    """A decorated function, or a block."""

    @property
    def runs(self) -> Sequence[Run | MeasuredRun]:
        """Its runs in this process."""


CALLS: dict[str, tuple[Callable[[], object], Recorded]] = {
    "function": (function, function),
    "generator": (lambda: list(generator()), generator),
    "coroutine": (lambda: finish(coroutine()), coroutine),
    "async generator": (lambda: finish(consume()), async_generator),
    "task": (lambda: asyncio.run(coroutine()), coroutine),
    "process": (process, process),
    "block": (block, BLOCK),
}
"""Calls by their kind, and what has their `runs`."""


def end_session() -> None:
    """End the session, so that the next call starts one."""
    if slow_path._known_manager is not None:
        slow_path._known_manager.end_session()


def interrupt(call: Callable[[], object], place: int) -> Interrupter:
    """Call, and interrupt at a place."""
    interrupter = Interrupter(place, OWN)
    gc.disable()  # what finalizers raise is ignored
    sys.settrace(interrupter.trace)
    try:
        call()
    except KeyboardInterrupt:
        pass
    else:
        sys.settrace(None)
        if interrupter.where:
            LOG.write(f"swallowed at {interrupter.where}")
    finally:
        sys.settrace(None)
        gc.enable()
    return interrupter


def left_behind() -> Iterator[str]:
    """Yield what an interrupted call has left."""
    manager = slow_path._known_manager
    if manager is not None and (manager.lock_is_mine() or manager._is_starting()):
        yield "a lock"
    if OPEN_BLOCKS:
        yield "an open block"
        OPEN_BLOCKS.clear()


def counted(source: Recorded) -> tuple[int, int]:
    """Return the number of counted calls, and of those within another call."""
    runs = [run for run in source.runs if isinstance(run, Run)]
    return sum(run.info.calls for run in runs), sum(run.info.nested for run in runs)


def main() -> None:
    """Interrupt at the chosen places, each followed by a call."""
    call, source = CALLS[KIND]
    see_own_work()
    logging.getLogger("profkit").addHandler(Said(logging.WARNING))
    for place in range(FIRST, FIRST + EVERY * MOST, EVERY):
        call()
        if STAGE == "starting":
            end_session()
        interrupter = interrupt(call, place)
        for problem in left_behind():
            LOG.write(f"left {problem} at {interrupter.where}")
        calls, nested = counted(source)
        call()
        if not interrupter.where:
            break
        if counted(source) != (calls + 1, nested):
            LOG.write(f"uncounted after {interrupter.where}: {counted(source)}, not {calls + 1}, {nested}")
        LOG.write(f"interrupted at {interrupter.where}")
    LOG.write("done")


if __name__ == "__main__":
    main()
