"""Instruction counts by function: sums, the empty loop's share, and which functions are allocators."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TypeVar

from profkit.errors import UsageError
from profkit.model.function_counts import CallCount, FunctionCount, PythonFunctionCount
from profkit.model.measurement import INSTRUCTIONS, CallgrindDump, InstructionCounts, MeasuredIn

_Key = TypeVar("_Key", str, tuple[str, str])
_Function = TypeVar("_Function", FunctionCount, PythonFunctionCount)
_Row = TypeVar("_Row", FunctionCount, PythonFunctionCount, CallCount)

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
"""Suffixes that Callgrind adds for recursion, compilers for partial copies, and linkers for versions."""


_LOOK_UPS = ("dictobject.c:unicodekeys_lookup_unicode", "dictobject.c:unicodekeys_lookup_generic")
_LOOK_UP = 22
"""Instructions of a lookup without collisions, in CPython 3.11 compiled by GCC 12 for x86-64."""


@cache
def is_allocator(name: str, shared_object: str = "") -> bool:
    """Return whether a `file:function` is a memory allocator listed above."""
    file, _, function = name.partition(":")
    if file.endswith(_FILES) or shared_object.rpartition("/")[2].startswith(_OBJECTS):
        return True
    return function.startswith(_PREFIXES) or _VARIANT.sub("", function.partition("(")[0]) in _NAMES


def strip_allocators(dump: CallgrindDump) -> int:
    """Return the dump's instructions without those of allocators themselves and of hash collisions."""
    return dump.instructions - sum(_left_out(row) for row in dump.functions if row.exclusive)


def _left_out(row: FunctionCount) -> int:
    if is_allocator(row.name, row.object):
        return int(row.exclusive)
    if row.name.partition("'")[0].endswith(_LOOK_UPS):
        return max(0, int(row.exclusive - row.calls * _LOOK_UP))
    return 0


CYCLES = "cycles"
"""Name of the estimate among events."""

_CYCLES = {
    INSTRUCTIONS: 1,
    **dict.fromkeys(("Bcm", "Bim"), 10),
    **dict.fromkeys(("I1mr", "D1mr", "D1mw"), 10),
    "Ge": 20,
    **dict.fromkeys(("I2mr", "D2mr", "D2mw", "ILmr", "DLmr", "DLmw"), 100),
}
"""KCachegrind's "Cycle Estimation": CEst = Ir + 10 Bm + 10 L1m + 20 Ge + 100 L2m + 100 LLm. Bm are
mispredicted branches; L1m, L2m and LLm are the misses of each cache; Ge are bus events
(https://github.com/KDE/kcachegrind/blob/master/libcore/globalconfig.cpp, `knownFormula`)."""


def subtract_baseline(
    dumps: Sequence[CallgrindDump],
    baseline_dumps: Sequence[CallgrindDump],
    number: int,
    measured_in: MeasuredIn,
) -> InstructionCounts:
    """Return counts per execution from dumps of `number` executions each, one per repeat.

    The baseline is the same loop around `pass`; without dumps of it, nothing is subtracted. Totals are the
    minimum of the repeats, taken separately with and without allocators. Functions, calls and events are of
    the repeat with the fewest instructions. Raises UsageError for dumps of different events.
    """
    if len({dump.events for dump in (*dumps, *baseline_dumps)}) != 1:
        raise UsageError("dumps of different events cannot be compared", "simulate the same in all of them")
    # Of equal dumps, take the last: in the first one Callgrind also counts earlier calls.
    least = min(reversed(dumps), key=lambda dump: dump.instructions)
    base = min(reversed(baseline_dumps), key=lambda dump: dump.instructions, default=no_counts(least.events))
    without = tuple(strip_allocators(dump) for dump in dumps)
    stripped = min(without) - min(map(strip_allocators, baseline_dumps), default=0)
    return InstructionCounts(
        number=number,
        raw=tuple(dump.instructions for dump in dumps),
        baseline=base.instructions / number,
        net=(least.instructions - base.instructions) / number,
        stripped=stripped / number,
        measured_in=measured_in,
        raw_stripped=without,
        functions=_functions(least, base, number),
        calls=_calls(least, base, number),
        events=_events(least, base, number),
    )


def add_dumps(dumps: Sequence[CallgrindDump]) -> CallgrindDump:
    """Return the sums of dumps of several processes; raises UsageError if their events differ."""
    events = {dump.events for dump in dumps}
    if len(events) != 1:
        raise UsageError("dumps with different events cannot be added", "count all with the same options")
    functions = by_key((row for dump in dumps for row in dump.functions), lambda row: row.name)
    calls = by_key((call for dump in dumps for call in dump.calls), lambda call: (call.caller, call.callee))
    totals = tuple(map(sum, zip(*(dump.totals for dump in dumps), strict=True)))
    return CallgrindDump(events.pop(), totals, tuple(functions.values()), tuple(calls.values()))


def estimated_cycles(events: Mapping[str, float]) -> float:
    """Return KCachegrind's estimate from event counts; events that were not simulated count as 0."""
    return sum(_CYCLES.get(event, 0) * count for event, count in events.items())


def by_key(rows: Iterable[_Row], key_of: Callable[[_Row], _Key]) -> dict[_Key, _Row]:
    """Return the sum of the rows of each key, in the order of its first row."""
    found: dict[_Key, _Row] = {}
    for row in rows:
        key = key_of(row)
        found[key] = found[key] + row if key in found else row
    return found


def functions_by_cost(rows: Iterable[_Function]) -> tuple[_Function, ...]:
    """Return functions with the most exclusive instructions first."""
    return tuple(sorted(rows, key=lambda row: (-row.exclusive, -row.inclusive, row.key)))


def calls_by_cost(rows: Iterable[CallCount]) -> tuple[CallCount, ...]:
    """Return calls with the most inclusive instructions first."""
    return tuple(sorted(rows, key=lambda row: (-row.inclusive, row.caller, row.callee)))


def no_counts(events: tuple[str, ...]) -> CallgrindDump:
    """Return a dump in which nothing was counted."""
    return CallgrindDump(events, (0,) * len(events), ())


def _functions(dump: CallgrindDump, base: CallgrindDump, number: int) -> tuple[FunctionCount, ...]:
    """Return the net rows, without functions that started before the statement and only contain it."""
    before = {row.name: row for row in base.functions}
    missing = before.keys() - {row.name for row in dump.functions}
    rows = [_net(row, before.get(row.name), number) for row in dump.functions]
    rows += [
        _net(FunctionCount(name, 0, 0, 0, before[name].object), before[name], number) for name in missing
    ]
    return functions_by_cost(row for row in rows if row.exclusive or row.calls)


def _net(row: FunctionCount, base: FunctionCount | None, number: int) -> FunctionCount:
    less = base or FunctionCount(row.name, 0, 0)
    return FunctionCount(
        row.name,
        (row.exclusive - less.exclusive) / number,
        (row.inclusive - less.inclusive) / number,
        (row.calls - less.calls) / number,
        row.object,
    )


def _calls(dump: CallgrindDump, base: CallgrindDump, number: int) -> tuple[CallCount, ...]:
    """Return the net calls, most expensive first, without calls made before the statement began."""
    net = {(call.caller, call.callee): (call.calls, call.inclusive) for call in dump.calls}
    for call in base.calls:
        calls, inclusive = net.get((call.caller, call.callee), (0, 0))
        net[call.caller, call.callee] = (calls - call.calls, inclusive - call.inclusive)
    return calls_by_cost(
        CallCount(caller, callee, calls / number, inclusive / number)
        for (caller, callee), (calls, inclusive) in net.items()
        if calls
    )


def _events(dump: CallgrindDump, base: CallgrindDump, number: int) -> tuple[tuple[str, float], ...]:
    """Return the simulated events and the estimated cycles; empty if only instructions were counted."""
    net = {
        event: (count - less) / number
        for event, count, less in zip(dump.events, dump.totals, base.totals, strict=True)
    }
    if net.keys() == {INSTRUCTIONS}:
        return ()
    simulated = tuple((event, count) for event, count in net.items() if event != INSTRUCTIONS)
    return (*simulated, (CYCLES, estimated_cycles(net)))
