"""The allocator of glibc: allocate without ever freeing, and ask what is free."""

from __future__ import annotations

import ctypes
import functools
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple


class Free(NamedTuple):
    """Free memory of the main arena, as mallinfo(3) tells; memory in a thread's cache is not free."""

    holes_bytes: int
    """In chunks between allocated ones."""
    end_bytes: int
    """After the last allocated chunk."""


class Malloc:
    """The functions of a C library that has all of them; the interpreter's lock stays held, for speed."""

    def __init__(self, libc: ctypes.PyDLL) -> None:
        self._taken = deque[None](maxlen=0)  # keeps nothing, and a new one would allocate and free memory
        self._take = libc["malloc"]
        self._take.restype = None  # to make an integer of an address takes longer than malloc
        self._address = libc["malloc"]
        self._address.restype = ctypes.c_size_t
        self._trim = libc["malloc_trim"]
        # Before glibc 2.33 there was only mallinfo, whose numbers wrap at 4 GiB.
        new = hasattr(libc, "mallinfo2")
        self._info = libc["mallinfo2" if new else "mallinfo"]
        self._info.restype = _Info if new else _ShortInfo

    def take(self, sizes: Iterable[int]) -> None:
        """Allocate chunks permanently."""
        self._taken.extend(map(self._take, sizes))

    def address(self, size: int) -> int:
        """Allocate a chunk permanently, and return its address."""
        return int(self._address(size))

    def trim(self) -> None:
        """Merge adjacent free chunks."""
        self._trim(ctypes.c_size_t(0))

    def free(self) -> Free:
        """Return how much memory is free."""
        info = self._info()
        return Free((info.fordblks - info.keepcost) % _WRAP, info.keepcost)


_WRAP = 1 << 32
_NAMES = (
    "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
)  # fmt: skip
"""Fields of `struct mallinfo` (mallinfo(3))."""


class _Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in _NAMES]


class _ShortInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint) for name in _NAMES]


@functools.cache
def glibc_malloc() -> Malloc | None:
    """Return glibc's allocator, or None with another C library."""
    libc = ctypes.PyDLL(None)
    return Malloc(libc) if hasattr(libc, "malloc_trim") and hasattr(libc, "mallinfo") else None
