"""Garbage collection during commands: rare, off for large profiles; large freed blocks go to the system."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_YOUNG_OBJECTS = 100_000
"""Number of new containers after which Python's collector looks at them; its default is 700 or 2,000."""
_M_MMAP_THRESHOLD = -3
_RETURNED_BYTES = 1 << 20


@contextmanager
def for_short_commands() -> Iterator[None]:
    """Collect garbage rarely, and not when the process ends: both would only traverse imported modules."""
    before = gc.get_threshold()
    gc.set_threshold(_YOUNG_OBJECTS, *before[1:])
    atexit.unregister(gc.freeze)  # of an earlier command in this process
    atexit.register(gc.freeze)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def for_large_profiles() -> Iterator[None]:
    """Disable Python's collector, which would traverse a large tree without cycles repeatedly.

    From the first use on, glibc returns freed blocks of a megabyte or more to the system. By default it
    keeps blocks of up to 32 MiB, once one of that size has been freed, such as a stored profile. Source:
    mallopt(3).
    """
    _return_large_blocks()
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _return_large_blocks() -> None:
    # Other C libraries have no such function, and a Python can be built without ctypes.
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _RETURNED_BYTES)
