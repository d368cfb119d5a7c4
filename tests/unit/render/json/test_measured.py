"""The report of measured runs for programs, and the rows that all reports of them are made of."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from profkit.errors import UsageError
from profkit.model.function_counts import FunctionCount
from profkit.render.json.measured import digest, measured_json
from profkit.render.options import DEFAULTS, ReportOptions, Sort
from profkit.render.views.measured import function_rows, name_and_file, order_rows, time_row
from profkit.render.views.measurement_warnings import warning_text
from tests.support.example_measured_runs import measured_run
from tests.support.example_measurements import (
    COUNTS,
    FUNCTIONS,
    LIBTORCH,
    PYTHON_COUNTS,
    QUICK,
    batch,
    both,
    extremes,
    failed,
    hostile,
    measured,
    timing,
)
from tests.support.example_runs import HOSTILE
from tests.support.golden import check_golden


def test_report() -> None:
    document = json.loads(measured_json((both(), failed())))
    check_golden("measured.json", json.dumps(document, indent=1) + "\n")


def test_times_are_of_the_processes_minima() -> None:
    row = time_row(timing([[3.0, 1.0, 9.0], [2.0, 4.0], [5.0, 8.0, 7.0]], number=7))
    assert row is not None
    assert (row.min_s, row.median_s, row.interval_s) == (1.0, 2.0, None)
    assert (row.number, row.processes, row.blocks, row.zygotes) == (7, 3, 2, 2)
    assert row.minima_s == (1.0, 2.0, 5.0)
    assert len(row.all_s) == 8
    assert row.involuntary_switches == 0 + 1 + 2


def test_six_processes_have_an_interval() -> None:
    row = time_row(timing([[float(second)] for second in range(1, 7)]))
    assert row is not None
    assert (row.median_s, row.interval_s) == (3.5, (1.0, 6.0))


def test_the_cpu_share_is_of_all_the_time() -> None:
    two = timing([[1.0], [3.0]])
    shares = (1.0, 0.6)
    processes = [
        replace(process, cpu_share=share) for process, share in zip(two.processes, shares, strict=True)
    ]
    row = time_row(replace(two, processes=tuple(processes)))
    assert row is not None
    assert row.cpu_share == pytest.approx((1.0 * 1.0 + 3.0 * 0.6) / 4.0)


def test_no_blocks_are_no_times() -> None:
    assert time_row(timing([])) is None
    assert time_row(timing([[], []])) is None
    order = json.loads(measured_json((measured(timing([[]])),)))["orders"][0]
    assert (order["min_s"], order["times_s"], order["quality"]["trusted"]) == (None, [[]], False)


@pytest.mark.parametrize(
    ("counted", "name", "file"),
    [
        ("malloc/malloc.c:malloc", "malloc", "malloc/malloc.c"),
        ("???:at::add(at::Tensor const&) [/lib/o.so]", "at::add(at::Tensor const&)", ""),
        ("a.cpp:f(int) [clone .isra.0]", "f(int) [clone .isra.0]", "a.cpp"),
        ("a.cpp:T::operator [](long)", "T::operator [](long)", "a.cpp"),
        ("(below main)", "(below main)", ""),
        ("", "", ""),
    ],
)
def test_names_are_taken_apart(counted: str, name: str, file: str) -> None:
    assert name_and_file(FunctionCount(counted, 1.0, 1.0, object="/lib/o.so")) == (name, file)


def test_functions_are_ordered_as_asked() -> None:
    shown = {sort: [row.name for row in function_rows(COUNTS, sort)] for sort in Sort}
    assert shown[Sort.SELF][0].startswith("at::TensorIteratorBase")
    assert shown[Sort.TOTAL][0] == "_PyEval_EvalFrameDefault"
    assert shown[Sort.NAME] == sorted(shown[Sort.NAME])
    assert function_rows(COUNTS, Sort.SELF)[0].exclusive_share == pytest.approx(1210.0 / 5600.8)


def test_programs_get_every_function_unless_they_ask_for_less() -> None:
    def functions(options: ReportOptions = DEFAULTS) -> list[dict[str, object]]:
        found = json.loads(measured_json((both(),), options))["orders"][0]["instructions"]["functions"]
        assert isinstance(found, list)
        return found

    assert len(functions()) == len(FUNCTIONS)
    limited = functions(ReportOptions(sort=Sort.TOTAL, limit=1))
    assert [function["object"] for function in limited] == ["/usr/bin/python3.11"]
    assert functions()[0]["name"] == f"{FUNCTIONS[0].name}"
    assert functions()[0]["object"] == LIBTORCH


def test_functions_can_be_left_out() -> None:
    slim = measured_json((both(),), ReportOptions(functions=False))
    assert json.loads(slim)["orders"][0]["instructions"]["functions"] is None
    assert FUNCTIONS[0].name not in slim


def test_start_and_end_are_of_all_orders() -> None:
    first = measured_run(started_ns=1_000_000_000)
    last = measured_run(id="b", started_ns=5_000_000_000)
    found = json.loads(measured_json([last, first]))
    assert found["started"].startswith("1970-01-01T00:00:01")
    assert found["ended"] > found["orders"][0]["started"]
    assert json.loads(measured_json([]))["ended"] is None


def test_what_was_not_requested_is_null() -> None:
    timed, counted = (
        json.loads(measured_json((run,)))["orders"][0]
        for run in (measured(timing([[1.0]])), measured(None, COUNTS))
    )
    assert timed["instructions"] is None
    assert (timed["min_s"], timed["times_s"]) == (1.0, [[1.0]])
    for name in ("times_s", "min_s", "median_s", "interval_s", "number", "blocks", "cpu_share"):
        assert counted[name] is None, name
    assert counted["instructions"]["raw"] == [560_934, 560_934]


def test_quality_has_a_reason() -> None:
    trusted, warned, none = (
        json.loads(measured_json((run,)))["orders"][0]["quality"]
        for run in (both(), measured(timing([[1.0]]), warnings=(QUICK,)), failed())
    )
    assert trusted == {"trusted": True, "warnings": []}
    assert warned == {
        "trusted": False,
        "warnings": [{"code": "quick", "figures": {"processes": 2}, "text": warning_text(QUICK)}],
    }
    assert none["trusted"] is False


def test_every_run_has_an_object_that_stays_the_same() -> None:
    for runs in (batch(), extremes(), (hostile(),), ()):
        text = measured_json(runs)
        assert text == measured_json(runs)
        assert [order["id"] for order in json.loads(text)["orders"]] == [run.info.id for run in runs]


def test_hostile_names_are_whole_and_in_ascii() -> None:
    text = measured_json((hostile(),))
    assert text.isascii()
    assert all(line.isprintable() for line in text.split("\n"))
    notes = json.loads(text)["orders"][0]["notes"]
    assert [note["figures"]["detail"] for note in notes] == list(HOSTILE)


def test_a_measured_run_has_no_threads_to_choose_from() -> None:
    with pytest.raises(UsageError, match="no thread 'loader-0'"):
        order_rows((both(),), ReportOptions(thread="loader-0"))


def test_programs_load_nothing_that_lays_out_text() -> None:
    code = "import profkit.render.json.measured, sys; print('rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_digest_is_about_the_orders_and_nothing_else() -> None:
    first, second = measured_run("a"), measured_run("b", id="other", started_ns=7)
    same = digest([first.info.order, second.info.order])
    assert same == digest([second.info.order, first.info.order])
    assert json.loads(measured_json([first, second]))["digest"] == same
    drifted = replace(first.info.order, setup="import torch  # newer")
    assert digest([drifted, second.info.order]) != same
    assert digest([first.info.order]) != same


def test_the_digest_depends_on_definitions_and_not_on_the_environment() -> None:
    order = measured_run("a").info.order
    elsewhere = replace(
        order,
        file="/other/a.py",
        line=7,
        source_cmd=("conda", "run"),
        env=(("A", "1"),),
        python="/bin/python",
    )
    assert digest([elsewhere]) == digest([order])
    for changed in (
        replace(order, label="other"),
        replace(order, what="2"),
        replace(order, num_threads=8),
        replace(order, labels=(("runtime", "script"),)),
    ):
        assert digest([changed]) != digest([order])


def test_counts_by_python_function() -> None:
    run = measured(None, replace(COUNTS, python=PYTHON_COUNTS))
    python = json.loads(measured_json((run,)))["orders"][0]["instructions"]["python"]
    assert (python["net"], python["elsewhere"], python["missing"]) == (5700.8, 0, None)
    assert [row["line"] for row in python["functions"]] == [12, 30, None]
    assert python["functions"][0] == {
        "name": "Model.fit", "file": "/home/u/app.py", "line": 12, "exclusive": 4000.0, "inclusive": 5600.0,
        "calls": 1.0,
    }  # fmt: skip
    without = json.loads(measured_json((run,), ReportOptions(functions=False)))
    assert without["orders"][0]["instructions"]["python"]["functions"] is None
