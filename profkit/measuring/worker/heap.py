"""Prepare the heap so that instruction counts do not depend on earlier allocations.

Imports leave free chunks of many sizes. How malloc searches, splits and merges them changes the count of a
torch statement by up to 4 %. Without free chunks, a statement reuses its own memory, and its count is stable.

The data of a job, such as paths and environment variables, shift later allocations. C functions such as
memcpy choose their code path by address, which changes counts by up to 1.5 %. So allocations start at page
and pool boundaries.
"""

from __future__ import annotations

import ctypes
import functools
import gc
from collections import deque
from collections.abc import Callable, Iterator
from itertools import repeat

_LARGEST = 8192
"""Of nine such chunks, several rows fit into the pieces of 1 MiB by which heaps grow under Valgrind."""
_IN_A_ROW = 9
"""As many chunks side by side come from the heap's untouched end; a thread's cache holds 7 of a size."""
_MOST = 5000
"""Of a size, lest another allocator, which may never give chunks in a row, be asked for ever."""
_PAGE_BYTES, _HEADER_BYTES = 4096, 16
"""Sizes of a memory page and of the header of a malloc chunk."""

_POOL_BYTES, _FIRST_BLOCK = 16 * 1024, 48
"""Pymalloc: size of a pool, and offset of its first block (CPython's Objects/obmalloc.c)."""
_ARENA_POOLS = 64
_LARGEST_BLOCK = 512
_MOST_POOLS, _MOST_PAGES = 500, 10
"""Limits per block size, and of attempts to reach a page, for the same reason as `_MOST`."""

_KEPT: deque[object] = deque()
"""Keeps allocated objects alive; a deque frees no memory as it grows."""


def start_pages() -> None:
    """Make later allocations start at page and pool boundaries, at the same offsets in every process.

    Allocates all free memory permanently, and advances the end of the heap to a new page.
    """
    gc.collect()  # clears the interpreter's free lists
    fill_holes()
    size = _LARGEST_BLOCK if _has_pools() else 0
    while size > 0:  # an iterator would be freed afterwards, and leave a hole
        _fill_pools(size)
        size -= 16
    for _ in range(_MOST_PAGES):
        if _start_page():
            return
        fill_holes()


def _start_page() -> bool:
    """Advance the end of the heap to a new page; return False if the heap continued elsewhere instead."""
    libc = _glibc()
    if libc is None:
        return True
    end = libc.malloc(_LARGEST) + _LARGEST
    return bool(libc.malloc(_PAGE_BYTES - end % _PAGE_BYTES) == end + _HEADER_BYTES)


def fill_arenas() -> None:
    """Allocate all recycled pools, whose free blocks are not in order of address.

    Stops after a whole arena of adjacent pools: an arena that is new.
    """
    in_a_row, last = 0, 0
    for _ in range(_MOST if _has_pools() else 0):
        taken = deque(
            map(bytes, repeat(_LARGEST_BLOCK - bytes.__basicsize__, _POOL_BYTES // _LARGEST_BLOCK - 1))
        )
        _KEPT.append(taken)
        here = id(taken[0]) // _POOL_BYTES
        in_a_row, last = in_a_row + 1 if here == last + 1 else 0, here
        if in_a_row == _ARENA_POOLS - 1:
            return


def fill_holes() -> int:
    """Allocate all free chunks of malloc permanently, except the end of the heap; return their number.

    Does nothing where malloc is not glibc's.
    """
    libc = _glibc()
    if libc is None:
        return 0
    libc.malloc_trim(ctypes.c_size_t(0))  # merges what lies side by side
    return sum(_take(allocate, size) for allocate, size in _requests(libc))


@functools.cache
def _has_pools() -> bool:
    """Return whether this interpreter uses pymalloc; PYTHONMALLOC can select another allocator."""
    return _fill_pools(_LARGEST_BLOCK)


def _fill_pools(size: int) -> bool:
    """Allocate all free blocks of a size, so that the next one starts a pool; return False if none does.

    Always uses two pools, whether or not the first one was partly in use.
    """
    make, each = _maker(size)
    blocks = (_POOL_BYTES - _FIRST_BLOCK) // size
    for _ in range(_MOST_POOLS):
        taken = deque(map(make, repeat(each, blocks)))
        _KEPT.append(taken)
        first = next((n for n, one in enumerate(taken) if id(one) % _POOL_BYTES == _FIRST_BLOCK), None)
        if first is not None:
            _KEPT.extend(map(make, repeat(each, first or blocks)))
            return True
    return False


def _maker(size: int) -> tuple[Callable[[int], object], int]:
    """Return a function that makes an object of a size, and the function's argument."""
    if size > bytes.__basicsize__:
        return bytes, size - bytes.__basicsize__
    return (complex, 1) if size == complex.__basicsize__ else (_plain_object, 0)


def _plain_object(_: int) -> object:
    return object()


@functools.cache
def _glibc() -> ctypes.CDLL | None:
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "malloc_trim"):
        return None
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_size_t, [ctypes.c_size_t]
    return libc


Allocate = Callable[[int], int]
"""Allocates a chunk of a size that is never freed, and returns its address."""


def _requests(libc: ctypes.CDLL) -> Iterator[tuple[Allocate, int]]:
    """From large to small, so that no piece is split where it can be taken whole."""
    size = _LARGEST
    while size > 1024:
        yield _bytes_at, size
        size = size * 9 // 10
    yield from ((_bytes_at, size) for size in range(1032, _LARGEST_BLOCK, -16))
    yield from ((libc.malloc, size) for size in range(_LARGEST_BLOCK - 8, 8, -16))


def _bytes_at(size: int) -> int:
    """Allocate through a bytes object, which pymalloc passes to malloc; five times as fast as ctypes."""
    made = bytes(size - bytes.__basicsize__)
    _KEPT.append(made)
    return id(made)


def _take(allocate: Allocate, size: int) -> int:
    """Take every free piece of at least this size."""
    taken, in_a_row, last = 0, 0, 0
    # malloc(3): eight bytes of its own, multiples of 16.
    chunk = (size + 8 + 15) // 16 * 16
    while in_a_row < _IN_A_ROW and taken < _MOST:
        here = allocate(size)
        in_a_row = in_a_row + 1 if here - last == chunk else 0
        last, taken = here, taken + 1
    return taken - in_a_row - 1  # a row of n has n + 1 chunks
