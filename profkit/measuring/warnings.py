"""Decide which warnings measured numbers get, each with the figures that it is based on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from profkit.comparing.instructions import repeats_agree
from profkit.comparing.times import MIN_PROCESSES
from profkit.model.measurement import (
    Freshness,
    InstructionCounts,
    MeasurementWarning,
    ProcessTimes,
    Timing,
    WarningCode,
)
from profkit.model.workorder import WorkOrder
from profkit.stats.ranks import median_interval

MIN_BLOCKS = 5
"""Minimum number of blocks per process: with fewer, even the fastest may be disturbed."""

MIN_CPU_SHARE = 0.95
"""Minimum CPU share: undisturbed blocks have their core for all but one or two per cent of the time."""

LONGEST_ABSENCE_S = 0.05
"""Longest involuntary absence per switch, in seconds. A preempted process is back within a few scheduler
slices, or half a quota's period of 100 ms. If it was away for longer each time, it waited for something."""

MAX_SWITCHES_PER_S = 25
"""Per thread: with slices of 3 to 4 ms, this means that others have the core for a tenth of the time."""

WIDEST_INTERVAL = 0.05
"""Relative to the median. Layouts and hash seeds move a process by 3 to 10 %, but their median by less."""

WIDEST_SPREAD = 0.10
"""Relative difference of the slowest and fastest process; layouts and hash seeds cause less."""

SHORTEST_BLOCK_S = 10e-6
"""Reading the clock twice takes about 0.1 µs: one per cent of this."""

_ONE_CPU = 1.05
"""CPU time divided by wall time, above which several threads of a program preempt each other."""

_WARM_UPS = 4
"""At least one in this many executions is measured; the rest are warm-ups and the search for a number."""


def timing_warnings(order: WorkOrder, timing: Timing, workers: int = 1) -> tuple[MeasurementWarning, ...]:
    """Return the warnings about times that `workers` measured at once."""
    processes = [process for process in timing.processes if process.times_s]
    warnings = [*_how_measured(order, timing, workers), *_few_processes(processes)]
    warnings += [*_how_many(order, timing, processes), *_state(timing.freshness)]
    if processes:
        warnings += [*_machine(order, timing, processes), *_scatter(timing, processes)]
    return tuple(warnings)


def program_warnings(timing: Timing) -> tuple[MeasurementWarning, ...]:
    """Return the warnings about times of a whole program, whose executions are processes of one block each.

    Waiting and several threads are its own matter. Single executions may be disturbed: the median counts.
    """
    processes = timing.processes
    warnings = list(_few_processes(processes))
    if wide := _wide_interval([min(process.times_s) for process in processes]):
        warnings.append(MeasurementWarning.of(WarningCode.SPREAD, **wide))
    if all(process.cpu_share <= _ONE_CPU for process in processes):
        warnings += _often_switched(timing, processes, threads=1)
    return tuple(warnings)


def program_count_warnings(instructions: InstructionCounts) -> tuple[MeasurementWarning, ...]:
    """Return the warnings about counts of a whole program, whose repeats are processes of their own."""
    return tuple(_repeats(replace(instructions, processes=1)))


def count_warnings(instructions: InstructionCounts) -> tuple[MeasurementWarning, ...]:
    """Return the warnings about instruction counts."""
    return (*_repeats(instructions), *_state(instructions.freshness))


def _few_processes(processes: Sequence[ProcessTimes]) -> Iterator[MeasurementWarning]:
    if len(processes) < MIN_PROCESSES:
        yield MeasurementWarning.of(WarningCode.FEW_PROCESSES, processes=len(processes), needed=MIN_PROCESSES)


def _state(freshness: Freshness) -> Iterator[MeasurementWarning]:
    """Yield the warning about executions that find state changed by earlier ones."""
    if not freshness.fresh and freshness.changes and freshness.why_not:
        changed = ", ".join(freshness.changes)
        yield MeasurementWarning.of(WarningCode.CHANGES_STATE, changed=changed, why_not=freshness.why_not)


def _repeats(instructions: InstructionCounts) -> Iterator[MeasurementWarning]:
    repeats = instructions.repeats
    if repeats_agree(repeats):
        return
    size = max(1, len(repeats) // instructions.processes)
    each = [repeats[start : start + size] for start in range(0, len(repeats), size)]
    by_process = instructions.processes > 1 and all(map(repeats_agree, each))
    yield MeasurementWarning.of(
        WarningCode.INPUT_DEPENDENT if by_process else WarningCode.COUNTS_DIFFER,
        low=min(repeats),
        high=max(repeats),
        counted=instructions.processes if by_process else len(repeats),
    )


def _how_measured(order: WorkOrder, timing: Timing, workers: int) -> Iterator[MeasurementWarning]:
    zygotes = {process.zygote for process in timing.processes}
    if not timing.measured_in.isolated:
        yield MeasurementWarning.of(WarningCode.NOT_ISOLATED)
    elif order.quick or (len(timing.processes) > 1 and len(zygotes) == 1):
        yield MeasurementWarning.of(WarningCode.QUICK, processes=len(timing.processes))
    if workers > 1:
        yield MeasurementWarning.of(WarningCode.MANY_WORKERS, workers=workers)


def _how_many(
    order: WorkOrder, timing: Timing, processes: list[ProcessTimes]
) -> Iterator[MeasurementWarning]:
    short = [len(process.times_s) for process in processes if len(process.times_s) < MIN_BLOCKS]
    if short:
        yield MeasurementWarning.of(
            WarningCode.FEW_BLOCKS,
            processes=len(processes),
            affected=len(short),
            blocks=min(short),
            needed=MIN_BLOCKS,
        )
    executions = timing.number * sum(len(process.times_s) for process in processes)
    if order.runs is not None and executions * _WARM_UPS >= order.runs:
        yield MeasurementWarning.of(WarningCode.LIMITED, limit=order.runs, measured=executions)


def _machine(order: WorkOrder, timing: Timing, processes: list[ProcessTimes]) -> Iterator[MeasurementWarning]:
    # How many of its threads a statement keeps busy is a property of the statement, equal in all processes.
    busiest = max(process.cpu_share for process in processes) if order.num_threads > 1 else 1.0
    low = [process for process in processes if process.cpu_share < MIN_CPU_SHARE * busiest]
    if low:
        pushed = [process for process in low if _was_pushed(timing, process, busiest)]
        yield MeasurementWarning.of(
            WarningCode.CPU_SHARE,
            processes=len(processes),
            affected=len(low),
            share=min(process.cpu_share for process in low),
            needed=MIN_CPU_SHARE,
            busiest=busiest,
            switches=sum(process.involuntary_switches for process in pushed),
        )
    yield from _often_switched(timing, processes, order.num_threads)


def _often_switched(
    timing: Timing, processes: Sequence[ProcessTimes], threads: int
) -> Iterator[MeasurementWarning]:
    switches = sum(process.involuntary_switches for process in processes)
    per_s = switches / max(sum(_wall_s(timing, process) for process in processes), 1e-9)
    # In a process too short for a meaningful rate, one switch may be chance.
    if per_s > MAX_SWITCHES_PER_S * threads and switches > len(processes):
        yield MeasurementWarning.of(WarningCode.SWITCHES, per_s=per_s, switches=switches)


def _was_pushed(timing: Timing, process: ProcessTimes, busiest: float) -> bool:
    """Return whether involuntary switches explain most of the time that a process was away."""
    away_s = (busiest - process.cpu_share) * _wall_s(timing, process)
    return process.involuntary_switches * LONGEST_ABSENCE_S >= away_s / 2


def _scatter(timing: Timing, processes: list[ProcessTimes]) -> Iterator[MeasurementWarning]:
    minima = [min(process.times_s) for process in processes]
    fastest, slowest = min(minima), max(minima)
    spread = _wide_interval(minima)
    if slowest - fastest > WIDEST_SPREAD * fastest:
        spread |= {"fastest_s": fastest, "slowest_s": slowest}
    if spread:
        yield MeasurementWarning.of(WarningCode.SPREAD, **spread)
    block_s = timing.number * fastest
    if block_s < SHORTEST_BLOCK_S:
        yield MeasurementWarning.of(WarningCode.SHORT, executions=timing.number, block_s=block_s)


def _wide_interval(minima: list[float]) -> dict[str, float]:
    bounds, middle = median_interval(minima), median(minima)
    if bounds is None or bounds[1] - bounds[0] <= WIDEST_INTERVAL * middle:
        return {}
    return {"median_s": middle, "low_s": bounds[0], "high_s": bounds[1]}


def _wall_s(timing: Timing, process: ProcessTimes) -> float:
    return timing.number * sum(process.times_s)
