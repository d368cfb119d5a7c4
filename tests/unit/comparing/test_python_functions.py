from __future__ import annotations

from dataclasses import replace

from profkit.comparing.instructions import compare_counts
from profkit.comparing.python_functions import python_deltas
from profkit.model.comparison import PythonFunctionDelta
from profkit.model.function_counts import PythonCounts, PythonFunctionCount
from profkit.model.measurement import InstructionCounts, MeasuredIn, Preload, Tool

HERE = MeasuredIn(Tool.VALGRIND, Preload.NOTHING, "3.13.2")


def counts(*rows: tuple[str, str, int, float]) -> InstructionCounts:
    functions = tuple(PythonFunctionCount(name, file, line, cost, cost, 1) for name, file, line, cost in rows)
    net = sum(row.exclusive for row in functions)
    python = PythonCounts(functions, net=net)
    return InstructionCounts(10, (round(10 * net),), 0.0, net, net, HERE, python=python)


A = counts(("parse", "/a/app.py", 3, 1000), ("emit", "/a/app.py", 9, 500), ("same", "/a/app.py", 20, 7))
B = counts(("parse", "/a/app.py", 4, 1400), ("new", "/a/app.py", 30, 20), ("same", "/a/app.py", 21, 7.25))


def test_the_largest_difference_is_first() -> None:
    assert python_deltas(A, B) == (
        PythonFunctionDelta("emit", "/a/app.py", 9, 500, 0),
        PythonFunctionDelta("parse", "/a/app.py", 4, 1000, 1400),
        PythonFunctionDelta("new", "/a/app.py", 30, 0, 20),
    )


def test_libraries_of_two_environments_are_the_same_files() -> None:
    a = counts(("dumps", "/old/lib/python3.13/site-packages/orjson/core.py", 1, 100))
    b = counts(("dumps", "/new/.venv/lib/python3.13/site-packages/orjson/core.py", 1, 150))
    assert [row.delta for row in python_deltas(a, b)] == [50]


def test_only_like_is_compared() -> None:
    other = replace(B, measured_in=replace(HERE, python="3.14.0"))
    missing = replace(B, python=PythonCounts(missing="no trampoline"))
    for different in (other, missing, replace(B, python=None), replace(B, number=7)):
        assert python_deltas(A, different) == ()
    assert python_deltas(missing, missing) == ()


def test_counts_without_a_difference_have_no_functions_that_differ() -> None:
    assert compare_counts([A], [B]).python != ()
    assert compare_counts([A], [replace(B, stripped=A.stripped)]).python == ()
