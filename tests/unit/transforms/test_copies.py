"""Instruction counts of functions that a compiler split and copied."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from profkit.comparing.instructions import compare_counts
from profkit.model.function_counts import CallCount, FunctionCount
from profkit.model.measurement import InstructionCounts
from profkit.transforms.copies import join_copies, join_inlined
from tests.support.example_measurements import COUNTS

SPLIT = replace(
    COUNTS,
    functions=(
        FunctionCount("a.c:main", 100, 1000, 1, "libown.so"),
        FunctionCount("a.c:f", 300, 900, 2, "libown.so"),
        FunctionCount("a.c:f.part.0", 200, 600, 2, "libown.so"),
        FunctionCount("a.c:f.part.0.cold", 50, 50, 1, "libown.so"),
        FunctionCount("a.c:g.constprop.0.lto_priv.0'2", 350, 350, 4, "libown.so"),
    ),
    calls=(
        CallCount("a.c:main", "a.c:f", 2, 900),
        CallCount("a.c:f", "a.c:f.part.0", 2, 600),
        CallCount("a.c:f.part.0", "a.c:f.part.0.cold", 1, 50),
        CallCount("a.c:f.part.0", "a.c:g.constprop.0.lto_priv.0'2", 4, 350),
    ),
)
WHOLE = replace(
    COUNTS,
    functions=(
        FunctionCount("a.c:f", 550, 900, 2, "libown.so"),
        FunctionCount("a.c:g'2", 350, 350, 4, "libown.so"),
        FunctionCount("a.c:main", 100, 1000, 1, "libown.so"),
    ),
    calls=(CallCount("a.c:main", "a.c:f", 2, 900), CallCount("a.c:f", "a.c:g'2", 4, 350)),
)
NAMES = ["a.c:f", "a.c:f.cold", "a.c:f.part.0", "a.c:g", "b.c:f.constprop.1", "???:0x12ab"]


def test_parts_are_one_function() -> None:
    assert join_copies(SPLIT) == WHOLE


def test_whole_functions_are_the_same_object() -> None:
    assert join_copies(WHOLE) is WHOLE


def test_a_recursion_of_a_part_stays_a_call() -> None:
    recursive = replace(SPLIT, calls=(CallCount("a.c:f.part.0", "a.c:f.part.0", 3, 60),))
    assert join_copies(recursive).calls == (CallCount("a.c:f", "a.c:f", 3, 60),)


def test_builds_that_split_differently_compare() -> None:
    compared = compare_counts([SPLIT], [WHOLE], elsewhere=True)
    assert compared.functions == ()
    assert len(compare_counts([SPLIT], [WHOLE]).functions) == 5


def total(counts: InstructionCounts) -> float:
    return sum(row.exclusive for row in counts.functions)


def made(rows: Iterable[tuple[str, int]], edges: Iterable[tuple[str, str, int]]) -> InstructionCounts:
    functions = tuple(FunctionCount(name, own, own, 1) for name, own in dict(rows).items())
    calls = {(a, b): CallCount(a, b, 1, cost) for a, b, cost in edges}
    return replace(COUNTS, functions=functions, calls=tuple(calls.values()))


names = st.sampled_from(NAMES)


@given(
    st.lists(st.tuples(names, st.integers(0, 99))),
    st.lists(st.tuples(names, names, st.integers(0, 99))),
)
def test_no_instruction_is_lost(rows: list[tuple[str, int]], edges: list[tuple[str, str, int]]) -> None:
    counts = made(rows, edges)
    joined = join_copies(counts)
    assert total(joined) == total(counts)
    assert len({row.name for row in joined.functions}) == len(joined.functions)
    assert join_copies(joined) == joined


PYTHON = "/usr/bin/python3.12"


def test_inlined_code_belongs_to_the_function_that_has_it() -> None:
    rows = (
        FunctionCount(f"Python/ceval.c:eval [{PYTHON}]", 100, 900, 3, PYTHON),
        FunctionCount("Include/object.h:eval", 40, 40),
        FunctionCount("Python/generated.h:eval", 60, 60),
        FunctionCount("Include/object.h:other", 5, 5),
    )
    joined = join_inlined(rows)
    assert [(row.name, row.exclusive, row.inclusive, row.calls) for row in joined] == [
        (f"Python/ceval.c:eval [{PYTHON}]", 200, 900, 3),
        ("Include/object.h:other", 5, 5, 0),
    ]


def test_a_name_that_several_files_define_stays_apart() -> None:
    rows = (
        FunctionCount(f"a.c:helper [{PYTHON}]", 1, 1, 1, PYTHON),
        FunctionCount(f"b.c:helper [{PYTHON}]", 2, 2, 1, PYTHON),
        FunctionCount("x.h:helper", 4, 4),
    )
    assert join_inlined(rows) == rows


def test_names_with_colons() -> None:
    rows = (
        FunctionCount("a.cpp:at::add(int)", 1, 5, 1, "/lib/libtorch.so"),
        FunctionCount("vector:at::add(int)", 2, 2),
    )
    assert [row.exclusive for row in join_inlined(rows)] == [3]
