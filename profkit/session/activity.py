"""Which region calls are under way in this process, and which of them lead to the caller."""

from __future__ import annotations

import sys
from types import CodeType, FrameType

ACTIVE: list[None] = []
"""One entry for each region call between its start and its end, suspended ones included."""

_MARKERS: dict[int, CodeType] = {}
"""Code objects of all markers by identity; kept here, so that no identity is used twice."""

OPEN_BLOCKS: dict[int, int] = {}
"""How many blocks are open in a frame, by the frame's identity."""


def remember_marker(code: CodeType) -> None:
    """Make a code object known as a region's marker."""
    _MARKERS[id(code)] = code


def own_calls(frame: FrameType | None) -> int:
    """How many active region calls stand on the stack that ends with `frame`."""
    count = 0
    while frame is not None:
        if id(frame.f_code) in _MARKERS:
            count += 1
        count += OPEN_BLOCKS.get(id(frame), 0)
        frame = frame.f_back
    return count


def open_block(frame: FrameType) -> None:
    """Note that a block was entered in `frame`."""
    key = id(frame)
    OPEN_BLOCKS[key] = OPEN_BLOCKS.get(key, 0) + 1


def close_block(key: int) -> None:
    """Note that a block was left in the frame with identity `key`."""
    left = OPEN_BLOCKS.get(key, 0) - 1
    if left > 0:
        OPEN_BLOCKS[key] = left
    else:
        OPEN_BLOCKS.pop(key, None)


def keep_own(frame: FrameType | None) -> None:
    """Forget the calls of threads that a fork did not take along."""
    del ACTIVE[own_calls(frame) :]


def live_stacks() -> tuple[int, int]:
    """(threads, frames of all threads) at this moment."""
    frames = sys._current_frames()
    depth = 0
    for top in frames.values():
        walker: FrameType | None = top
        while walker is not None:
            depth += 1
            walker = walker.f_back
    return len(frames), depth


def is_spawned() -> bool:
    """Whether multiprocessing started this process; of a fork alone `become_child` is told."""
    process = sys.modules.get("multiprocessing.process")
    if process is None:
        return False
    # A parent is known when the child's work begins; while it imports the main module it is "inheriting".
    inheriting = getattr(process.current_process(), "_inheriting", False)
    return inheriting or process.parent_process() is not None
