"""The view of measured runs: a row per order, what distinguishes orders, and warnings."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from profkit.comparing.measured import differing, variant_of
from profkit.errors import UsageError
from profkit.model.measurement import (
    FunctionCount,
    InstructionCounts,
    MeasuredRun,
    MeasurementWarning,
    ProcessTimes,
    Timing,
    WarningCode,
)
from profkit.render.formatting import count
from profkit.render.options import ReportOptions, Sort
from profkit.render.views.measurement_warnings import sentence
from profkit.stats import median, median_interval


def variants(runs: Sequence[MeasuredRun]) -> list[str]:
    """For each run what it has and not all of the others have: values of its labels, language, versions.

    What was measured is added where label, threads and all that do not tell it from another.
    """
    shown = _joined([_asked(run) for run in runs], [_found(run) for run in runs])
    told = [(run.info.label, run.info.order.num_threads, text) for run, text in zip(runs, shown, strict=True)]
    often = Counter(told)
    return [
        text if often[known] == 1 or run.info.order.what == run.info.label
        else ", ".join(filter(None, (text, run.info.order.what)))
        for run, text, known in zip(runs, shown, told, strict=True)
    ]  # fmt: skip


def names(runs: Sequence[MeasuredRun]) -> list[str]:
    """Each run's label for sentences, with what else tells it apart where the label does not."""
    often = Counter(run.info.label for run in runs)
    differ = len({run.info.order.num_threads for run in runs}) > 1
    made = []
    for run, variant in zip(runs, variants(runs), strict=True):
        threads = count(run.info.order.num_threads, "thread") if differ else ""
        told = ", ".join(filter(None, (variant, threads))) if often[run.info.label] > 1 else ""
        made.append(f"{run.info.label} ({told})" if told else run.info.label)
    return made


def _asked(run: MeasuredRun) -> dict[str, str]:
    order = run.info.order
    return {
        **variant_of(order),
        "level": order.level.value,
        "source_cmd": shlex.join(order.source_cmd),
        **{f"env {name}": f"{name}={value}" for name, value in order.env},
    }


def _found(run: MeasuredRun) -> dict[str, str]:
    numbers = run.measurement and (run.measurement.timing or run.measurement.instructions)
    if not numbers:
        return {}
    where = numbers.measured_in
    packages = {name: f"{name} {version}" for name, version in where.packages}
    return {"python": f"Python {where.python}", **packages}


def _joined(asked: Sequence[Mapping[str, str]], found: Sequence[Mapping[str, str]]) -> list[str]:
    """What differs of either; an order that has nothing of `found` failed, which is no difference."""
    differ = differing(asked)
    places = dict.fromkeys(name for aspects in found for name in aspects)
    # Zygotes with and without a package differ in what they preload, which the label of an order tells.
    versions = [name for name in places if len({aspects[name] for aspects in found if name in aspects}) > 1]
    return [
        ", ".join(filter(None, (*map(of_asked.get, differ), *map(of_found.get, versions))))
        for of_asked, of_found in zip(asked, found, strict=True)
    ]


UNKNOWN_FILE = "???"
"""Callgrind's word for the file of a function without debug information."""


@dataclass(frozen=True, slots=True)
class TimeRow:
    """An order's times, of one execution; each process counts by its least block.

    What disturbs a process only ever makes it slower, so its minimum is what repeats best.
    """

    number: int
    processes: int
    blocks: int
    """Of a process; of the one with the fewest where they differ."""
    zygotes: int
    min_s: float
    median_s: float
    """Of the processes."""
    interval_s: tuple[float, float] | None
    """Of the median, with 95 % confidence; None for less than 6 processes."""
    cpu_share: float
    """CPU time by wall time of all blocks."""
    involuntary_switches: int
    """Of all blocks."""
    minima_s: tuple[float, ...]
    """Of each process."""
    all_s: tuple[float, ...]
    """Of each block of each process."""


@dataclass(frozen=True, slots=True)
class FunctionRow:
    """A function's instructions in one execution: its own, and with all that it called; shares of the net.

    `file` is empty where it is not known.
    """

    full_name: str
    """`file:function`, as callgrind_annotate writes it."""
    name: str
    file: str
    object: str
    exclusive: float
    inclusive: float
    exclusive_share: float
    inclusive_share: float
    calls: float


@dataclass(frozen=True, slots=True)
class OrderRow:
    """A measured run beside what a report makes of it; `times` and `functions` are of one execution."""

    run: MeasuredRun
    times: TimeRow | None
    counts: InstructionCounts | None
    functions: tuple[FunctionRow, ...]
    """Cut to the limit; `functions_found` says how many there were."""
    functions_found: int
    warnings: tuple[MeasurementWarning, ...]

    @property
    def trusted(self) -> bool:
        """Whether there are numbers that nothing speaks against."""
        return not self.warnings and (self.times is not None or self.counts is not None)


def order_rows(runs: Sequence[MeasuredRun], options: ReportOptions) -> tuple[OrderRow, ...]:
    """The rows of measured runs, in their order; raises `UsageError` where one thread is asked for."""
    if options.thread is not None:
        raise UsageError(f"no thread {options.thread!r} in a measured run", "leave --thread out")
    return tuple(_order_row(run, options) for run in runs)


def _order_row(run: MeasuredRun, options: ReportOptions) -> OrderRow:
    measured = run.measurement
    timing = measured.timing if measured else None
    counts = measured.instructions if measured else None
    functions = function_rows(counts, options.sort) if counts else ()
    return OrderRow(
        run=run,
        times=time_row(timing) if timing else None,
        counts=counts,
        functions=functions[: options.limit],
        functions_found=len(functions),
        warnings=measured.warnings if measured else run.info.warnings,
    )


def time_row(timing: Timing) -> TimeRow | None:
    """What times come to; None where no block was measured."""
    processes = [process for process in timing.processes if process.times_s]
    if not processes:
        return None
    minima_s = tuple(min(process.times_s) for process in processes)
    return TimeRow(
        number=timing.number,
        processes=len(processes),
        blocks=min(len(process.times_s) for process in processes),
        zygotes=len({process.zygote for process in processes}),
        min_s=min(minima_s),
        median_s=median(minima_s),
        interval_s=median_interval(minima_s),
        cpu_share=_cpu_share(processes),
        involuntary_switches=sum(process.involuntary_switches for process in processes),
        minima_s=minima_s,
        all_s=tuple(time_s for process in processes for time_s in process.times_s),
    )


def _cpu_share(processes: Sequence[ProcessTimes]) -> float:
    # Exact sums: those of `sum` differ from Python to Python.
    walls = [math.fsum(process.times_s) for process in processes]
    used = math.fsum(process.cpu_share * wall for process, wall in zip(processes, walls, strict=True))
    return used / math.fsum(walls) if any(walls) else min(process.cpu_share for process in processes)


def function_rows(counts: InstructionCounts, sort: Sort) -> tuple[FunctionRow, ...]:
    """The functions of a count in the order that is asked for."""
    return tuple(sorted((_function_row(row, counts.net) for row in counts.functions), key=_order(sort)))


def _function_row(function: FunctionCount, net: float) -> FunctionRow:
    name, file = name_and_file(function)
    return FunctionRow(
        full_name=function.name,
        name=name,
        file=file,
        object=function.object,
        exclusive=function.exclusive,
        inclusive=function.inclusive,
        exclusive_share=function.exclusive / net if net >= 1 else 0.0,
        inclusive_share=function.inclusive / net if net >= 1 else 0.0,
        calls=function.calls,
    )


def name_and_file(function: FunctionCount) -> tuple[str, str]:
    """The two parts of `file:function [object]`, as callgrind_annotate writes it.

    Names of C++ hold colons and brackets themselves, files do not.
    """
    bare = function.name.removesuffix(f" [{function.object}]") if function.object else function.name
    file, colon, name = bare.partition(":")
    if not colon:
        return bare, ""
    return name, "" if file == UNKNOWN_FILE else file


def _order(sort: Sort) -> Callable[[FunctionRow], tuple[float, float, str, str]]:
    if sort is Sort.NAME:
        return lambda row: (0.0, 0.0, row.name, row.file)
    if sort is Sort.TOTAL:
        return lambda row: (-row.inclusive, -row.exclusive, row.name, row.file)
    return lambda row: (-row.exclusive, -row.inclusive, row.name, row.file)


RELATIVE = "relative only"
"""What numbers are that compare among themselves, and with no others."""


WARNED = "do not trust"


def uncertainty(row: TimeRow) -> str:
    """Half of the median's interval as a part of the median, `±0.8 %`; `""` where there is none."""
    if row.interval_s is None or not row.median_s:
        return ""
    low, high = row.interval_s
    part = (high - low) / 2 / row.median_s * 100
    return "±<0.1 %" if 0 < part < 0.05 else f"±{part:.{1 if part < 9.95 else 0}f} %"


def warning_text(warning: MeasurementWarning) -> tuple[str, str]:
    """What a warning comes to, and why."""
    return RELATIVE if warning.code is WarningCode.QUICK else WARNED, sentence(warning)
