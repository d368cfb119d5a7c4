"""The difference of two call graphs: made by hand, so that every number can be reckoned."""

from __future__ import annotations

from dataclasses import replace

from profkit.comparing.instructions import call_deltas, compare_counts
from profkit.comparing.measured import compare_measured
from profkit.model.comparison import CallDelta
from profkit.model.function_counts import CallCount, FunctionCount
from profkit.model.measurement import InstructionCounts
from profkit.render.options import ReportOptions, Terminal
from profkit.render.registry import MEASURED_COMPARISON
from tests.support.example_measured_comparisons import run
from tests.support.example_measurements import COUNTS
from tests.support.golden import check_golden

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
