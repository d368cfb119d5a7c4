"""Comparison of memory runs: their figures per call, functions that allocated, and which changes count.

Allocations are deterministic, apart from the arenas of Python objects. So a difference counts if it is larger
than those, and if the calls and runs of the two sides do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from statistics import median

from profkit.comparing.comparability import check_distinct, match_functions, software_differences
from profkit.comparing.sampled import side_names
from profkit.errors import UsageError
from profkit.model.comparison import Change, Side
from profkit.model.memory_comparison import Amounts, FunctionMemory, MemoryComparison, Spread
from profkit.model.notes import Finding, FindingCode
from profkit.model.profile import Profile, Value
from profkit.model.run import Memory, Run
from profkit.transforms.combine import side_by_side
from profkit.transforms.tables import function_rows
from profkit.transforms.values import run_with_value

LEAST = 0.01
"""Smallest relative difference that counts."""
ARENA_BYTES = 2**20
"""Size of an arena of Python objects: whether a call needs one more depends on what ran before."""
_FEW_BYTES = 4096
"""Smallest difference that counts if each object is tracked: caches and hash tables of CPython differ."""

_Function = tuple[str, str]


def compare_memory(a: Sequence[Run], b: Sequence[Run], value: Value | None = None) -> MemoryComparison:
    """Compare memory runs of two sides, functions by a value, which is the peak by default.

    Raises UsageError if a side has no runs of memory, or a run is on both sides.
    """
    chosen = value or Value.PEAK
    memories = memory_of(a), memory_of(b)
    check_distinct(a, b)
    least_bytes = ARENA_BYTES
    if all(memory.python_allocators for memory in chain(*memories)):
        least_bytes = _FEW_BYTES
    shown = [[run_with_value(run, chosen) for run in side] for side in (a, b)]
    matched = match_functions([*shown[0], *shown[1]])
    profiles = matched.profiles[: len(a)], matched.profiles[len(a) :]
    highest = [_highest(side, of_side) for side, of_side in zip(profiles, memories, strict=True)]
    names = side_names(a, b)
    return MemoryComparison(
        a=_side(names[0], a),
        b=_side(names[1], b),
        figures=tuple(_figures(memories[0], memories[1], least_bytes)),
        value=chosen,
        functions=_functions(profiles, memories, chosen, least_bytes),
        both=side_by_side([highest[0]], [highest[1]]),
        cwd=a[0].info.process.cwd,
        least=LEAST,
        least_bytes=least_bytes,
        notes=tuple(_notes(a, b, memories[0], memories[1])),
    )


def memory_of(side: Sequence[Run]) -> list[Memory]:
    """Return the memory of each run; raises UsageError for runs without."""
    for run in side:
        if run.info.memory is None:
            raise UsageError(
                f"the memory of run {run.info.id} ({run.info.label}) was not tracked",
                "compare bytes with bytes: runs that were recorded with mode='memory'",
            )
    return [run.info.memory for run in side if run.info.memory is not None]


def _side(name: str, runs: Sequence[Run]) -> Side:
    return Side(name, tuple(run.info for run in runs), sum(memory.peak_bytes for memory in memory_of(runs)))


def _figures(a: Sequence[Memory], b: Sequence[Memory], least_bytes: int) -> Iterator[tuple[Value, Amounts]]:
    for value in Value:
        per_call = [[one for memory in side for one in _per_call(memory, value)] for side in (a, b)]
        least = least_bytes if value is not Value.ALLOCATIONS else 1
        yield value, _amounts(per_call[0], per_call[1], least)


def _per_call(memory: Memory, value: Value) -> list[float]:
    """Return a figure of each call if it is known, else the mean of the calls."""
    if value is Value.PEAK:
        return list(memory.peaks_bytes)
    totals = {
        Value.ALLOCATED: memory.allocated_bytes,
        Value.ALLOCATIONS: memory.allocations,
        Value.LEFT: memory.left_bytes,
    }
    return [totals[value] / max(1, len(memory.peaks_bytes))]


def _amounts(a: Sequence[float], b: Sequence[float], least: float) -> Amounts:
    of_a, of_b = _spread(a), _spread(b)
    difference = of_b.middle - of_a.middle
    apart = of_b.least > of_a.most or of_b.most < of_a.least
    is_real = apart and abs(difference) >= max(least, LEAST * max(of_a.middle, of_b.middle))
    return Amounts(of_a, of_b, Change.of(difference, is_real=is_real))


def _spread(values: Sequence[float]) -> Spread:
    return Spread(median(values), min(values), max(values)) if values else Spread(0, 0, 0)


def _highest(profiles: Sequence[Profile], memories: Sequence[Memory]) -> Profile:
    peaks = [memory.peak_bytes for memory in memories]
    return profiles[peaks.index(max(peaks))]


_Rows = Mapping[_Function, tuple[float, float]]


def _functions(
    profiles: tuple[Sequence[Profile], Sequence[Profile]],
    memories: Sequence[Sequence[Memory]],
    value: Value,
    least_bytes: int,
) -> tuple[FunctionMemory, ...]:
    least = least_bytes if value is not Value.ALLOCATIONS else 1
    lines: dict[_Function, int] = {}
    sides: list[list[_Rows]] = [
        [_rows(profile, memory, value, lines) for profile, memory in zip(*side, strict=True)]
        for side in zip(profiles, memories, strict=True)
    ]
    found = []
    for (name, file), line in lines.items():
        rows = [[of_run.get((name, file), (0.0, 0.0)) for of_run in side] for side in sides]
        own, total = (
            _amounts([row[which] for row in rows[0]], [row[which] for row in rows[1]], least)
            for which in (0, 1)
        )
        found.append(FunctionMemory(name, file, line, own, total))
    return tuple(sorted(found, key=_order))


def _rows(profile: Profile, memory: Memory, value: Value, lines: dict[_Function, int]) -> _Rows:
    """Return the own and total amount of each function, per call; note its line."""
    calls = 1 if value is Value.PEAK else max(1, len(memory.peaks_bytes))
    rows: dict[_Function, tuple[float, float]] = {}
    for row in function_rows(profile):
        rows[row.name, row.file] = row.self_weight / calls, row.total_weight / calls
        lines.setdefault((row.name, row.file), row.line)
    return rows


def _order(function: FunctionMemory) -> tuple[bool, bool, float, float, str, str]:
    changed = function.own.change is not Change.NOISE
    largest = max(function.total.a.middle, function.total.b.middle)
    return (
        not changed,
        not function.changed,
        -abs(function.reported.difference),
        -largest,
        function.name,
        function.file,
    )


def _notes(
    a: Sequence[Run], b: Sequence[Run], of_a: Sequence[Memory], of_b: Sequence[Memory]
) -> Iterator[Finding]:
    objects = [
        {"each" if memory.python_allocators else "by arena" for memory in side} for side in (of_a, of_b)
    ]
    if objects[0] != objects[1]:
        words = [", ".join(sorted(words)) for words in objects]
        yield Finding.of(FindingCode.TRACKED_DIFFERENTLY, a=words[0], b=words[1])
    yield from software_differences(a, b)
