"""Counted statements: equal in all forks, nearly so in other heaps and with other hash seeds."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet  # pytest does not export it

from benchmarks.statements import STATEMENTS, Statement
from profkit import measure, measure_all, work_order
from profkit.comparing.measured import compare_measured
from profkit.errors import UsageError
from profkit.measuring.orders import MeasureOptions
from profkit.model.measurement import InstructionCounts, Preload, Tool, WarningCode
from profkit.render.views.measurement_warnings import warning_text

HEAP = "_junk = [bytearray(n * 37) for n in range(1000)]\n"
TAKES_LONG = {"x + y", "Linear forward + backward", "64×64 matmul", "user function"}
"""Torch takes some 20 s to start under Valgrind."""


LONG = [pytest.mark.full, pytest.mark.torch]
EACH = [
    pytest.param(each, id=each.label, marks=LONG if each.label in TAKES_LONG else []) for each in STATEMENTS
]


AT_A_PAGES_END = 24
"""Instructions that the C library's `memcmp` takes longer if a string ends near the end of a page."""


def in_full(parameters: ParameterSet) -> ParameterSet:
    """The same parameters, for the full tests alone."""
    return pytest.param(*parameters.values, id=parameters.id, marks=(*parameters.marks, pytest.mark.full))


def counted(statement: Statement, heap: str = "", **options: object) -> InstructionCounts:
    given: MeasureOptions = {"setup": heap + statement.setup, "mode": "callgrind", "number": 5}
    found = measure(statement.stmt, keep=False, **{**given, **options})  # type: ignore[arg-type]
    assert found.instructions is not None
    return found.instructions


@pytest.mark.valgrind
@pytest.mark.parametrize("statement", [EACH[0], *map(in_full, EACH[1:])])
def test_counts_are_equal_in_forks_and_nearly_so_in_other_heaps(statement: Statement) -> None:
    first, *forks = (counted(statement) for _ in range(3))
    assert all(fork.raw == first.raw for fork in forks)
    assert all(fork.functions == first.functions for fork in forks)
    stripped = [first.stripped, counted(statement, HEAP).stripped]
    assert max(stripped) / min(stripped) <= 1.003
    assert first.stripped <= first.net < min(first.raw) / first.number


@pytest.mark.gil
@pytest.mark.valgrind
@pytest.mark.parametrize("statement", [EACH[1], *map(in_full, EACH[2:4])])
@pytest.mark.slow
def test_stripped_counts_hardly_depend_on_the_hash_seed(statement: Statement) -> None:
    stripped = [counted(statement, env={"PYTHONHASHSEED": seed}).stripped for seed in ("1", "4711")]
    stripped.append(counted(statement).stripped)
    assert max(stripped) - min(stripped) <= max(0.003 * min(stripped), AT_A_PAGES_END)


@pytest.mark.valgrind
def test_functions_show_calls_and_costs_of_one_execution() -> None:
    counts = counted(Statement("getppid", "for i in range(7): getppid()", "from os import getppid"))
    calls = [row.calls for row in counts.functions if row.name.endswith(":getppid")]
    assert calls == [7]
    assert sum(row.exclusive for row in counts.functions) == pytest.approx(counts.net)


@pytest.mark.valgrind
@pytest.mark.slow
def test_cycles_are_estimated_where_caches_are_simulated() -> None:
    counts = counted(Statement("list", "l[:]", "l = [0] * 1000"), simulate=["cache", "branch"])
    events = dict(counts.events)
    assert events["cycles"] > counts.net
    assert {"Dr", "Dw", "Bc"} <= set(events)


@pytest.mark.valgrind
def test_a_callable_and_its_times_in_one_order() -> None:
    order = work_order(sorted, args=([3, 1, 2],), mode="timer+callgrind", quick=True, min_run_time_s=0.01)
    (run,) = measure_all([order], keep=False)
    assert run.measurement is not None
    timing, counts = run.measurement.timing, run.measurement.instructions
    assert timing is not None
    assert counts is not None
    assert (timing.measured_in.tool, counts.measured_in.tool) == (Tool.NONE, Tool.VALGRIND)
    assert counts.measured_in.preload is Preload.NOTHING
    assert counts.net > 100


@pytest.mark.full
@pytest.mark.valgrind
def test_controls_count_the_same_in_every_environment() -> None:
    places: list[MeasureOptions] = [
        {"python": sys.executable},
        {"source_cmd": ["env", f"PATH={Path(sys.executable).parent}:{os.environ['PATH']}"]},
    ]
    found = [counted(STATEMENTS[2], **place).controls for place in places]
    assert [control.name for control in found[0]] == ["arithmetic", "copying", "sorting"]
    assert all(control.instructions > 100 for control in found[0])
    assert found[1] == found[0]
    assert counted(STATEMENTS[2]).controls == ()


def test_threads_are_refused_because_they_would_not_be_counted() -> None:
    with pytest.raises(UsageError, match="one thread"):
        work_order("pass", mode="callgrind", num_threads=2)
    with pytest.raises(UsageError, match="one thread"):
        measure_all([replace(work_order("pass", mode="callgrind"), num_threads=2)])


@pytest.mark.valgrind
@pytest.mark.slow
def test_statements_that_are_to_be_compared_are_counted_equally_often() -> None:
    orders = [work_order(f"sum(range({n}))", mode="callgrind") for n in (10, 300_000)]
    alone, beside = measure_all(orders, keep=False), measure_all(orders, interleaved=True, keep=False)
    numbers = [
        [
            run.measurement.instructions.number
            for run in runs
            if run.measurement and run.measurement.instructions
        ]
        for runs in (alone, beside)
    ]
    assert numbers == [[10, 2], [2, 2]]


@pytest.mark.valgrind
@pytest.mark.slow
def test_what_depends_on_its_input_is_no_difference() -> None:
    """Each process has another number of rounds, as each has other random numbers."""
    setup = "import os\nrounds = 100 + 10 * (os.getpid() * 7919 % 1009)"
    orders = [work_order("sum(range(rounds))", setup=setup, label=name, mode="callgrind") for name in "ab"]
    runs = measure_all(orders, interleaved=True, keep=False)
    for run in runs:
        (warning,) = run.info.warnings
        assert warning.code is WarningCode.INPUT_DEPENDENT
        assert "depends on the statement's input, such as unseeded data" in warning_text(warning)
    compared = compare_measured(runs[:1], runs[1:], ("A", "B"))
    assert compared.orders[0].counts is not None
    assert compared.orders[0].counts.noise > 0
