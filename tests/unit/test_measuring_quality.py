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

ORDER = WorkOrder("sorted", stmt="sorted(l)")
HERE = MeasuredIn(Tool.NONE, Preload.NOTHING, "3.11.9")
CALM = ProcessTimes((1e-6,) * 10, 0, 0.99, 0)


def timing(processes: Iterable[ProcessTimes], number: int = 2000) -> Timing:
    return Timing(number, tuple(processes), HERE)


def ten(**changes: object) -> Timing:
    """Ten processes of 20 ms, in pairs of one zygote."""
    return timing(replace(CALM, zygote=k // 2, **changes) for k in range(10))


def flags(warnings: Iterable[MeasurementWarning]) -> set[WarningCode]:
    return {warning.flag for warning in warnings}


def only(warnings: Iterable[MeasurementWarning]) -> MeasurementWarning:
    (warning,) = warnings
    return warning


def test_calm_measurements_raise_no_doubts() -> None:
    assert timing_warnings(ORDER, ten()) == ()


def test_one_zygote_is_relative_only() -> None:
    warning = only(timing_warnings(replace(ORDER, quick=True), timing([CALM] * 6)))
    assert warning.flag is WarningCode.QUICK
    assert "good for comparisons within it only" in warning.why
    assert flags(timing_warnings(ORDER, timing([CALM] * 6))) == {WarningCode.QUICK}


def test_the_callers_own_process_is_no_zygote() -> None:
    here = replace(timing([CALM]), measured_in=replace(HERE, isolated=False))
    assert flags(timing_warnings(ORDER, here)) == {WarningCode.NOT_ISOLATED, WarningCode.FEW_PROCESSES}


def test_few_processes_and_few_blocks() -> None:
    few = timing(replace(CALM, zygote=k, times_s=(1e-6,) * (3 + k)) for k in range(5))
    process, block = timing_warnings(ORDER, few)
    assert process == MeasurementWarning(
        WarningCode.FEW_PROCESSES, "5 processes, and below 6 the median has no 95 % interval"
    )
    assert block.flag is WarningCode.FEW_BLOCKS
    assert "2 of 5 processes measured fewer than 5 blocks (the least 3)" in block.why


def test_no_blocks_at_all_are_few() -> None:
    assert flags(timing_warnings(ORDER, timing([]))) == {WarningCode.FEW_PROCESSES}
    nothing = timing([replace(CALM, times_s=(), cpu_share=0.0)])
    assert flags(timing_warnings(ORDER, nothing)) == {WarningCode.FEW_PROCESSES}


def test_a_busy_machine_is_named() -> None:
    # 20 ms of which 8 were lost in 2 switches.
    low, switches = timing_warnings(ORDER, ten(cpu_share=0.6, involuntary_switches=2))
    assert low == MeasurementWarning(
        WarningCode.CPU_SHARE,
        "10 of 10 processes had the CPU for less than 95 % of the time (the least for 60 % of the time), "
        "pushed off it 20 times: other processes need it too",
    )
    assert switches.flag is WarningCode.SWITCHES
    assert "100 times a second" in switches.why


def test_a_statement_that_sleeps_is_not_the_machines_fault() -> None:
    sleeps = timing(
        [replace(CALM, times_s=(0.1,) * 10, zygote=k, cpu_share=0.001) for k in range(10)], number=1
    )
    warning = only(timing_warnings(ORDER, sleeps))
    assert warning.flag is WarningCode.CPU_SHARE
    assert "the statement itself waits" in warning.why
    assert "other processes" not in warning.why
    # A few switches cannot counters for a second's absence.
    few = timing([replace(process, involuntary_switches=2) for process in sleeps.processes], number=1)
    assert "the statement itself waits" in only(timing_warnings(ORDER, few)).why


def test_threads_are_judged_by_the_busiest_process() -> None:
    four = replace(ORDER, num_threads=4)
    assert timing_warnings(four, ten(cpu_share=3.9)) == ()
    assert timing_warnings(four, ten(cpu_share=1.2)) == ()
    mixed = [replace(process, cpu_share=3.9) for process in ten().processes[:-1]]
    disturbed = timing([*mixed, replace(CALM, zygote=4, cpu_share=2.0, involuntary_switches=9)])
    warning = only(timing_warnings(four, disturbed))
    assert warning.flag is WarningCode.CPU_SHARE
    assert "1 of 10 processes had the CPU for less than 95 % of what the busiest one had" in warning.why


def test_one_switch_by_chance_is_none_too_many() -> None:
    processes = list(ten().processes)
    processes[3] = replace(processes[3], involuntary_switches=9)
    assert timing_warnings(ORDER, timing(processes)) == ()


def test_scattered_processes() -> None:
    # One that is 20 % slower does not move the interval, which leaves out one value on each side.
    one = [replace(CALM, zygote=k, times_s=(1e-6 * (1.2 if k == 0 else 1),) * 10) for k in range(10)]
    warning = only(timing_warnings(ORDER, timing(one)))
    assert warning == MeasurementWarning(
        WarningCode.SPREAD, "the slowest process took 20 % longer than the fastest"
    )
    wide = [replace(CALM, zygote=k, times_s=(1e-6 * (1 + k / 100),) * 10) for k in range(10)]
    warning = only(timing_warnings(ORDER, timing(wide)))
    assert warning == MeasurementWarning(
        WarningCode.SPREAD, "the median's 95 % interval, 1.01 µs to 1.08 µs, is 7 % of it"
    )


def test_blocks_shorter_than_the_clock_resolves() -> None:
    warning = only(timing_warnings(ORDER, timing(ten().processes, number=1)))
    assert warning.flag is WarningCode.SHORT
    assert "a block of 1 execution takes 1.00 µs" in warning.why
    assert WarningCode.SHORT in flags(timing_warnings(ORDER, ten(times_s=(0.0,) * 10)))


def test_many_workers_and_limited_runs() -> None:
    assert flags(timing_warnings(ORDER, ten(), workers=2)) == {WarningCode.MANY_WORKERS}
    once = timing([replace(CALM, times_s=(0.1,))], number=1)
    limited = timing_warnings(replace(ORDER, runs=1), once)
    assert (
        MeasurementWarning(WarningCode.LIMITED, "limited to 1 execution in all, of which 1 were measured")
        in limited
    )
    assert flags(timing_warnings(replace(ORDER, runs=10**7), ten())) == set()


@pytest.mark.parametrize(
    ("raw", "differ"),
    [((), False), ((1000,), False), ((100_000, 100_090), False), ((100_000, 100_110), True), ((0, 0), False)],
)
def test_counts_that_differ(raw: tuple[int, ...], differ: bool) -> None:
    counts = InstructionCounts(10, raw, 0.0, 0.0, 0.0, HERE)
    assert flags(count_warnings(counts)) == ({WarningCode.COUNTS_DIFFER} if differ else set())


def test_the_counts_are_named() -> None:
    counts = InstructionCounts(10, (12_000, 15_000), 0.0, 0.0, 0.0, HERE)
    assert only(count_warnings(counts)).why.startswith("2 repeats counted 12,000 to 15,000 instructions")


@pytest.mark.parametrize(
    ("repeats", "cause"),
    [
        (
            (5000, 5000, 5100, 5100),
            "2 processes counted 5,000 to 5,100 instructions without allocators, each",
        ),
        (
            (5000, 5100, 5000, 5100),
            "4 repeats counted 5,000 to 5,100 instructions without allocators: the",
        ),
        ((5000, 5000, 5001, 5001), None),
    ],
)
def test_what_differs_between_processes_alone_depends_on_the_input(
    repeats: tuple[int, ...], cause: str | None
) -> None:
    counts = InstructionCounts(10, repeats, 0.0, 0.0, 0.0, HERE, raw_stripped=repeats, processes=2)
    warnings = count_warnings(counts)
    assert [warning.flag for warning in warnings] == ([WarningCode.COUNTS_DIFFER] if cause else [])
    assert all(warning.why.startswith(cause or "") for warning in warnings)
