"""Warnings about measured numbers, each with the figures that it is based on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from profkit.comparing.times import LEAST_PROCESSES
from profkit.model.measurement import (
    Freshness,
    InstructionCounts,
    MeasurementWarning,
    ProcessTimes,
    Timing,
    WarningCode,
)
from profkit.model.workorder import WorkOrder
from profkit.stats import median, median_interval
from profkit.units import format_duration

LEAST_BLOCKS = 5
"""Minimum number of blocks per process: with fewer, even the fastest may be disturbed."""

LEAST_CPU_SHARE = 0.95
"""Minimum CPU share: undisturbed blocks have their core for all but one or two per cent of the time."""

LONGEST_ABSENCE_S = 0.05
"""Longest involuntary absence per switch, in seconds. A preempted process is back within a few scheduler
slices, or half a quota's period of 100 ms. If it was away for longer each time, it waited for something."""

MOST_SWITCHES_PER_S = 25
"""Per thread: with slices of 3 to 4 ms, this means that others have the core for a tenth of the time."""

WIDEST_INTERVAL = 0.05
"""Relative to the median. Layouts and hash seeds move a process by 3 to 10 %, but their median by less."""

WIDEST_SPREAD = 0.10
"""Relative difference of the slowest and fastest process; layouts and hash seeds cause less."""

SHORTEST_BLOCK_S = 10e-6
"""Reading the clock twice takes about 0.1 µs: one per cent of this."""

MOST_COUNT_SPREAD = 0.001
"""Without allocators, which depend on the heap, equal repeats agree to a few instructions."""

_WARM_UPS = 4
"""At least one in this many executions is measured; the rest are warm-ups and the search for a number."""


def timing_warnings(order: WorkOrder, timing: Timing, workers: int = 1) -> tuple[MeasurementWarning, ...]:
    """Return the warnings about times that `workers` measured at once."""
    processes = [process for process in timing.processes if process.times_s]
    warnings = [*_how_measured(order, timing, workers), *_how_many(order, timing, processes)]
    warnings += _state(timing.freshness)
    if processes:
        warnings += _machine(order, timing, processes) + _scatter(timing, processes)
    return tuple(warnings)


def count_warnings(instructions: InstructionCounts) -> tuple[MeasurementWarning, ...]:
    """Return the warnings about instruction counts."""
    return (*_repeats(instructions), *_state(instructions.freshness))


def _state(freshness: Freshness) -> tuple[MeasurementWarning, ...]:
    """Return the warning about executions that find state changed by earlier ones."""
    if freshness.fresh or not (freshness.changes and freshness.why_not):
        return ()
    what = ", ".join(freshness.changes)
    told = f"each execution changes {what}, which the next one finds changed, since {freshness.why_not}"
    return (MeasurementWarning(WarningCode.CHANGES_STATE, told),)


def _repeats(instructions: InstructionCounts) -> tuple[MeasurementWarning, ...]:
    repeats = instructions.raw_stripped or instructions.raw
    if _agree(repeats):
        return ()
    counted = f"counted {min(repeats):,} to {max(repeats):,} instructions without allocators"
    size = max(1, len(repeats) // instructions.processes)
    each = [repeats[start : start + size] for start in range(0, len(repeats), size)]
    if instructions.processes > 1 and all(map(_agree, each)):
        told = (
            f"{instructions.processes} processes {counted}, each the same in all of its repeats: the count "
            "depends on the statement's input, such as unseeded data, paths or addresses"
        )
    else:
        told = f"{len(repeats)} repeats {counted}: the statement does not do the same each time"
    return (MeasurementWarning(WarningCode.COUNTS_DIFFER, told),)


def _agree(repeats: Sequence[int]) -> bool:
    return max(repeats, default=0) <= min(repeats, default=0) * (1 + MOST_COUNT_SPREAD)


def _how_measured(order: WorkOrder, timing: Timing, workers: int) -> Iterable[MeasurementWarning]:
    zygotes = {process.zygote for process in timing.processes}
    if not timing.measured_in.isolated:
        yield MeasurementWarning(
            WarningCode.NOT_ISOLATED, "measured in the caller's own process, with all that went on in it"
        )
    elif order.quick or (len(timing.processes) > 1 and len(zygotes) == 1):
        yield MeasurementWarning(
            WarningCode.QUICK,
            f"all processes ({len(timing.processes)}) share the memory layout of one zygote, which can shift "
            "them by 10 % together: good for comparisons within it only",
        )
    if workers > 1:
        yield MeasurementWarning(
            WarningCode.MANY_WORKERS,
            f"{workers} workers measured at once: statements that wait for memory take 5 to 24 % longer so",
        )


def _how_many(
    order: WorkOrder, timing: Timing, processes: list[ProcessTimes]
) -> Iterable[MeasurementWarning]:
    if len(processes) < LEAST_PROCESSES:
        yield MeasurementWarning(
            WarningCode.FEW_PROCESSES,
            f"{_counted(len(processes), 'process', 'processes')}, and below {LEAST_PROCESSES} the median has "
            "no 95 % interval",
        )
    short = [len(process.times_s) for process in processes if len(process.times_s) < LEAST_BLOCKS]
    if short:
        yield MeasurementWarning(
            WarningCode.FEW_BLOCKS,
            f"{len(short)} of {len(processes)} processes measured fewer than {LEAST_BLOCKS} blocks "
            f"(the least {min(short)}): their minimum may be a disturbed one",
        )
    executions = timing.number * sum(len(process.times_s) for process in processes)
    if order.runs is not None and executions * _WARM_UPS >= order.runs:
        limit = _counted(order.runs, "execution", "executions")
        yield MeasurementWarning(
            WarningCode.LIMITED, f"limited to {limit} in all, of which {executions} were measured"
        )


def _machine(order: WorkOrder, timing: Timing, processes: list[ProcessTimes]) -> list[MeasurementWarning]:
    """Return the warnings about contention for the cores."""
    warnings = []
    # How many of its threads a statement keeps busy is a property of the statement, equal in all processes.
    busiest = max(process.cpu_share for process in processes) if order.num_threads > 1 else 1.0
    low = [process for process in processes if process.cpu_share < LEAST_CPU_SHARE * busiest]
    if low:
        warnings.append(
            MeasurementWarning(WarningCode.CPU_SHARE, _why_low(timing, low, len(processes), busiest))
        )
    switches = sum(process.involuntary_switches for process in processes)
    per_s = switches / max(sum(_wall_s(timing, process) for process in processes), 1e-9)
    # In a process too short for a meaningful rate, one switch may be chance.
    if per_s > MOST_SWITCHES_PER_S * order.num_threads and switches > len(processes):
        warnings.append(
            MeasurementWarning(
                WarningCode.SWITCHES,
                f"pushed off its core {per_s:.0f} times a second while measuring ({switches} times in all): "
                "other processes need it too",
            )
        )
    return warnings


def _why_low(timing: Timing, low: list[ProcessTimes], processes: int, busiest: float) -> str:
    least = min(process.cpu_share for process in low)
    whole = "the time" if busiest == 1.0 else "what the busiest one had"
    had = (
        f"{len(low)} of {processes} processes had the CPU for less than {100 * LEAST_CPU_SHARE:.0f} % "
        f"of {whole} (the least for {100 * least:.0f} % of the time)"
    )
    pushed = [process for process in low if _was_pushed(timing, process, busiest)]
    if pushed:
        switches = sum(process.involuntary_switches for process in pushed)
        return f"{had}, pushed off it {switches} times: other processes need it too"
    return f"{had}, hardly ever pushed off it: the statement itself waits, for sleep, files, locks or others"


def _was_pushed(timing: Timing, process: ProcessTimes, busiest: float) -> bool:
    """Return whether involuntary switches explain most of the time that a process was away."""
    away_s = (busiest - process.cpu_share) * _wall_s(timing, process)
    return process.involuntary_switches * LONGEST_ABSENCE_S >= away_s / 2


def _scatter(timing: Timing, processes: list[ProcessTimes]) -> list[MeasurementWarning]:
    """Return the warnings about the times themselves."""
    warnings = []
    minima = [min(process.times_s) for process in processes]
    why = [reason for reason in (_wide_interval(minima), _wide_spread(minima)) if reason]
    if why:
        warnings.append(MeasurementWarning(WarningCode.SPREAD, "; ".join(why)))
    block_s = timing.number * min(minima)
    if block_s < SHORTEST_BLOCK_S:
        block = f"a block of {_counted(timing.number, 'execution', 'executions')}"
        why_short = f"{block} takes {format_duration(block_s)}, about 0.1 µs of it for reading the clock"
        warnings.append(
            MeasurementWarning(WarningCode.SHORT, f"{why_short}: measure more executions in a block")
        )
    return warnings


def _wide_interval(minima: list[float]) -> str | None:
    bounds, middle = median_interval(minima), median(minima)
    if bounds is None or bounds[1] - bounds[0] <= WIDEST_INTERVAL * middle:
        return None
    low, high = map(format_duration, bounds)
    return f"the median's 95 % interval, {low} to {high}, is {_percent(bounds[1] - bounds[0], middle)} of it"


def _wide_spread(minima: list[float]) -> str | None:
    least, most = min(minima), max(minima)
    if most - least <= WIDEST_SPREAD * least:
        return None
    return f"the slowest process took {_percent(most - least, least)} longer than the fastest"


def _wall_s(timing: Timing, process: ProcessTimes) -> float:
    return timing.number * sum(process.times_s)


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole > 0 else "infinitely many %"


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
