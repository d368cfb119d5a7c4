"""Counts of a statement from dumps of a loop around it and around nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.errors import UsageError
from profkit.model.function_counts import CallCount, FunctionCount
from profkit.model.measurement import CallgrindDump, MeasuredIn, Preload, Tool
from profkit.transforms.counts import estimated_cycles, is_allocator, strip_allocators, subtract_baseline

PLACE = MeasuredIn(Tool.VALGRIND, Preload.NOTHING, "3.11.7")


def dump(work: int, malloc: int = 0, loop: int = 40) -> CallgrindDump:
    """A loop of 10 executions within `main`, which ran before anything was counted."""
    total = work + malloc + loop
    rows = [FunctionCount("main.c:main", 0, total), FunctionCount("???:loop", loop, total)]
    calls = [CallCount("main.c:main", "???:loop", 0, total)]
    if work:
        rows.append(FunctionCount("work.c:work", work, work + malloc, 10, "/lib/work.so"))
        calls.append(CallCount("???:loop", "work.c:work", 10, work + malloc))
    if malloc:
        rows.append(FunctionCount("???:malloc", malloc, malloc, 20))
        calls.append(CallCount("work.c:work", "???:malloc", 20, malloc))
    return CallgrindDump(("Ir",), (total,), tuple(rows), tuple(calls))


def test_the_statement_alone_is_left() -> None:
    counts = subtract_baseline([dump(1000, 310), dump(1000, 300)], [dump(0), dump(0, 0, 50)], 10, PLACE)
    assert counts.raw == (1350, 1340)
    assert (counts.baseline, counts.net, counts.stripped) == (4, 130, 100)
    assert counts.functions == (
        FunctionCount("work.c:work", 100, 130, 1, "/lib/work.so"),
        FunctionCount("???:malloc", 30, 30, 2),
    )
    assert counts.calls == (
        CallCount("???:loop", "work.c:work", 1, 130),
        CallCount("work.c:work", "???:malloc", 2, 30),
    )
    assert counts.events == ()
    assert (counts.number, counts.measured_in) == (10, PLACE)


def test_without_a_baseline_all_is_the_statement() -> None:
    counts = subtract_baseline([dump(1000)], [], 10, PLACE)
    assert (counts.baseline, counts.net, counts.stripped) == (0, 104, 104)


def test_what_only_the_baseline_executes_counts_less_than_nothing() -> None:
    counts = subtract_baseline([dump(100)], [dump(0, malloc=20)], 10, PLACE)
    assert counts.functions[-1] == FunctionCount("???:malloc", -2, -2, -2)
    assert counts.calls[-1] == CallCount("work.c:work", "???:malloc", -2, -2)


@given(
    st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 10**4)), min_size=1),
    st.lists(st.integers(0, 1000), min_size=1),
    st.integers(1, 100),
)
def test_functions_add_up_to_the_net_count(
    repeats: list[tuple[int, int]], loops: list[int], number: int
) -> None:
    dumps = [dump(work, malloc, loops[0]) for work, malloc in repeats]
    counts = subtract_baseline(dumps, [dump(0, 0, loop) for loop in loops], number, PLACE)
    assert sum(row.exclusive for row in counts.functions) == pytest.approx(counts.net)
    assert counts.stripped <= counts.net
    assert min(counts.raw) == pytest.approx((counts.net + counts.baseline) * number)


def test_simulated_events_and_their_cycles() -> None:
    events = ("Ir", "Dr", "I1mr", "D1mr", "DLmr", "Bcm", "Bim")
    one = replace(dump(1000), events=events, totals=(1040, 500, 11, 20, 5, 30, 10))
    base = replace(dump(0), events=events, totals=(40, 10, 1, 0, 0, 0, 0))
    counts = subtract_baseline([one], [base], 10, PLACE)
    assert dict(counts.events) == {
        "Dr": 49, "I1mr": 1, "D1mr": 2, "DLmr": 0.5, "Bcm": 3, "Bim": 1,
        "cycles": 100 + 10 * (1 + 2) + 100 * 0.5 + 10 * (3 + 1),
    }  # fmt: skip


def test_cycles_of_every_event_that_the_estimate_knows() -> None:
    assert estimated_cycles({"Ir": 1, "Bcm": 1, "D1mw": 1, "Ge": 1, "D2mw": 1, "ILmr": 1, "Dw": 7}) == 241


def test_dumps_of_different_events_are_refused() -> None:
    with pytest.raises(UsageError, match="different events"):
        subtract_baseline([dump(1)], [replace(dump(0), events=("Ir", "Dr"), totals=(40, 1))], 10, PLACE)


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
