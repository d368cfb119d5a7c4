"""Orders timed in the caller's own process: for what cannot travel to another."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from uuid import uuid4

from profkit.clock import Clock
from profkit.errors import InvalidOption, MeasuringError, WorkerFailed
from profkit.measuring.runner.jobs import BLOCK_S, Task
from profkit.measuring.runner.outcomes import Circumstances, Outcome, failed, measured
from profkit.measuring.worker.blocks import THIS_THREAD, Timed, Wanted, time_arms
from profkit.measuring.worker.job import no_collector
from profkit.measuring.worker.measured import Measured, calls, run_global_setup, statement
from profkit.model.measurement import MeasuredIn, Preload, ProcessTimes, Timing, Tool
from profkit.model.workorder import Language, WorkOrder
from profkit.process.surroundings import process_info


def check_here(order: WorkOrder) -> None:
    """Raise `UsageError` for what only a process of its own can do."""
    asked = {
        "mode": order.mode.counts and order.mode.value,
        "language": order.language is Language.CPP and order.language.value,
        "source_cmd": order.source_cmd,
        "python": order.python,
        "env": order.env,
        "processes": order.processes,
        "memory_limit_bytes": order.memory_limit_bytes,
    }
    for option, value in asked.items():
        if value:
            raise InvalidOption(option, value, "it needs a process of its own: leave out isolated=False")


def run_here(task: Task, clock: Clock, finished: Callable[[Outcome], None]) -> Outcome:
    """A task's outcome, timed in this thread; what the statement raises is told in the outcome."""
    started_ns, started_s = clock.unix_ns(), clock.monotonic_s()

    def around() -> Circumstances:
        duration_s = clock.monotonic_s() - started_s
        return Circumstances(uuid4().hex[:12], started_ns, duration_s, process_info())

    try:
        outcome = measured(task, around(), _timing(task.order), None)
    except MeasuringError as error:
        outcome = failed(task, around(), error)
    finished(outcome)
    return outcome


def _timing(order: WorkOrder) -> Timing:
    with no_collector():
        try:
            arm = _prepared(order)
            (times,) = time_arms([arm], Wanted(BLOCK_S, order.min_run_time_s, None, 0), THIS_THREAD)
        except Exception as error:
            raise WorkerFailed(order.label, traceback.format_exc()) from error
    process = ProcessTimes(
        times_s=tuple(times["times_s"]),
        zygote=0,
        cpu_share=times["cpu_s"] / times["wall_s"] if times["wall_s"] else 1.0,
        involuntary_switches=times["involuntary"],
    )
    place = MeasuredIn(Tool.NONE, Preload.NOTHING, sys.version.split()[0], isolated=False)
    return Timing(times["number"], (process,), place)


def _prepared(order: WorkOrder) -> Timed:
    measured_here = _measured(order)

    def elapsed_s(number: int) -> float:
        before_s, after_s = measured_here.run(number, time.perf_counter)
        return after_s - before_s

    return Timed(elapsed_s, measured_here.do, order.number, order.runs)


def _measured(order: WorkOrder) -> Measured:
    if order.function is not None:
        return calls(order.function, order.args, order.kwargs)
    namespace: dict[str, object] = {"__name__": "__main__"}
    run_global_setup(order.global_setup, namespace)
    return statement(order.stmt or "", order.setup, namespace, order.level.value)
