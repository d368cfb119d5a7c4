"""Calls of regions that are in progress in this process; and whether it is a fork or works for another one.

`Counters.callers` has the thread of each outermost call of a function, `Counters.open_runs` an entry for each
run of a coroutine or generator. Blocks are in `OPEN_BLOCKS`.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import CodeType, FrameType
from typing import Protocol, TypeVar
from weakref import ref

from profkit.originals import REAL
from profkit.process.background import current_frames

Caller = object
"""Identity of a thread, or of a greenlet in programs that have them."""


class Counted(Protocol):
    """The calls of a region that are in progress: `Counters`."""

    callers: dict[Caller, None]
    open_runs: list[None]


CountedT = TypeVar("CountedT", bound=Counted)


class OpenBlock(Protocol):
    """A block between its start and its end."""

    @property
    def counters(self) -> Counted | None:
        """The block's counters; None if it has no region yet."""

    @property
    def frame_id(self) -> int:
        """Identity of the frame that contains the block."""


OPEN_BLOCKS: dict[OpenBlock, None] = {}
"""All blocks that are open in this process."""

_COUNTERS: dict[int, ref[Counted]] = {}
"""Live counters of functions by identity, as weak references."""

_BLOCKS: dict[int, ref[Counted]] = {}
"""The same of blocks: there may be many, and `OPEN_BLOCKS` has those that are active."""

_MARKERS: dict[int, tuple[CodeType, ref[Counted]]] = {}
"""Code objects of all markers by identity, with their counters. They live as long as these, so that no
identity is reused."""

_FIRST_PID = os.getpid()

current_caller: Callable[[], Caller] = REAL.get_ident
"""Function that identifies the caller; `greenlet.getcurrent` once that is imported."""


def remember_counters(counters: Counted, *, of_block: bool) -> None:
    """Register counters, so that their calls are counted."""
    key, known = id(counters), _BLOCKS if of_block else _COUNTERS
    # A C callback: a signal handler can run in a Python one, and an exception that it raises there is lost.
    known[key] = ref(counters, partial(known.pop, key))


def remember_marker(code: CodeType, counters: Counted) -> None:
    """Register the code object of a region's marker."""
    key = id(code)
    _MARKERS[key] = code, ref(counters, partial(_MARKERS.pop, key))


def calls_under_way() -> int:
    """Return the number of calls, runs and blocks in progress, in this and all other threads."""
    return len(OPEN_BLOCKS) + sum(
        len(counters.callers) + len(counters.open_runs) for counters in _alive(_COUNTERS)
    )


def under_way(known: Iterable[CountedT]) -> list[CountedT]:
    """Return those of counters that have a call, run or block in progress."""
    blocks = {id(block.counters) for block in list(OPEN_BLOCKS)}
    return [one for one in known if one.callers or one.open_runs or id(one) in blocks]


def own_calls(frame: FrameType | None) -> int:
    """Return how many of `calls_under_way` are on the stack that ends with `frame`."""
    return sum(_own_calls(frame).values()) + len(_own_blocks(frame))


def _own_calls(frame: FrameType | None) -> Counter[Counted]:
    """Count the calls on a stack by region, without blocks; a function's nested calls count as one."""
    counts: Counter[Counted] = Counter()
    while frame is not None:
        known = _MARKERS.get(id(frame.f_code))
        counters = known[1]() if known is not None else None
        if counters is not None:
            counts[counters] = 1 if counters.callers else counts[counters] + 1
        frame = frame.f_back
    return counts


def _own_blocks(frame: FrameType | None) -> list[OpenBlock]:
    opened = list(OPEN_BLOCKS)
    if not opened:
        return []
    frames: set[int] = set()
    while frame is not None:
        frames.add(id(frame))
        frame = frame.f_back
    return [block for block in opened if block.frame_id in frames]


def is_within(code: CodeType, frame: FrameType | None) -> bool:
    """Return whether the stack that ends with `frame` runs this code."""
    while frame is not None:
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False


def is_open_in(counters: Counted, frame: FrameType | None) -> bool:
    """Return whether a block of this region is open on the stack that ends with `frame`."""
    return any(block.counters is counters for block in _own_blocks(frame))


def keep_own(frame: FrameType | None) -> None:
    """Forget the calls of threads that do not exist after a fork."""
    own, caller = _own_calls(frame), current_caller()
    own_blocks = _own_blocks(frame)
    for block in list(OPEN_BLOCKS):
        if block not in own_blocks:
            OPEN_BLOCKS.pop(block, None)
    for counters in _alive(_COUNTERS):
        del counters.open_runs[own[counters] :]
        for other in list(counters.callers):
            if isinstance(other, int) and other != caller:  # this thread's greenlets still exist
                counters.callers.pop(other, None)


def live_stacks() -> tuple[int, int]:
    """Return the current number of threads, and of the frames of all threads."""
    frames = current_frames()
    threads, depth = len(frames), 0
    while frames:  # keep no frame: one that refers to itself would keep all callers' arguments
        walker: FrameType | None = frames.popitem()[1]
        while walker is not None:
            depth += 1
            walker = walker.f_back
    return threads, depth


def is_child() -> bool:
    """Return whether this process was forked since profkit was imported, or started by multiprocessing."""
    return os.getpid() != _FIRST_PID or is_spawned()


def is_spawned() -> bool:
    """Return whether multiprocessing started this process."""
    process = sys.modules.get("multiprocessing.process")
    if process is None:
        return False
    # The parent is known once the child's work begins; while the main module is imported, _inheriting is set.
    inheriting = getattr(process.current_process(), "_inheriting", False)
    return inheriting or process.parent_process() is not None


_WORKERS = ("default_worker",)
"""Names of the scripts of Ray's workers, which are ended by a signal as those of multiprocessing are."""


def is_worker() -> bool:
    """Return whether this process works for another one, which may terminate it at any time."""
    return is_spawned() or os.path.basename(sys.argv[0] if sys.argv else "").partition(".")[0] in _WORKERS


def all_counters() -> Iterator[Counted]:
    """Yield the counters of all regions in this process."""
    yield from _alive(_COUNTERS)
    yield from _alive(_BLOCKS)


def _alive(known: dict[int, ref[Counted]]) -> Iterator[Counted]:
    for reference in list(known.values()):
        counters = reference()
        if counters is not None:
            yield counters
