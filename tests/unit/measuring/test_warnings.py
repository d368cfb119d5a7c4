from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from profkit.measuring.warnings import count_warnings, timing_warnings
from profkit.model.measurement import (
    InstructionCounts,
    MeasuredIn,
    MeasurementWarning,
    Preload,
    ProcessTimes,
    Timing,
    Tool,
    WarningCode,
)
from profkit.model.workorder import WorkOrder
from profkit.render.views.measurement_warnings import warning_text

ORDER = WorkOrder("sorted", stmt="sorted(l)")
HERE = MeasuredIn(Tool.NONE, Preload.NOTHING, "3.11.9")
CALM = ProcessTimes((1e-6,) * 10, 0, 0.99, 0)


def timing(processes: Iterable[ProcessTimes], number: int = 2000) -> Timing:
    return Timing(number, tuple(processes), HERE)


def ten(**changes: object) -> Timing:
    """Ten processes of 20 ms, in pairs of one zygote."""
    return timing(replace(CALM, zygote=k // 2, **changes) for k in range(10))


def codes(warnings: Iterable[MeasurementWarning]) -> set[WarningCode]:
    return {warning.code for warning in warnings}


def only(warnings: Iterable[MeasurementWarning]) -> MeasurementWarning:
    (warning,) = warnings
    return warning


def test_calm_measurements_raise_no_warnings() -> None:
    assert timing_warnings(ORDER, ten()) == ()


def test_one_zygote_is_relative_only() -> None:
    warning = only(timing_warnings(replace(ORDER, quick=True), timing([CALM] * 6)))
    assert warning.code is WarningCode.QUICK
    assert "compare these times with each other only" in warning_text(warning)
    assert codes(timing_warnings(ORDER, timing([CALM] * 6))) == {WarningCode.QUICK}


def test_the_callers_own_process_is_no_zygote() -> None:
    here = replace(timing([CALM]), measured_in=replace(HERE, isolated=False))
    assert codes(timing_warnings(ORDER, here)) == {WarningCode.NOT_ISOLATED, WarningCode.FEW_PROCESSES}


def test_few_processes_and_few_blocks() -> None:
    few = timing(replace(CALM, zygote=k, times_s=(1e-6,) * (3 + k)) for k in range(5))
    process, block = timing_warnings(ORDER, few)
    assert process == MeasurementWarning.of(WarningCode.FEW_PROCESSES, processes=5, needed=6)
    assert warning_text(process) == "5 processes; with fewer than 6 the median has no 95 % interval"
    assert block.code is WarningCode.FEW_BLOCKS
    assert "2 of 5 processes measured fewer than 5 blocks (at least 3)" in warning_text(block)


def test_no_blocks_at_all_are_few() -> None:
    assert codes(timing_warnings(ORDER, timing([]))) == {WarningCode.FEW_PROCESSES}
    nothing = timing([replace(CALM, times_s=(), cpu_share=0.0)])
    assert codes(timing_warnings(ORDER, nothing)) == {WarningCode.FEW_PROCESSES}


def test_a_busy_machine_is_named() -> None:
    # 20 ms of which 8 were lost in 2 switches.
    low, switches = timing_warnings(ORDER, ten(cpu_share=0.6, involuntary_switches=2))
    assert (low.code, dict(low.figures)["switches"]) == (WarningCode.CPU_SHARE, 20)
    assert warning_text(low) == (
        "10 of 10 processes had the CPU for less than 95 % of the time (the lowest for 60 % of the time) "
        "and were preempted 20 times: other processes compete for the CPU"
    )
    assert switches.code is WarningCode.SWITCHES
    assert "100 times per second" in warning_text(switches)


def test_a_statement_that_sleeps_is_not_the_machines_fault() -> None:
    sleeps = timing(
        [replace(CALM, times_s=(0.1,) * 10, zygote=k, cpu_share=0.001) for k in range(10)], number=1
    )
    warning = only(timing_warnings(ORDER, sleeps))
    assert warning.code is WarningCode.CPU_SHARE
    assert "the statement itself waits" in warning_text(warning)
    assert "other processes" not in warning_text(warning)
    # A few switches cannot account for a second's absence.
    few = timing([replace(process, involuntary_switches=2) for process in sleeps.processes], number=1)
    assert "the statement itself waits" in warning_text(only(timing_warnings(ORDER, few)))


def test_threads_are_judged_by_the_busiest_process() -> None:
    four = replace(ORDER, num_threads=4)
    assert timing_warnings(four, ten(cpu_share=3.9)) == ()
    assert timing_warnings(four, ten(cpu_share=1.2)) == ()
    mixed = [replace(process, cpu_share=3.9) for process in ten().processes[:-1]]
    disturbed = timing([*mixed, replace(CALM, zygote=4, cpu_share=2.0, involuntary_switches=9)])
    warning = only(timing_warnings(four, disturbed))
    assert warning.code is WarningCode.CPU_SHARE
    assert (
        "1 of 10 processes had the CPU for less than 95 % of the CPU time of the busiest one"
        in warning_text(warning)
    )


def test_one_switch_by_chance_is_none_too_many() -> None:
    processes = list(ten().processes)
    processes[3] = replace(processes[3], involuntary_switches=9)
    assert timing_warnings(ORDER, timing(processes)) == ()


def test_scattered_processes() -> None:
    # One that is 20 % slower does not move the interval, which leaves out one value on each side.
    one = [replace(CALM, zygote=k, times_s=(1e-6 * (1.2 if k == 0 else 1),) * 10) for k in range(10)]
    warning = only(timing_warnings(ORDER, timing(one)))
    assert warning == MeasurementWarning.of(
        WarningCode.SPREAD, fastest_s=1e-6, slowest_s=pytest.approx(1.2e-6)
    )
    assert warning_text(warning) == "the slowest process took 20 % longer than the fastest"
    wide = [replace(CALM, zygote=k, times_s=(1e-6 * (1 + k / 100),) * 10) for k in range(10)]
    warning = only(timing_warnings(ORDER, timing(wide)))
    assert warning.code is WarningCode.SPREAD
    assert warning_text(warning) == (
        "the median's 95 % interval, 1.01 µs to 1.08 µs, is 7 % of the median wide"
    )


def test_blocks_shorter_than_the_clock_resolves() -> None:
    warning = only(timing_warnings(ORDER, timing(ten().processes, number=1)))
    assert warning.code is WarningCode.SHORT
    assert "a block of 1 execution takes 1.00 µs" in warning_text(warning)
    assert WarningCode.SHORT in codes(timing_warnings(ORDER, ten(times_s=(0.0,) * 10)))


def test_many_workers_and_limited_runs() -> None:
    assert codes(timing_warnings(ORDER, ten(), workers=2)) == {WarningCode.MANY_WORKERS}
    once = timing([replace(CALM, times_s=(0.1,))], number=1)
    limited = timing_warnings(replace(ORDER, runs=1), once)
    assert MeasurementWarning.of(WarningCode.LIMITED, limit=1, measured=1) in limited
    assert codes(timing_warnings(replace(ORDER, runs=10**7), ten())) == set()


@pytest.mark.parametrize("raw", [(), (1000,), (100_000, 100_090), (0, 0)])
def test_equal_counts_raise_no_warning(raw: tuple[int, ...]) -> None:
    assert count_warnings(InstructionCounts(10, raw, 0.0, 0.0, 0.0, HERE)) == ()


def test_counts_that_differ_are_named() -> None:
    warning = only(count_warnings(InstructionCounts(10, (100_000, 100_110), 0.0, 0.0, 0.0, HERE)))
    assert warning.code is WarningCode.COUNTS_DIFFER
    assert warning_text(warning).startswith("2 repeats counted 100,000 to 100,110 instructions")


@pytest.mark.parametrize(
    ("repeats", "code", "cause"),
    [
        (
            (5000, 5000, 5100, 5100),
            WarningCode.INPUT_DEPENDENT,
            "2 processes counted 5,000 to 5,100 instructions without allocators, while the repeats of each",
        ),
        (
            (5000, 5100, 5000, 5100),
            WarningCode.COUNTS_DIFFER,
            "4 repeats counted 5,000 to 5,100 instructions without allocators: the",
        ),
        ((5000, 5000, 5001, 5001), None, None),
    ],
)
def test_what_differs_between_processes_alone_depends_on_the_input(
    repeats: tuple[int, ...], code: WarningCode | None, cause: str | None
) -> None:
    counts = InstructionCounts(10, repeats, 0.0, 0.0, 0.0, HERE, raw_stripped=repeats, processes=2)
    warnings = count_warnings(counts)
    assert [warning.code for warning in warnings] == ([code] if code else [])
    assert all(warning_text(warning).startswith(cause or "") for warning in warnings)
