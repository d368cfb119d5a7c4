"""Prepare the heap so that instruction counts do not depend on earlier allocations."""

from __future__ import annotations

import ctypes
import functools
import gc
import sys
from collections import deque
from collections.abc import Callable, Iterable
from itertools import pairwise, repeat
from typing import Any, NamedTuple


class Free(NamedTuple):
    """Free memory of the main arena, from mallinfo(3); memory in a thread's cache is not free."""

    holes_bytes: int
    """Size of free chunks between allocated ones."""
    end_bytes: int
    """Size of the free memory after the last allocated chunk."""


class Malloc:
    """glibc's allocation functions, called without releasing the GIL, for speed."""

    def __init__(self, libc: ctypes.PyDLL) -> None:
        self._taken = deque[None](maxlen=0)  # keeps nothing; a new one would allocate and free memory
        self._take = libc["malloc"]
        self._take.restype = None  # converting an address to an integer takes longer than malloc
        self._address = libc["malloc"]
        self._address.restype = ctypes.c_size_t
        self._trim = libc["malloc_trim"]
        # Before glibc 2.33 there is only mallinfo, whose numbers wrap at 4 GiB.
        new = hasattr(libc, "mallinfo2")
        self._info = libc["mallinfo2" if new else "mallinfo"]
        self._info.restype = _Info if new else _ShortInfo

    def take(self, sizes: Iterable[int]) -> None:
        """Allocate chunks permanently."""
        self._taken.extend(map(self._take, sizes))

    def address(self, size: int) -> int:
        """Allocate a chunk permanently and return its address."""
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


_LARGEST, _SMALLEST = 65_536, 32
"""Maximum and minimum sizes of chunks that fill holes; malloc has no smaller ones."""
_CACHED = tuple(range(24, 1033, 16))
"""Request sizes that a thread's cache may serve; cached chunks do not count as free."""
_CACHED_EACH = 7
"""Chunks per size in the cache (`TCACHE_FILL_COUNT` in glibc's malloc/malloc.c)."""
_MAX_SWEEPS = 20
"""Maximum attempts, for other allocators whose free memory never decreases."""
_HEADER_BYTES = 8
"""Size of a chunk's header; chunk sizes are multiples of 16."""
_LAST_BYTES, _PAGE_BYTES = 8184, 4096
"""Sizes of the chunk before a new page and of a page."""

_POOL_BYTES, _FIRST_BLOCK = 16 * 1024, 48
"""Pymalloc: size of a pool and offset of its first block (CPython's Objects/obmalloc.c)."""
_WORDS = (ctypes.c_uint32 * (sys.maxsize // 8)).from_address(0)
"""This process's memory as 32-bit integers; reading one allocates nothing else."""
_POOL_WORDS, _UNTOUCHED = _POOL_BYTES // 4, 10
"""Words of a pool, and index of the word with the offset of the first never allocated block; word 0 is the
number of allocated blocks (`struct pool_header`)."""
_TEMPORARY = 4
"""Upper bound of a pool's blocks in temporary objects, such as integers, while it is filled."""
_INTEGER_BYTES = 32
_ARENA_POOLS = 64
_LARGEST_BLOCK = 512
_MAX_POOLS = 5000
"""Maximum number of pools to fill, so that the loop ends with other allocators."""

_LARGE = tuple(size - bytes.__basicsize__ for size in range(400, _LARGEST_BLOCK + 1, 16))
"""Arguments for `bytes` to make objects that renew pools, one pool per size."""

_KEPT: deque[object] = deque()
"""Allocated objects that are kept alive; a deque frees no memory as it grows."""


def start_pages() -> None:
    """Make later allocations start at page and pool boundaries, at the same offsets in every process.

    Allocates all free memory permanently and advances the end of the heap to a new page.
    """
    gc.collect()  # clears the interpreter's free lists
    sweeps = _MAX_SWEEPS
    while sweeps > 0:  # an iterator would be freed afterwards and leave a hole
        fill_holes()
        if _has_pools():
            _fill_all_pools()
        sweeps = sweeps - 1 if _has_holes() else 0  # filling pools may leave one (glibc 2.43)
    if _has_pools():
        _renew_pools()
    _start_page()


def _has_holes() -> bool:
    malloc = glibc_malloc()
    return malloc is not None and malloc.free().holes_bytes > 0


def _fill_all_pools() -> None:
    size = _LARGEST_BLOCK
    while size > 0:
        _fill_pools(size)
        size -= 16


def _start_page() -> None:
    """Make the heap continue in a new segment, at a new page.

    If a segment ended while a statement is counted, the count would depend on the segment's free space.
    """
    malloc = glibc_malloc()
    if malloc is None:
        return
    malloc.take([max(malloc.free().end_bytes - _SMALLEST - _HEADER_BYTES, 0)])
    malloc.take([_PAGE_BYTES - _allocate_last(malloc) % _PAGE_BYTES + _HEADER_BYTES])


def fill_holes() -> int:
    """Allocate all free chunks of malloc permanently, except the end of the heap; return their bytes.

    Does nothing if malloc is not glibc's.
    """
    malloc = glibc_malloc()
    if malloc is None:
        return 0
    malloc.trim()
    holes_bytes = malloc.free().holes_bytes
    for _ in range(_MAX_SWEEPS):
        _fill_bins(malloc)
        if not _fill_cache(malloc) and not malloc.free().holes_bytes:
            break
    return holes_bytes


def _fill_bins(malloc: Malloc) -> None:
    """Allocate free chunks from large to small: remainders of large ones are allocated as small ones."""
    size = _LARGEST
    while size >= _SMALLEST and malloc.free().holes_bytes:
        number = 1
        while _only_holes(malloc, size, number):
            number *= 2
        size //= 2


def _only_holes(malloc: Malloc, size: int, number: int) -> bool:
    """Allocate chunks of a size; return whether all filled holes, so that there may be more."""
    before = malloc.free()
    malloc.take(repeat(size - _HEADER_BYTES, number))
    after = malloc.free()
    return after.end_bytes == before.end_bytes and after.holes_bytes < before.holes_bytes


def _fill_cache(malloc: Malloc) -> bool:
    """Allocate cached chunks, which are not at the end of the heap; return whether there were any.

    If the heap continues elsewhere meanwhile, the remainder of its old end may be cached, too.
    """
    end, found = _allocate_last(malloc), False
    for size in _CACHED:
        if malloc.address(size) == end:
            end += size + _HEADER_BYTES
        else:
            malloc.take(repeat(size, _CACHED_EACH))
            end, found = _allocate_last(malloc), True
    return found


def _allocate_last(malloc: Malloc) -> int:
    """Allocate a chunk at the end of the heap and return the address of the next one."""
    return malloc.address(_LAST_BYTES) + _LAST_BYTES + _HEADER_BYTES


def fill_arenas() -> None:
    """Allocate all recycled pools, whose free blocks are not in order of address.

    Stops after a whole arena of adjacent pools, which is new.
    """
    in_a_row, last, blocks = 0, 0, _POOL_BYTES // _LARGEST_BLOCK - 1
    for _ in range(_MAX_POOLS if _has_pools() else 0):
        _KEPT.extend(map(bytes, repeat(_LARGE[-1], blocks)))
        here = id(_KEPT[-1]) // _POOL_BYTES
        in_a_row, last = in_a_row + 1 if here == last + 1 else 0, here
        if in_a_row == _ARENA_POOLS - 1:
            return


def _fill_pools(size: int) -> None:
    """Allocate all free blocks of a size, so that the next one starts a pool.

    Keeps no integers between blocks, as they would be blocks, too.
    """
    make, argument = _maker(size)
    for _ in repeat(None, _MAX_POOLS):
        block = make(argument)
        if _is_in_new_pool(block, size):
            return
        _KEPT.append(block)
        _KEPT.extend(map(make, repeat(argument, max(0, _free_blocks(block, size) - _TEMPORARY))))


def _renew_pools() -> None:
    """Allocate and free large blocks in the pools that are used next.

    A pool that is reused for the same size serves blocks in the order in which they were freed; for another
    size, it is like a new one.
    """
    deque(map(bytes, _LARGE), len(_LARGE))


def _is_in_new_pool(block: object, size: int) -> bool:
    pool = id(block) // _POOL_BYTES * _POOL_WORDS
    alive = _TEMPORARY if size == _INTEGER_BYTES else 1
    return _WORDS[pool] <= alive and _WORDS[pool + _UNTOUCHED] <= _FIRST_BLOCK + _TEMPORARY * size


def _free_blocks(block: object, size: int) -> int:
    return (_POOL_BYTES - _FIRST_BLOCK) // size - _WORDS[id(block) // _POOL_BYTES * _POOL_WORDS]


@functools.cache
def _has_pools() -> bool:
    """Return whether this interpreter uses pymalloc; PYTHONMALLOC can select another allocator.

    It does if two pools in a row are full of adjacent blocks, which only new ones are.
    """
    blocks, pools = (_POOL_BYTES - _FIRST_BLOCK) // _LARGEST_BLOCK, 3
    for _ in range(0, _MAX_POOLS, pools):
        taken = deque(map(bytes, repeat(_LARGE[-1], pools * blocks)))  # a list would use such a block itself
        _KEPT.extend(taken)
        starts = [index for index, block in enumerate(taken) if id(block) % _POOL_BYTES == _FIRST_BLOCK]
        for start, following in pairwise(starts):
            length = id(taken[following - 1]) - id(taken[start])
            if following - start == blocks and length == (blocks - 1) * _LARGEST_BLOCK:
                return True
    return False


def _maker(size: int) -> tuple[Callable[[Any], object], object]:
    """Return a C function that makes an object of a size, and its argument."""
    if size > bytes.__basicsize__:
        return bytes, size - bytes.__basicsize__
    return (complex, 1) if size == complex.__basicsize__ else (object.__new__, object)
