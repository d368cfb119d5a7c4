"""A heap that makes every allocation cost the same.

What imports leave behind is a heap full of holes. Where malloc looks for one, and what it splits and merges,
differs from execution to execution: by up to 4 % of what a statement of torch costs. Where there are none,
a statement that frees what it allocates finds its own again, and soon costs the same to the instruction.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

_LARGEST = 8192
"""Of nine such chunks, several rows fit into the pieces of 1 MiB by which heaps grow under Valgrind."""
_IN_A_ROW = 9
"""As many chunks side by side come from the heap's untouched end; a thread's cache holds 7 of a size."""
_MOST = 5000
"""Of a size, lest another allocator, which may never give chunks in a row, be asked for ever."""


def fill_holes() -> int:
    """Take all free memory but the heap's end, for good; how many pieces there were.

    Does nothing where malloc is not glibc's.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "malloc_trim"):
        return 0
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_size_t, [ctypes.c_size_t]
    libc.malloc_trim(ctypes.c_size_t(0))  # merges what lies side by side
    return sum(_take(libc, size) for size in _sizes())


def _sizes() -> Iterator[int]:
    """From large to small, so that no piece is split where it can be taken whole."""
    size = _LARGEST
    while size > 1024:
        yield size
        size = size * 9 // 10
    yield from range(1032, 8, -16)


def _take(libc: ctypes.CDLL, size: int) -> int:
    """Take every free piece of at least this size."""
    taken, in_a_row, last = 0, 0, 0
    # malloc(3): eight bytes of its own, multiples of 16.
    chunk = (size + 8 + 15) // 16 * 16
    while in_a_row < _IN_A_ROW and taken < _MOST:
        here = libc.malloc(size)
        in_a_row = in_a_row + 1 if here - last == chunk else 0
        last, taken = here, taken + 1
    return taken - in_a_row - 1  # a row of n has n + 1 chunks
