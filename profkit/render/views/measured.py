"""Content of reports of measured runs: a row per order, names that distinguish orders, warnings."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from profkit.comparing.measured import differing, variant_of
from profkit.errors import UsageError
from profkit.model.function_counts import FunctionCount, PythonCounts, PythonFunctionCount
from profkit.model.measurement import (
    InstructionCounts,
    MeasuredRun,
    MeasurementWarning,
    ProcessTimes,
    Timing,
    Usage,
    WarningCode,
)
from profkit.render.formatting import count, percent
from profkit.render.options import ReportOptions, Sort
from profkit.render.views.measurement_warnings import by_cause, warning_text, warnings_text
from profkit.stats.ranks import median_interval
from profkit.transforms.copies import join_inlined


def variants(runs: Sequence[MeasuredRun]) -> list[str]:
    """Return the labels, language and versions that distinguish each run from the others.

    The measured code is added if these, label and threads do not suffice.
    """
    shown = _joined([_asked(run) for run in runs], [_found(run) for run in runs])
    identities = [
        (run.info.label, run.info.order.num_threads, text) for run, text in zip(runs, shown, strict=True)
    ]
    often = Counter(identities)
    return [
        text if often[known] == 1 or run.info.order.what == run.info.label
        else ", ".join(filter(None, (text, run.info.order.what)))
        for run, text, known in zip(runs, shown, identities, strict=True)
    ]  # fmt: skip


def names(runs: Sequence[MeasuredRun]) -> list[str]:
    """Return each run's label for sentences; equal labels are followed by what distinguishes them."""
    often = Counter(run.info.label for run in runs)
    differ = len({run.info.order.num_threads for run in runs}) > 1
    made = []
    for run, variant in zip(runs, variants(runs), strict=True):
        threads = count(run.info.order.num_threads, "thread") if differ else ""
        suffix = ", ".join(filter(None, (variant, threads))) if often[run.info.label] > 1 else ""
        made.append(f"{run.info.label} ({suffix})" if suffix else run.info.label)
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
    """Return each order's values that differ; an order without `found` failed, and does not differ."""
    differ = differing(asked)
    places = dict.fromkeys(name for aspects in found for name in aspects)
    # Zygotes without a package only preload less, which the label of an order shows.
    versions = [name for name in places if len({aspects[name] for aspects in found if name in aspects}) > 1]
    return [
        ", ".join(filter(None, (*map(of_asked.get, differ), *map(of_found.get, versions))))
        for of_asked, of_found in zip(asked, found, strict=True)
    ]


UNKNOWN_FILE = "???"
"""Callgrind's name for the file of a function without debug information."""


@dataclass(frozen=True, slots=True)
class UsageRow:
    """What the executions of a program used, with the children that they waited for."""

    user_s: float
    """Median CPU time outside the kernel."""
    system_s: float
    """Median CPU time inside the kernel."""
    peak_bytes: float
    """Median peak memory of the largest process."""
    most_bytes: int
    """Maximum peak memory."""
    each: tuple[Usage, ...]


@dataclass(frozen=True, slots=True)
class TimeRow:
    """An order's times per execution; each process counts by its fastest block.

    Disturbances only make a process slower, so its minimum is the most repeatable value.
    """

    number: int
    processes: int
    blocks: int
    """Blocks per process; the fewest if processes differ."""
    zygotes: int
    min_s: float
    median_s: float
    """Median of the processes' minima."""
    interval_s: tuple[float, float] | None
    """95 % confidence interval of the median; None for fewer than 6 processes."""
    cpu_share: float
    """CPU time divided by wall time, of all blocks."""
    involuntary_switches: int
    """Involuntary context switches in all blocks."""
    minima_s: tuple[float, ...]
    """Minimum of each process."""
    all_s: tuple[float, ...]
    """Times of all blocks of all processes."""
    usage: UsageRow | None = None
    """None if it is not of a whole program, whose executions are processes of one block."""


@dataclass(frozen=True, slots=True)
class FunctionRow:
    """A function's instructions per execution, exclusive and inclusive; shares are of the net count.

    `file` is empty if unknown. A Python function has a line, unless that is unknown, too.
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
    line: int = 0


@dataclass(frozen=True, slots=True)
class OrderRow:
    """A measured run with its rows; `times` and `functions` are per execution."""

    run: MeasuredRun
    times: TimeRow | None
    counts: InstructionCounts | None
    functions: tuple[FunctionRow, ...]
    """At most as many as the limit; `functions_found` is the number of all."""
    functions_found: int
    warnings: tuple[MeasurementWarning, ...]
    python: tuple[FunctionRow, ...] = ()
    """Python functions, counted in a run of their own; limited as `functions`."""
    python_found: int = 0

    @property
    def trusted(self) -> bool:
        """Whether there are numbers, without warnings."""
        return not self.warnings and (self.times is not None or self.counts is not None)


def order_rows(runs: Sequence[MeasuredRun], options: ReportOptions) -> tuple[OrderRow, ...]:
    """Return the rows of measured runs, in their order; raise `UsageError` if a thread is asked for."""
    if options.thread is not None:
        raise UsageError(f"no thread {options.thread!r} in a measured run", "leave --thread out")
    return tuple(_order_row(run, options) for run in runs)


def _order_row(run: MeasuredRun, options: ReportOptions) -> OrderRow:
    measured = run.measurement
    timing = measured.timing if measured else None
    counts = measured.instructions if measured else None
    functions = function_rows(counts, options.sort) if counts else ()
    python = python_rows(counts.python, options.sort) if counts and counts.python else ()
    return OrderRow(
        run=run,
        times=time_row(timing) if timing else None,
        counts=counts,
        functions=functions[: options.limit],
        functions_found=len(functions),
        warnings=measured.warnings if measured else run.info.warnings,
        python=python[: options.limit],
        python_found=len(python),
    )


def time_row(timing: Timing) -> TimeRow | None:
    """Summarize times; None if no block was measured."""
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
        usage=_usage_row([process.usage for process in processes if process.usage is not None]),
    )


def _usage_row(each: Sequence[Usage]) -> UsageRow | None:
    if not each:
        return None
    return UsageRow(
        user_s=median(one.user_s for one in each),
        system_s=median(one.system_s for one in each),
        peak_bytes=median(one.peak_bytes for one in each),
        most_bytes=max(one.peak_bytes for one in each),
        each=tuple(each),
    )


def _cpu_share(processes: Sequence[ProcessTimes]) -> float:
    # Exact sums: the results of `sum` differ between Python versions.
    walls = [math.fsum(process.times_s) for process in processes]
    used = math.fsum(process.cpu_share * wall for process, wall in zip(processes, walls, strict=True))
    return used / math.fsum(walls) if any(walls) else min(process.cpu_share for process in processes)


def function_rows(counts: InstructionCounts, sort: Sort) -> tuple[FunctionRow, ...]:
    """Return the native functions of a count in the given order, with code inlined from other files."""
    rows = join_inlined(counts.functions)
    return tuple(sorted((_function_row(row, counts.net) for row in rows), key=_order(sort)))


def python_rows(counts: PythonCounts, sort: Sort) -> tuple[FunctionRow, ...]:
    """Return the Python functions of a count in the given order; shares are of their own run's net count."""
    rows = (_python_row(row, counts.net) for row in counts.functions)
    return tuple(sorted(rows, key=_order(sort)))


def _python_row(function: PythonFunctionCount, net: float) -> FunctionRow:
    return FunctionRow(
        full_name=function.key,
        name=function.name,
        file=function.file,
        object="",
        exclusive=function.exclusive,
        inclusive=function.inclusive,
        exclusive_share=function.exclusive / net if net >= 1 else 0.0,
        inclusive_share=function.inclusive / net if net >= 1 else 0.0,
        calls=function.calls,
        line=function.line,
    )


def python_remark(counts: InstructionCounts) -> str:
    """Return how the counts by Python function were made, or why there are none; empty if not asked for."""
    python = counts.python
    if python is None:
        return ""
    if python.missing:
        return f"Instructions by Python function are missing: {python.missing}."
    more = python.net / counts.net - 1 if counts.net >= 1 else 0.0
    differs = f", {percent(abs(more), EXACT)} {'more' if more > 0 else 'fewer'} than without" if more else ""
    return (
        f"By Python function: a run of its own, with CPython's perf trampoline{differs}. It explains the "
        "counts; only the run without it is compared with others."
    )


EXACT = 1000
"""Total for which `percent` shows a decimal; shares of counts are exact."""


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
    """Split `file:function [object]`, as callgrind_annotate writes it, into name and file.

    C++ names contain colons and brackets themselves, files do not.
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
"""Heading of warnings about numbers that compare only among themselves."""


WARNED = "warning"


def uncertainty(row: TimeRow) -> str:
    """Format half of the median's interval relative to the median: `±0.8 %`; `""` if there is none."""
    if row.interval_s is None or not row.median_s:
        return ""
    low, high = row.interval_s
    part = (high - low) / 2 / row.median_s * 100
    return "±<0.1 %" if 0 < part < 0.05 else f"±{part:.{1 if part < 9.95 else 0}f} %"


def headed_warnings(warnings: Iterable[MeasurementWarning]) -> Iterator[tuple[str, str]]:
    """Yield the heading and the reason for the warnings of each cause."""
    for group in by_cause(warnings):
        yield RELATIVE if group[0].code is WarningCode.QUICK else WARNED, warnings_text(group)


def headed_warning(warning: MeasurementWarning) -> tuple[str, str]:
    """Return a warning's heading and its reason."""
    return RELATIVE if warning.code is WarningCode.QUICK else WARNED, warning_text(warning)
