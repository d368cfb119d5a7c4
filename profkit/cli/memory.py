"""Memory of commands that read large profiles: no garbage collection, and freed blocks are returned."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_M_MMAP_THRESHOLD = -3
_RETURNED_BYTES = 1 << 20


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
