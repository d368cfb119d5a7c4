"""Frames of all threads of this process, listed without a bug of CPython; for samplers and sessions."""

from __future__ import annotations

import gc
import sys
from types import FrameType

# Until 3.11.8, a garbage collection within the call lets another thread run, and both wait for each other if
# that one starts a thread (python/cpython#106883).
_COLLECTS = sys.version_info < (3, 11, 9)


def current_frames() -> dict[int, FrameType]:
    """Return the frame in which each thread is, by Python's number of the thread."""
    if not (_COLLECTS and gc.isenabled()):
        return sys._current_frames()
    gc.disable()
    try:
        return sys._current_frames()
    finally:
        gc.enable()
