"""Measure a program: warm up, time, count, and make the run that is kept."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.measuring.programs.attribution import with_python_functions
from profkit.measuring.programs.counting import counted
from profkit.measuring.programs.executions import Executions, executing
from profkit.measuring.programs.interpreter import started_python
from profkit.measuring.programs.orders import ProgramOrder, check, order_info
from profkit.measuring.programs.timing import timed
from profkit.measuring.runner.progress import Progress, Silent
from profkit.measuring.warnings import program_count_warnings, program_warnings
from profkit.model.measurement import (
    Design,
    InstructionCounts,
    MeasuredInfo,
    MeasuredRun,
    Measurement,
    Timing,
)
from profkit.process.manifest import process_info
from profkit.process.signals import interrupted_by_termination


def measure_program(
    order: ProgramOrder, progress: Progress | None = None, clock: Clock = SYSTEM_CLOCK
) -> MeasuredRun:
    """Measure a whole program and return its run, which is not kept yet.

    An interrupt ends the program. Raises `UsageError` before anything starts; `MeasuringError`, for example
    if the program fails; and `CommandNotStarted`.
    """
    check(order)
    started_ns, started_s = clock.unix_ns(), clock.monotonic_s()
    shown = Silent() if progress is None or order.show_output else progress
    with interrupted_by_termination(), executing(order) as executions:
        try:
            timing, counts = _measured(executions, shown)
        finally:
            shown.end()
        notes = executions.notes()
    found = _measurement(order, timing, counts)
    info = MeasuredInfo(
        id=uuid4().hex[:10],
        batch=Design.SEPARATE.batch(uuid4().hex[:12]),
        started_ns=started_ns,
        duration_s=clock.monotonic_s() - started_s,
        process=process_info(),
        order=found.order,
        min_s=found.min_s,
        median_s=found.median_s,
        instructions=None if counts is None else counts.stripped,
        warnings=found.warnings,
        notes=notes,
        ended_ns=clock.unix_ns(),
    )
    return MeasuredRun(info, found)


def _measured(executions: Executions, progress: Progress) -> tuple[Timing | None, InstructionCounts | None]:
    order = executions.order
    python = started_python(order.command, {**order.environ, **dict(order.env)})
    for _ in range(order.warmups):
        executions.execute()
    timing = timed(executions, python.version if python else "", progress) if order.mode.times else None
    if not order.mode.counts:
        return timing, None
    counts = counted(executions, python, progress)
    return timing, with_python_functions(counts, executions, python)


def _measurement(order: ProgramOrder, timing: Timing | None, counts: InstructionCounts | None) -> Measurement:
    warnings = () if timing is None else program_warnings(timing)
    warnings += () if counts is None else program_count_warnings(counts)
    return replace(Measurement(order_info(order), timing, counts), warnings=warnings)
