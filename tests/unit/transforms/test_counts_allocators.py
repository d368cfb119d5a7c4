"""What is an allocator, and what is not."""

from __future__ import annotations

import pytest

from profkit.model.function_counts import FunctionCount
from profkit.model.measurement import CallgrindDump
from profkit.transforms.counts import is_allocator, strip_allocators

ALLOCATORS = [
    "./malloc/./malloc/malloc.c:_int_malloc",
    "./malloc/./malloc/malloc.c:unlink_chunk.constprop.0",
    "/build/glibc-e2/glibc-2.31/malloc/arena.c:arena_get_retry",
    "???:malloc",
    "???:_int_free'2",
    "???:free@@GLIBC_2.2.5",
    "./malloc/../sysdeps/x86/lowlevellock.h:_int_free_merge_chunk.isra.0",
    "/tmp/Python-3.11.7/Objects/obmalloc.c:_PyObject_Malloc",
    "/tmp/Python-3.11.7/Objects/obmalloc.c:dict_dealloc",
    "???:PyObject_Free",
    "???:_PyObject_Malloc.localalias",
    "???:PyMem_RawMalloc",
    "???:_mi_page_malloc",
    "???:operator new(unsigned long)",
    "???:operator delete[](void*, unsigned long)",
    "???:_ZdlPvm",
    "???:posix_memalign",
    "???:c10::alloc_cpu(unsigned long)",
    "???:c10::DefaultCPUAllocator::allocate(unsigned long)",
    "./misc/../sysdeps/unix/sysv/linux/mmap64.c:mmap",
    "./misc/../sysdeps/unix/syscall-template.S:munmap",
]

OTHERS = [
    "./string/../sysdeps/x86_64/multiarch/memmove-vec-unaligned-erms.S:__memmove_avx_unaligned_erms",
    "???:memset",
    "Modules/gcmodule.c:_PyObject_GC_New",
    "Objects/dictobject.c:free_keys_object",
    "Objects/listobject.c:list_dealloc",
    "user.c:mallocate",
    "user.cpp:Pool::operator new(unsigned long)",
    "user.cpp:Pool::free(void*)",
    "???:at::native::empty_cpu(long)",
    "mymalloc.c:pick",
]


@pytest.mark.parametrize("name", ALLOCATORS)
def test_allocators(name: str) -> None:
    assert is_allocator(name)


@pytest.mark.parametrize("name", OTHERS)
def test_what_works_with_memory_is_no_allocator(name: str) -> None:
    assert not is_allocator(name)


def test_all_of_a_library_that_is_in_for_malloc() -> None:
    assert is_allocator("???:0x0000000000012345", "/usr/lib/libjemalloc.so.2")
    assert not is_allocator("???:0x0000000000012345", "/usr/lib/libc.so.6")


def test_look_ups_count_as_if_they_met_no_other_entry() -> None:
    name = "Objects/dictobject.c:unicodekeys_lookup_unicode"
    for exclusive, left in ((44, 44), (63, 44), (40, 40)):
        rows = (FunctionCount("main.c:main", 100, 163, 0), FunctionCount(name, exclusive, exclusive, 2))
        assert strip_allocators(CallgrindDump(("Ir",), (100 + exclusive,), rows)) == 100 + left


def test_a_dump_without_allocators() -> None:
    rows = (
        FunctionCount("???:malloc", 30, 40),
        FunctionCount("???:sysmalloc", 10, 10),
        FunctionCount("a.c:main", 60, 100),
    )
    assert strip_allocators(CallgrindDump(("Ir",), (100,), rows)) == 60
