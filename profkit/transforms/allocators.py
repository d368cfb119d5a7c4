"""Which functions are memory allocators, and what a dump counted without them and without collisions.

How long an allocator searches depends on the state of the heap, that is on everything that ran before:
the same statement differs by up to some percent, and the least of several repeats does not cure it. So
counts that are to be compared leave out what these functions execute themselves:

- the C library's: `malloc`, `free` and their kin, with what they are made of (glibc's malloc/malloc.c,
  arena.c and morecore.c), and allocators that stand in for them (jemalloc, tcmalloc, mimalloc);
- CPython's (Objects/obmalloc.c, in newer ones mimalloc): by their names too, since many a Python has no
  debug symbols;
- C++'s `operator new` and `operator delete`, and of PyTorch's c10 the CPU allocator's functions that do
  nothing but allocate and free;
- wrappers of the system calls through which memory comes and goes.

What fills, copies or moves memory is work that the statement asked for, and stays: `memset`, `memmove`,
also where `realloc` calls them. So do objects' own constructors, deallocators and free lists.

A look-up in a dictionary of names is work as well, but how many entries it meets before the right one depends
on the hash seed: it counts as one that meets none.
"""

from __future__ import annotations

import re
from functools import cache

from profkit.model.counts import CallgrindDump, FunctionCount

_FILES = (
    "malloc/malloc.c", "malloc/arena.c", "malloc/morecore.c", "malloc/hooks.c", "dl-minimal-malloc.c",
    "Objects/obmalloc.c",
)  # fmt: skip

_OBJECTS = ("libjemalloc", "libtcmalloc", "libmimalloc")

_LIBC = """
    malloc free cfree calloc realloc reallocarray memalign aligned_alloc posix_memalign valloc pvalloc
    malloc_trim malloc_usable_size malloc_consolidate unlink_chunk sysmalloc sysmalloc_mmap
    sysmalloc_mmap_fallback systrim alloc_perturb free_perturb arena_get2 arena_get_retry new_heap
    alloc_new_heap grow_heap shrink_heap heap_trim munmap_chunk mremap_chunk ptmalloc_init _mid_memalign
    __posix_memalign
    brk __brk sbrk __sbrk __glibc_morecore mmap mmap64 __mmap munmap __munmap mremap __mremap
    madvise __madvise
"""

_CPYTHON = """
    PyObject_Malloc PyObject_Calloc PyObject_Realloc PyObject_Free
    _PyObject_Malloc _PyObject_Calloc _PyObject_Realloc _PyObject_Free
    pymalloc_alloc pymalloc_free pymalloc_realloc new_arena allocate_from_new_pool insert_to_usedpool
    insert_to_freepool address_in_range arena_map_get
"""

_PYTORCH = """
    c10::alloc_cpu c10::free_cpu
    c10::DefaultCPUAllocator::allocate c10::DefaultCPUAllocator::ReportAndDelete
"""

_NAMES = frozenset(f"{_LIBC} {_CPYTHON} {_PYTORCH}".split())

_PREFIXES = (
    "_int_malloc", "_int_free", "_int_realloc", "_int_memalign", "tcache_",
    "__libc_malloc", "__libc_free", "__libc_calloc", "__libc_realloc", "__libc_memalign", "__minimal_",
    "PyMem_", "_PyMem_", "_PyObject_Arena",
    "_mi_", "mi_malloc", "mi_free", "mi_realloc", "mi_heap_", "mi_page_", "mi_segment_",
    "operator new(", "operator new[](", "operator delete(", "operator delete[](",
    "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv",
)  # fmt: skip

_VARIANT = re.compile(r"(?:'\d+|\.(?:part|constprop|isra|cold|lto_priv|localalias)(?:\.\d+)*|@@?[\w.]+)+$")
"""What Callgrind adds for recursion, compilers for partial copies, and linkers for versions."""


_LOOK_UPS = ("dictobject.c:unicodekeys_lookup_unicode", "dictobject.c:unicodekeys_lookup_generic")
_LOOK_UP = 22
"""Instructions of a look-up that finds its entry at once, in CPython 3.11 compiled by GCC 12 for x86-64."""


@cache
def is_allocator(name: str, shared_object: str = "") -> bool:
    """Whether a `file:function` is one of those above."""
    file, _, function = name.partition(":")
    if file.endswith(_FILES) or shared_object.rpartition("/")[2].startswith(_OBJECTS):
        return True
    return function.startswith(_PREFIXES) or _VARIANT.sub("", _without_arguments(function)) in _NAMES


def strip_allocators(dump: CallgrindDump) -> int:
    """The dump's instructions without those that allocators execute themselves, and without collisions."""
    return dump.instructions - sum(_left_out(row) for row in dump.functions if row.exclusive)


def _left_out(row: FunctionCount) -> int:
    if is_allocator(row.name, row.object):
        return int(row.exclusive)
    if row.name.partition("'")[0].endswith(_LOOK_UPS):
        return max(0, int(row.exclusive - row.calls * _LOOK_UP))
    return 0


def _without_arguments(function: str) -> str:
    """`c10::alloc_cpu` of `c10::alloc_cpu(unsigned long)`."""
    return function.partition("(")[0]
