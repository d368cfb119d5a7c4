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
import opcode
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

import profkit
from benchmarks.faults.programs.owned import OwnLog
from profkit import MeasuredRun, Run, profile, profiled, tracing
from profkit.calls import slow_path
from profkit.session.activity import OPEN_BLOCKS

if TYPE_CHECKING:
    from _typeshed import TraceFunction

LOG = OwnLog(sys.argv[1])
KIND, STAGE, SAMPLER = sys.argv[2:5]
FIRST, EVERY, MOST = map(int, sys.argv[5:])

OWN = f"{profkit.__path__[0]}/"
BEFORE = frozenset(
    number for name, number in opcode.opmap.items() if name.startswith(("CALL", "JUMP_BACKWARD", "RESUME"))
)
RETURN = opcode.opmap["RETURN_VALUE"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


def seen(function: Callable[_P, _R], /, *arguments: _P.args, **options: _P.kwargs) -> _R:
    """Call a function that other tracers do not see."""
    return function(*arguments, **options)


class Said(logging.Handler):
    """Handler that writes what profkit says to the log."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a message."""
        LOG.write(f"said {record.getMessage()}")


class Interrupter:
    """Tracer that raises at one place."""

    def __init__(self, place: int) -> None:
        self.left = place
        self.where = ""
        self._last: dict[FrameType, int] = {}

    def trace(self, frame: FrameType, event: str, _argument: object) -> TraceFunction | None:
        """Trace one event."""
        if not frame.f_code.co_filename.startswith(OWN):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "return":
            self._last.pop(frame, None)
        elif event == "opcode":
            self._maybe_raise(frame)
        return self.trace

    def _maybe_raise(self, frame: FrameType) -> None:
        before, now = self._last.get(frame, -1), frame.f_code.co_code[frame.f_lasti]
        self._last[frame] = now
        # A handler runs at the end of the call, which a `try` around `return` still includes.
        if before in BEFORE and now != RETURN:
            self.left -= 1
            if self.left == -1:
                self.where = f"{frame.f_code.co_filename.removeprefix(OWN)}:{frame.f_lineno}"
                raise KeyboardInterrupt


sampled = partial(profile, sampler=SAMPLER)


@sampled
def function() -> int:
    """Return a number."""
    return 1


@sampled
def generator() -> Iterator[int]:
    """Yield twice."""
    yield 1
    yield 2


@sampled
async def coroutine() -> int:
    """Suspend once."""
    await asyncio.sleep(0)
    return 1


@sampled
async def async_generator() -> AsyncIterator[int]:
    """Yield twice."""
    yield 1
    await asyncio.sleep(0)
    yield 2


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
    interrupter = Interrupter(place)
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
    if manager is not None and (manager.lock_is_mine() or manager._busy_starting):
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
    tracing.unseen = seen
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
