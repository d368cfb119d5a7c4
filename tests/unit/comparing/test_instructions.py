from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.comparing.gate import check_counts
from profkit.comparing.instructions import call_deltas, compare_counts, python_deltas
from profkit.comparing.measured import compare_measured
from profkit.model.comparison import CallDelta, Outcome, PythonFunctionDelta, Verdict
from profkit.model.function_counts import CallCount, FunctionCount, PythonCounts, PythonFunctionCount
from profkit.model.measurement import InstructionCounts, MeasuredIn, Preload, Tool
from profkit.model.notes import Finding, FindingCode
from profkit.render.options import ReportOptions, Terminal
from profkit.render.registry import MEASURED_COMPARISON
from profkit.render.views.findings import finding_text
from profkit.render.views.measured_comparison import counts_sentence
from tests.support.example_measured_comparisons import run
from tests.support.example_measurements import COUNTS, FUNCTIONS, LIBC, VALGRIND_ZYGOTE
from tests.support.golden import check_golden


def counts(stripped: float, *functions: tuple[str, float], **changes: object) -> InstructionCounts:
    rows = tuple(FunctionCount(name, own, own) for name, own in functions)
    return replace(COUNTS, stripped=stripped, functions=rows, **changes)  # type: ignore[arg-type]


def test_the_largest_difference_comes_first_whichever_way_it_goes() -> None:
    a = counts(1000, ("a.c:same", 500), ("a.c:less", 400), ("a.c:gone", 100))
    b = counts(1200, ("a.c:same", 500.2), ("a.c:less", 100), ("a.c:new", 599.8))
    compared = compare_counts([a], [b])
    assert [(row.name, row.delta) for row in compared.functions] == [
        ("a.c:new", 599.8), ("a.c:less", -300), ("a.c:gone", -100),
    ]  # fmt: skip
    assert (compared.verdict, compared.delta, compared.ratio) == (Verdict.SLOWER, 200, 1.2)
    assert counts_sentence(compared) == "executes 20.00 % more instructions"
    assert counts_sentence(compare_counts([b], [a])) == "executes 16.67 % fewer instructions"


def test_allocators_are_distinguished() -> None:
    malloc = f"./malloc/./malloc/malloc.c:malloc [{LIBC}]"
    compared = compare_counts([counts(10, (malloc, 50))], [counts(10, (malloc, 350))])
    assert (compared.verdict, compared.functions) == (Verdict.NO_DIFFERENCE, ())
    assert compared.allocators.delta == 300


def test_names_are_made_standard_only_between_environments() -> None:
    here = counts(1, ("/home/a/Python/ceval.c:f", 10))
    there = counts(
        1, ("/build/x/Python/ceval.c:f", 10), measured_in=replace(VALGRIND_ZYGOTE, python="3.12.1")
    )
    assert len(compare_counts([here], [replace(there, measured_in=VALGRIND_ZYGOTE)]).functions) == 2
    compared = compare_counts([here], [there])
    assert (compared.functions, compared.standardized) == ((), True)


def test_counts_of_unequal_numbers_of_executions_do_not_compare() -> None:
    compared = compare_counts([counts(1000, number=10)], [counts(1200, number=2)])
    assert compared.obstacle == Finding.of(FindingCode.NUMBERS_DIFFER, a=10, b=2)
    assert "--number 2" in finding_text(compared.obstacle)
    check = check_counts("f", compared, 0.01)
    assert (check.outcome, check.reasons) == (Outcome.INCONCLUSIVE, (compared.obstacle,))


def test_counts_of_equal_numbers_are_preferred() -> None:
    often, seldom = counts(1000, number=10), counts(900, number=2)
    compared = compare_counts([often, seldom], [counts(1200, number=10)])
    assert (compared.a, compared.b, compared.obstacle) == (1000, 1200, None)


def test_what_repeats_differ_by_is_no_difference() -> None:
    unsteady = counts(1000, raw_stripped=(100_000, 105_000))
    compared = compare_counts([unsteady], [counts(1040)])
    assert compared.verdict is Verdict.NO_DIFFERENCE
    assert counts_sentence(compared) == "executes as many instructions, to within 5 %"
    assert compare_counts([counts(1000)], [counts(1040)]).verdict is Verdict.SLOWER


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        (0, 40, "executes instructions, unlike A"),
        (100, 300, "executes 3 times as many instructions"),
        (100, 20, "executes 20 % of A's instructions"),
        (5, 5.3, "executes as many instructions, to within 0.1 %"),
        (0, 0, "executes as many instructions, to within 0.1 %"),
    ],
)
def test_sentences(a: float, b: float, sentence: str) -> None:
    assert counts_sentence(compare_counts([counts(a)], [counts(b)])) == sentence


def test_of_several_runs_the_least_disturbed_one_counts() -> None:
    compared = compare_counts([counts(1005), counts(1000)], [counts(1100), counts(1099)])
    assert (compared.a, compared.b) == (1000, 1099)


def test_a_count_differs_in_nothing_from_itself() -> None:
    compared = compare_counts([COUNTS], [COUNTS])
    assert (compared.functions, compared.delta, len(FUNCTIONS)) == ((), 0, 6)


MALLOC = "malloc/malloc.c:malloc"


def graph(own: dict[str, float], edges: dict[tuple[str, str], float], folder: str = "") -> InstructionCounts:
    """Functions of one file, but malloc; edges with their inclusive costs."""

    def name(function: str) -> str:
        return MALLOC if function == "malloc" else f"{folder}Modules/app.c:{function}"

    functions = tuple(FunctionCount(name(row), cost, cost, 1.0, "app.so") for row, cost in own.items())
    calls = tuple(CallCount(name(a), name(b), 1.0, cost) for (a, b), cost in edges.items())
    total = sum(cost for row, cost in own.items() if row != "malloc")
    return replace(COUNTS, functions=functions, calls=calls, stripped=total, net=total)


BEFORE = graph(
    {"main": 100, "parse": 400, "wrap": 10, "check": 50, "malloc": 70},
    {("main", "parse"): 400, ("main", "wrap"): 130, ("wrap", "check"): 120, ("check", "malloc"): 70},
)
AFTER = graph(
    {"main": 100, "parse": 300, "wrap": 10, "check": 550, "log": 40, "malloc": 700},
    {("main", "parse"): 300, ("main", "wrap"): 1300, ("wrap", "check"): 1290, ("check", "malloc"): 700,
     ("check", "log"): 40},
)  # fmt: skip


def test_calls_that_differ_are_below_their_callers() -> None:
    rows = call_deltas(BEFORE, AFTER, standardized=False)
    assert rows == (
        CallDelta("main", "Modules/app.c", 0, True, 560, 1000, 0),
        CallDelta("check", "Modules/app.c", 1, False, 50, 590, 1),  # through wrap; log differs too little
        CallDelta("parse", "Modules/app.c", 1, True, 400, 300, 0),
    )


def test_the_other_way_round_is_the_mirror() -> None:
    def told(rows: tuple[CallDelta, ...], sign: int) -> list[tuple[str, int, int]]:
        return [(row.name, row.depth, sign * row.delta) for row in rows]

    there, back = (call_deltas(*sides, standardized=False) for sides in ((BEFORE, AFTER), (AFTER, BEFORE)))
    assert told(there, 1) == told(back, -1)


def test_what_does_not_differ_has_no_rows() -> None:
    assert call_deltas(BEFORE, BEFORE, standardized=False) == ()
    assert call_deltas(BEFORE, replace(AFTER, calls=()), standardized=False) == ()
    assert compare_counts([BEFORE], [BEFORE]).calls == ()


def test_other_folders_are_the_same_functions_where_environments_differ() -> None:
    own, edges = {"main": 100.0, "parse": 400.0}, {("main", "parse"): 400.0}
    there = graph(own, edges, "/build/x/")
    here = graph({**own, "parse": 500.0}, {("main", "parse"): 500.0})
    assert [row.delta for row in call_deltas(there, here, standardized=True)] == [100]
    apart = call_deltas(there, here, standardized=False)
    assert [row.delta for row in apart if row.depth == 0] == [600, -500]


def test_how_they_are_shown() -> None:
    compared = compare_measured([run("a1", None, BEFORE)], [run("b1", None, AFTER)], ("A", "B"))
    for form, ending in (("text", "txt"), ("markdown", "md"), ("json", "json")):
        shown = MEASURED_COMPARISON.renderer(form)(compared, ReportOptions(), Terminal())
        check_golden(f"compared-calls.{ending}", f"{shown}\n")
    narrow = MEASURED_COMPARISON.renderer("text")(compared, ReportOptions(), Terminal(60))
    assert "+540   50    590  ├ check" in narrow
    assert max(map(len, narrow.splitlines())) <= 60
    limited = MEASURED_COMPARISON.renderer("text")(compared, ReportOptions(limit=2), Terminal(80))
    assert limited.endswith("\n… and 1 more call")


HERE = MeasuredIn(Tool.VALGRIND, Preload.NOTHING, "3.13.2")


def python_of(*rows: tuple[str, str, int, float]) -> InstructionCounts:
    functions = tuple(PythonFunctionCount(name, file, line, cost, cost, 1) for name, file, line, cost in rows)
    net = sum(row.exclusive for row in functions)
    python = PythonCounts(functions, net=net)
    return InstructionCounts(10, (round(10 * net),), 0.0, net, net, HERE, python=python)


A = python_of(("parse", "/a/app.py", 3, 1000), ("emit", "/a/app.py", 9, 500), ("same", "/a/app.py", 20, 7))
B = python_of(("parse", "/a/app.py", 4, 1400), ("new", "/a/app.py", 30, 20), ("same", "/a/app.py", 21, 7.25))


def test_the_largest_difference_is_first() -> None:
    assert python_deltas(A, B) == (
        PythonFunctionDelta("emit", "/a/app.py", 9, 500, 0),
        PythonFunctionDelta("parse", "/a/app.py", 4, 1000, 1400),
        PythonFunctionDelta("new", "/a/app.py", 30, 0, 20),
    )


def test_libraries_of_two_environments_are_the_same_files() -> None:
    a = python_of(("dumps", "/old/lib/python3.13/site-packages/orjson/core.py", 1, 100))
    b = python_of(("dumps", "/new/.venv/lib/python3.13/site-packages/orjson/core.py", 1, 150))
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
