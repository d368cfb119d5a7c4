"""Time a program: executions until the median is known well enough."""

from __future__ import annotations

from profkit.measuring.programs.executions import Executions
from profkit.measuring.runner.progress import TIMING, Progress
from profkit.model.measurement import MeasuredIn, Preload, ProcessTimes, Timing, Tool, Usage
from profkit.process.metered import MeteredRun


def timed(executions: Executions, python: str, progress: Progress) -> Timing:
    """Time a program of a version of Python; raises MeasuringError and CommandNotStarted."""
    rule, label = executions.order.stopping, executions.order.label
    runs: list[MeteredRun] = []
    planned = rule.planned([], 0)
    progress.begin(planned, TIMING)
    while len(runs) < planned:
        runs.append(executions.execute())
        before, planned = planned, rule.planned([run.wall_s for run in runs], planned)
        progress.begin(planned - before, TIMING)
        progress.done(label, TIMING)
    return Timing(
        number=1,
        processes=tuple(_times(run, place) for place, run in enumerate(runs)),
        measured_in=MeasuredIn(Tool.NONE, Preload.NOTHING, python),
    )


def _times(run: MeteredRun, place: int) -> ProcessTimes:
    """Return the times of an execution; each has its own memory layout and hash seed."""
    return ProcessTimes(
        times_s=(run.wall_s,),
        zygote=place,
        cpu_share=(run.user_s + run.system_s) / run.wall_s,
        involuntary_switches=run.involuntary,
        usage=Usage(run.user_s, run.system_s, run.peak_bytes),
    )
