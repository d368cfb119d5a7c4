"""Arithmetic with counts: totals stay what they were."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.errors import UsageError
from profkit.model.function_counts import FunctionCount
from profkit.model.measurement import InstructionCounts, MeasuredIn, Preload, Tool
from profkit.transforms.counts import FunctionCounts, InstructionStats, NamedCount

NAMES = st.sampled_from(["a.c:f", "a.c:g", "b.c:f", "malloc/malloc.c:free", "???:0x10"])
COUNTS = st.lists(st.tuples(st.integers(-1000, 1000), NAMES)).map(lambda rows: FunctionCounts.of(rows, False))
RENAMES = st.dictionaries(NAMES, NAMES)


@given(COUNTS, COUNTS)
def test_what_is_taken_off_and_added_again_leaves_all_as_it_was(a: FunctionCounts, b: FunctionCounts) -> None:
    assert (a - b) + b == a
    assert (a + b).sum() == a.sum() + b.sum()
    assert (a - a).rows == ()


@given(COUNTS, RENAMES)
def test_new_names_keep_the_sum(counts: FunctionCounts, names: dict[str, str]) -> None:
    renamed = counts.transform(lambda name: names.get(name, name))
    assert renamed.sum() == counts.sum()
    assert len({row.name for row in renamed.rows}) == len(renamed.rows)


@given(COUNTS, st.functions(like=lambda name: ..., returns=st.booleans(), pure=True))
def test_a_part_and_the_rest_are_the_whole(counts: FunctionCounts, wanted: Callable[[str], bool]) -> None:
    assert counts.filter(wanted) + counts.filter(lambda name: not wanted(name)) == counts


@given(COUNTS)
def test_rows_are_in_order_and_none_is_nothing(counts: FunctionCounts) -> None:
    assert list(counts.rows) == sorted(counts.rows, key=lambda row: (-row.instructions, row.name))
    assert all(row.instructions for row in counts.rows)


def test_inclusive_and_exclusive_do_not_mix() -> None:
    exclusive, inclusive = (FunctionCounts.of([(1, "f")], kind) for kind in (False, True))
    for mix in (lambda: exclusive + inclusive, lambda: inclusive - exclusive):
        with pytest.raises(UsageError, match="cannot be mixed"):
            mix()
    assert (inclusive + inclusive).inclusive


def test_allocators_are_left_out_of_exclusive_counts_alone() -> None:
    rows = [
        (5, "./malloc/./malloc/malloc.c:free"),
        (7, "list.c:list_append"),
        (3, "string/memmove.S:memmove"),
    ]
    assert FunctionCounts.of(rows, False).without_allocators().rows == (
        NamedCount(7, "list.c:list_append"),
        NamedCount(3, "string/memmove.S:memmove"),
    )
    with pytest.raises(UsageError, match="inclusive=False"):
        FunctionCounts.of(rows, True).without_allocators()


def stats(*functions: FunctionCount) -> InstructionStats:
    place = MeasuredIn(Tool.VALGRIND, Preload.NOTHING, "3.11.7")
    return InstructionStats.of(InstructionCounts(1, (9,), 0, 9, 9, place, functions))


def test_two_measurements_differ_function_by_function() -> None:
    one = stats(FunctionCount("a.c:f", 5, 9), FunctionCount("a.c:g", 4, 4))
    two = stats(FunctionCount("a.c:f", 5, 6), FunctionCount("b.c:h", 1, 1))
    assert one.delta(two).rows == (NamedCount(4, "a.c:g"), NamedCount(-1, "b.c:h"))
    assert one.delta(two, inclusive=True).rows == (
        NamedCount(4, "a.c:g"),
        NamedCount(3, "a.c:f"),
        NamedCount(-1, "b.c:h"),
    )
    assert one.counts().sum() == 9


def test_measurements_of_two_environments_compare_by_standard_names() -> None:
    one = stats(
        FunctionCount("/tmp/python-build.2026.222/Python-3.11.7/Objects/dictobject.c:insertdict", 5, 5),
        FunctionCount("???:0x0000000000002480", 2, 2, 0, "/a/lib/_json.cpython-311-x86_64-linux-gnu.so"),
        FunctionCount("???:0x00000000000023d0", 1, 1, 0, "/a/lib/_json.cpython-311-x86_64-linux-gnu.so"),
    )
    two = stats(
        FunctionCount("/home/c/build_artifacts/python_1/work/Objects/dictobject.c:insertdict", 5, 5),
        FunctionCount("???:0x0000000000001111", 3, 3, 0, "/b/lib/_json.cpython-312-x86_64-linux-gnu.so"),
    )
    assert len(one.delta(two).rows) == 5
    assert one.as_standardized().delta(two.as_standardized()).rows == ()
    assert one.as_standardized().counts().sum() == one.counts().sum()
