from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.model.function_counts import CallCount, FunctionCount
from profkit.model.measurement import CallgrindDump
from profkit.transforms.python_counts import Stub, python_counts

OUTER, INNER = 0x54FF0B0, 0x54FF0BB
STUBS = (Stub(OUTER, "outer", "app.py", 3), Stub(INNER, "inner", "app.py", 9))
NOTHING = CallgrindDump(("Ir",), (0,), ())


def stub(address: int, nested: str = "") -> str:
    return f"???:0x{address:016x}{nested}"


def evaluator(address: int, nested: str = "") -> str:
    return f"Python/ceval.c:_PyEval_EvalFrameDefault{nested}'0x{address:016x} [/usr/bin/python3.12]"


def dump(own: dict[str, float], calls: list[tuple[str, str, int, float]]) -> CallgrindDump:
    rows = tuple(FunctionCount(name, cost, 0.0) for name, cost in own.items())
    edges = tuple(CallCount(*call) for call in calls)
    return CallgrindDump(("Ir",), (int(sum(own.values())),), rows, edges)


PAGE = "???:0x0000000004ef8029"
PLT = "???:0x00000000049479e0 [/usr/lib/libpython3.12.so.1.0]"
TWO = dump(
    {PAGE: 6, stub(OUTER): 10, evaluator(OUTER): 1000, PLT: 90, stub(INNER): 20, evaluator(INNER): 400},
    [
        (PAGE, stub(OUTER), 1, 1520),
        (stub(OUTER), evaluator(OUTER), 1, 1510),
        (evaluator(OUTER), stub(INNER), 2, 450),
        (stub(INNER), evaluator(INNER), 2, 430),
        (evaluator(OUTER), PLT, 3, 60),
        (evaluator(INNER), PLT, 1, 30),
    ],
)


def test_native_code_belongs_to_the_function_that_called_it() -> None:
    found = python_counts(TWO, NOTHING, STUBS, 1)
    rows = {row.name: (row.exclusive, row.inclusive, row.calls, row.line) for row in found.functions}
    assert rows == {"outer": (1070, 1520, 1, 3), "inner": (450, 450, 2, 9)}
    assert (found.net, found.elsewhere) == (1526, 6)
    assert found.calls == (CallCount("app.py:outer", "app.py:inner", 2, 450),)


def test_counts_are_per_execution_and_without_the_loop() -> None:
    empty = dump({PAGE: 6, stub(OUTER): 10}, [(PAGE, stub(OUTER), 1, 10)])
    found = python_counts(TWO, empty, STUBS, 10)
    assert found.elsewhere == 0
    outer = next(row for row in found.functions if row.name == "outer")
    assert (outer.exclusive, outer.inclusive, outer.calls) == (106, 151, 0)


def test_a_recursion_counts_once() -> None:
    nested = "'2"
    found = python_counts(
        dump(
            {stub(OUTER): 1, evaluator(OUTER): 100, stub(OUTER, nested): 3, evaluator(OUTER, nested): 300},
            [
                (PAGE, stub(OUTER), 1, 404),
                (evaluator(OUTER), stub(OUTER, nested), 1, 303),
                (evaluator(OUTER, nested), stub(OUTER, nested), 2, 250),
            ],
        ),
        NOTHING,
        STUBS,
        1,
    )
    (row,) = found.functions
    assert (row.exclusive, row.inclusive, row.calls) == (404, 404, 4)


def test_functions_of_one_name_are_one_row() -> None:
    same = (Stub(OUTER, "<lambda>", "app.py", 0), Stub(INNER, "<lambda>", "app.py", 7))
    (row,) = python_counts(TWO, NOTHING, same, 1).functions
    assert (row.name, row.line, row.exclusive) == ("<lambda>", 7, 1520)


NAMES = st.sampled_from([PAGE, PLT, "???:0x1", *(f(a) for f in (stub, evaluator) for a in (OUTER, INNER))])


@given(
    st.dictionaries(NAMES, st.integers(0, 10_000), max_size=7),
    st.lists(st.tuples(NAMES, NAMES, st.integers(0, 9), st.integers(0, 10_000)), max_size=20),
)
def test_nothing_is_lost_whatever_calls_what(
    own: dict[str, float], calls: list[tuple[str, str, int, float]]
) -> None:
    found = python_counts(dump(own, calls), NOTHING, STUBS, 1)
    of_functions = sum(row.exclusive for row in found.functions)
    assert found.net == pytest.approx(sum(own.values()))
    assert of_functions + found.elsewhere == pytest.approx(found.net)
