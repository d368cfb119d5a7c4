"""Programs measured from start to end: real ones, without a store; and how often they are timed."""

from __future__ import annotations

import math
import os
import random
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.clock import SYSTEM_CLOCK
from profkit.comparing.measured import compare_measured
from profkit.comparing.times import MIN_PROCESSES
from profkit.measuring.errors import NotCounted, ProgramFailed, ProgramTimeout
from profkit.measuring.programs.executions import ProgramOrder
from profkit.measuring.programs.run import measure_program, planned_executions
from profkit.model.measurement import MeasuredRun, WarningCode
from profkit.model.notes import NoteCode
from profkit.model.workorder import Mode
from profkit.process.foreground import CommandNotStarted
from profkit.render.json.measured import measured_json
from profkit.render.registry import MEASURED
from profkit.stats.ranks import median_interval
from profkit.store.measured import keep_measured
from tests.support.spool_folders import read_measured
from tests.unit.measuring.runner.test_durations import Steps
from tests.unit.measuring.runner.test_run import timing_in

FAST = (sys.executable, "-I", "-S", "-c")


def order(code: str, *, processes: int | None = 6, mode: Mode = Mode.TIMER) -> ProgramOrder:
    command = (*FAST, code)
    return ProgramOrder("program", command, ("-c", code), dict(os.environ), mode, processes=processes)


def instructions(run: MeasuredRun) -> float:
    assert run.info.instructions is not None
    return run.info.instructions


@pytest.fixture(scope="module")
def timed() -> MeasuredRun:
    return measure_program(order("bytearray(8 << 20)"))


def test_times_and_resources_of_each_execution_are_measured(timed: MeasuredRun) -> None:
    timing = timing_in(timed)
    assert [len(process.times_s) for process in timing.processes] == [1] * 6
    usages = [process.usage for process in timing.processes]
    assert all(one is not None and one.peak_bytes > 8 << 20 for one in usages)
    assert all(one is not None and one.user_s + one.system_s > 0 for one in usages)
    assert timed.info.median_s == median(process.times_s[0] for process in timing.processes)
    assert timing.measured_in.python == sys.version.split()[0]


def test_a_run_is_kept_and_read_back(timed: MeasuredRun, tmp_path: Path) -> None:
    assert read_measured(keep_measured(tmp_path, timed)) == timed


def test_reports_show_times_cpu_and_memory(timed: MeasuredRun) -> None:
    text = MEASURED.text([timed])
    for shown in ("program  -c 'bytearray(8 << 20)'", "median", "6 executions", "user ", "system ", "peak "):
        assert shown in text
    assert "zygote" not in text
    assert "memory: peak" in MEASURED.markdown([timed])
    assert '"peak_bytes"' in measured_json([timed])


def test_runs_are_compared_with_the_statistics_of_other_measured_runs(timed: MeasuredRun) -> None:
    slower = measure_program(order("for _ in range(2_000_000): pass"))
    (compared,) = compare_measured([timed], [slower], ("A", "B")).orders
    assert compared.times is not None
    assert compared.times.ratio > 1.5


def test_executions_stop_when_the_median_is_known() -> None:
    steps = Steps()
    run = measure_program(replace(order("pass", processes=None), precision=10.0, min_run_time_s=0.0), steps)
    assert len(timing_in(run).processes) == len(steps.seen) == 10


def test_only_the_output_of_the_first_execution_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    measure_program(order("import sys; print('out'); print('err', file=sys.stderr)", processes=2))
    assert capfd.readouterr() == ("out\n", "err\n")
    measure_program(replace(order("print('out')", processes=2), show_output=True))
    assert capfd.readouterr().out == "out\n" * 3


def test_a_failure_names_the_exit_code_and_shows_what_was_said(tmp_path: Path) -> None:
    code = (
        f"f = open({str(tmp_path / 'count')!r}, 'a'); f.write('x'); f.flush()\n"
        "if f.tell() == 3: raise SystemExit('third')"
    )
    with pytest.raises(ProgramFailed, match="exited with code 1 in execution 3") as caught:
        measure_program(order(code))
    assert caught.value.output == "third\n"


def test_the_first_execution_fails_with_its_output_shown(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ProgramFailed, match="exited with code 3 in execution 1") as caught:
        measure_program(order("print('said'); raise SystemExit(3)"))
    assert (caught.value.output, capfd.readouterr().out) == ("", "said\n")


def test_failures_can_be_ignored_and_a_note_says_so() -> None:
    run = measure_program(replace(order("raise SystemExit(3)", processes=2), ignore_failure=True))
    (note,) = run.info.notes
    assert note.code is NoteCode.EXIT_CODES_IGNORED
    assert dict(note.figures) == {"failed": 3, "executions": 3, "exit_code": 3}
    assert "3 of 3 executions failed" in MEASURED.text([run])


def test_a_timeout_ends_the_program() -> None:
    with pytest.raises(ProgramTimeout, match="did not end within 300 ms"):
        measure_program(replace(order("import time; time.sleep(1000)"), timeout_s=0.3))


def test_a_program_that_cannot_be_started() -> None:
    with pytest.raises(CommandNotStarted):
        measure_program(ProgramOrder("x", ("/no/such/program",), ("--", "x"), {}))


def test_a_few_executions_have_a_warning() -> None:
    run = measure_program(order("pass", processes=3))
    assert WarningCode.FEW_PROCESSES in {warning.code for warning in run.info.warnings}


def test_a_limit_includes_warm_ups() -> None:
    run = measure_program(replace(order("pass", processes=None), runs=4, warmups=2))
    assert len(timing_in(run).processes) == 2


@pytest.mark.valgrind
@pytest.mark.full
def test_instructions_are_counted_from_the_first_to_the_last() -> None:
    base = replace(order("pass", mode=Mode.CALLGRIND, processes=1), python_functions=False, warmups=0)
    few, many = (
        measure_program(replace(base, command=(*FAST, f"for _ in range({times}): pass")))
        for times in (10, 20_010)
    )
    assert 10 < (instructions(many) - instructions(few)) / 20_000 < 1000
    assert "1 repeat" in MEASURED.text([few])
    (compared,) = compare_measured([few], [many], ("A", "B")).orders
    assert compared.counts is not None


@pytest.mark.valgrind
def test_a_command_that_replaces_itself_is_not_counted() -> None:
    base = order("", mode=Mode.CALLGRIND, processes=1)
    with pytest.raises(NotCounted, match="replaced itself"):
        measure_program(replace(base, command=("/bin/sh", "-c", "exec /bin/true"), warmups=0))


@pytest.mark.valgrind
@pytest.mark.full
def test_counts_agree_and_a_forked_child_counts_once() -> None:
    work = "sum(range(400_000))"  # as long as the start of Python, whose counts vary a little
    fork = f"import os\n{work}\nif os.fork(): os.wait()\nelse: {work}; os._exit(0)"
    base = replace(order(fork, mode=Mode.CALLGRIND, processes=2), python_functions=False)
    alone, with_children = (measure_program(replace(base, subprocesses=too)) for too in (False, True))
    assert alone.measurement is not None
    counts = alone.measurement.instructions
    assert counts is not None
    assert max(counts.repeats) <= 1.01 * min(counts.repeats)
    assert 1.2 < instructions(with_children) / instructions(alone) < 1.8


def test_the_clock_gives_the_start_and_the_duration(timed: MeasuredRun) -> None:
    assert timed.info.started_ns <= timed.info.last_ns <= SYSTEM_CLOCK.unix_ns()
    assert timed.info.duration_s > 6 * (timed.info.min_s or 0.0)


TIMES = st.lists(st.floats(0.001, 10), max_size=60)


def rule(
    processes: int | None = None, most: int | None = None, least_s: float = 0.0, limit_s: float = 1e9
) -> ProgramOrder:
    return ProgramOrder(
        "app.py", ("python",), ("app.py",), {}, processes=processes, runs=most, warmups=0,
        min_run_time_s=least_s, max_time_s=limit_s,
    )  # fmt: skip


def executed(limits: ProgramOrder, times_s: list[float]) -> list[float]:
    """Return the times of the executions that are made."""
    done: list[float] = []
    planned = planned_executions(limits, done, 0)
    while len(done) < planned:
        done.append(times_s[len(done)])
        planned = planned_executions(limits, done, planned)
    return done


def test_equal_times_suffice_at_the_first_decision() -> None:
    assert len(executed(rule(), [1.0] * 100)) == 10


def test_scattered_times_need_more() -> None:
    noise = random.Random(1)
    times_s = [math.exp(noise.gauss(0, 0.03)) for _ in range(5000)]
    assert 20 < len(executed(rule(), times_s)) < 400


def test_short_programs_are_timed_for_a_minimum_time() -> None:
    done = executed(rule(least_s=1.0), [0.01] * 1000)
    assert 1.0 <= math.fsum(done) < 1.5


def test_a_fixed_number_is_made_whatever_the_times_are() -> None:
    assert len(executed(rule(processes=3, limit_s=0.1), [1.0, 5.0, 9.0])) == 3


def test_the_time_limit_leaves_enough_for_an_interval() -> None:
    done = executed(rule(limit_s=2.0), [1.0] * 100)
    assert len(done) == MIN_PROCESSES
    assert median_interval(done) is not None


@pytest.mark.parametrize("most", [1, 4, 17])
def test_the_limit_on_executions_is_kept(most: int) -> None:
    assert len(executed(rule(most=most), [1.0, 3.0] * 100)) <= most


@given(times_s=TIMES, planned=st.integers(0, 80), most=st.none() | st.integers(1, 50))
def test_plans_never_shrink_below_what_is_done(times_s: list[float], planned: int, most: int | None) -> None:
    limits = rule(most=most)
    done = times_s if most is None else times_s[:most]
    number = planned_executions(limits, done, planned)
    assert number >= len(done)
    assert most is None or number <= most


@pytest.mark.full
@pytest.mark.parametrize("deviation", [0.01, 0.03, 0.06])
def test_intervals_contain_the_true_median_nearly_as_often_as_they_say(deviation: float) -> None:
    noise, hits, trials = random.Random(7), 0, 400
    for _ in range(trials):
        done = executed(rule(most=400), [math.exp(noise.gauss(0, deviation)) for _ in range(400)])
        low, high = median_interval(done) or (0.0, 0.0)
        hits += low <= 1.0 <= high
    assert hits / trials > 0.9
