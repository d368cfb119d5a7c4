from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from profkit.model.profile import Frame, Profile, Thread
from profkit.transforms.combine import merge_profiles
from profkit.transforms.tables import (
    FunctionRow,
    LineRow,
    Selection,
    ThreadRow,
    function_lines,
    function_rows,
    function_table,
    functions_seen,
    line_table,
    thread_rows,
)
from tests.support.profile_strategies import LIBRARY, USER, profile_of, profiles


def line_rows(profile: Profile) -> tuple[LineRow, ...]:
    return line_table(profile).rows


def test_functions_with_their_hottest_line_by_self_weight() -> None:
    profile = profile_of(("f:1 g:5", 2), ("f:2 g:6", 3), ("f:2", 1), ("g:6 dump@lib:3", 1))
    assert function_rows(profile) == (
        FunctionRow("g", USER, 6, 5, 6),
        FunctionRow("f", USER, 2, 1, 6),
        FunctionRow("dump", LIBRARY, 3, 1, 1),
    )


def test_equal_lines_of_a_function_take_the_first() -> None:
    assert function_rows(profile_of(("f:9", 2), ("f:3", 2), ("f:5", 2)))[0].line == 3


def test_a_line_has_the_name_that_is_most_often_there() -> None:
    profile = profile_of(("f:3", 1), ("f.<lambda>:3", 4), ("a:3", 1))
    assert line_rows(profile) == (LineRow(USER, 3, "f.<lambda>", 6, 6),)
    assert line_rows(profile_of(("b:3", 1), ("a:3", 1)))[0].name == "a"


def test_threads_by_weight() -> None:
    profile = merge_profiles([profile_of(("f:1", 1), tid=5), profile_of(("f:1", 3), ("g:1", 1), tid=6)])
    assert thread_rows(profile) == (ThreadRow(Thread(7, 6, "t"), 4), ThreadRow(Thread(7, 5, "t"), 1))


@given(profiles())
def test_self_weights_add_up_and_totals_are_those_of_the_samples(profile: Profile) -> None:
    stacks = [
        (tuple(profile.frames[index] for index in profile.stacks[sample.stack]), sample.weight)
        for sample in profile.samples
    ]
    own = sum(weight for stack, weight in stacks if stack)
    functions, lines = function_rows(profile), line_rows(profile)
    at_lines = sum(weight for stack, weight in stacks if stack and stack[-1].line)
    assert sum(row.self_weight for row in functions) == own
    assert sum(row.self_weight for row in lines) == at_lines
    assert sum(row.weight for row in thread_rows(profile)) == profile.total_weight
    for row in functions:
        total = sum(w for stack, w in stacks if any((f.name, f.file) == (row.name, row.file) for f in stack))
        assert 0 <= row.self_weight <= row.total_weight == total
    assert all(line.line for line in lines)
    for line in lines:
        total = sum(
            w for stack, w in stacks if any((f.file, f.line) == (line.file, line.line) for f in stack)
        )
        assert 0 <= line.self_weight <= line.total_weight == total


@given(profiles(), st.sets(st.integers(0, 5)), st.booleans(), st.integers(1, 6))
def test_the_hottest_rows_are_those_of_the_whole_table(
    profile: Profile, stacks: set[int], working_first: bool, hottest: int
) -> None:
    waiting = frozenset(stack for stack in stacks if stack < len(profile.stacks))
    for table in (function_table, line_table):
        rows = table(profile, Selection(None, waiting, working_first)).rows
        found = table(profile, Selection(hottest, waiting, working_first))
        assert found.found == len(rows)
        assert found.rows == rows[: len(found.rows)]
        assert len(found.rows) >= min(hottest, len(rows))


@given(profiles(), st.sets(st.integers(0, 5)))
def test_waiting_is_a_part_of_the_self_weight(profile: Profile, stacks: set[int]) -> None:
    waiting = frozenset(stack for stack in stacks if stack < len(profile.stacks))
    kept = [sample for sample in profile.samples if sample.stack in waiting and profile.stacks[sample.stack]]
    functions = function_table(profile, Selection(waiting=waiting)).rows
    assert sum(row.waiting_weight for row in functions) == sum(sample.weight for sample in kept)
    waits = {
        (row.name, row.file): row.self_weight for row in function_rows(replace(profile, samples=tuple(kept)))
    }
    for row in functions:
        assert row.waiting_weight == waits.get((row.name, row.file), 0)


def test_rows_are_sorted_by_the_work_in_them() -> None:
    profile = profile_of(("f:1 wait@lib:3", 9), ("f:1", 1), ("g:2", 2))
    rows = function_table(profile, Selection(waiting=frozenset({0}), working_first=True)).rows
    assert [(row.name, row.self_weight, row.waiting_weight) for row in rows] == [
        ("g", 2, 0),
        ("f", 1, 0),
        ("wait", 9, 9),
    ]


def test_equal_frames_of_a_table_are_one() -> None:
    profile = profile_of(("f:1 g:2", 3), ("f:3", 1))
    frames, stacks = (*profile.frames, *profile.frames), ((0, 4, 3, 1), (2,))
    assert profile.frames == (Frame("f", USER, 1), Frame("g", USER, 2), Frame("f", USER, 3))
    twice = replace(profile, frames=frames, stacks=stacks)
    assert function_rows(twice) == function_rows(profile)
    assert line_rows(twice) == line_rows(profile)


@given(profiles())
def test_lines_of_functions_are_those_of_their_rows(profile: Profile) -> None:
    lines = {(row.name, row.file): row.line for row in function_rows(profile)}
    assert functions_seen(profile) == set(lines)
    assert function_lines(profile, lines) == lines
    some = list(lines)[::2]
    assert function_lines(profile, some) == {function: lines[function] for function in some}


@given(profiles())
def test_rows_without_lines_are_the_same_otherwise(profile: Profile) -> None:
    rows = function_table(profile, Selection(lines=False)).rows
    assert rows == tuple(replace(row, line=0) for row in function_rows(profile))
