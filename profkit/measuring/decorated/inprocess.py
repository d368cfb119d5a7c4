"""Calls whose arguments cannot travel: the time that the user's own call took."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from resource import RUSAGE_THREAD, getrusage
from uuid import uuid4

from profkit.measuring.travel.parcel import what_of
from profkit.measuring.worker.unpack import plain
from profkit.model.measurement import MeasuredIn, MeasuredRun, Preload, ProcessTimes, Timing, Tool
from profkit.model.region import code_of
from profkit.model.workorder import WorkOrder
from profkit.originals import REAL


@dataclass(frozen=True, slots=True)
class Moment:
    """Where the clocks of a thread stand."""

    wall_s: float
    cpu_s: float
    involuntary: int
    unix_ns: int

    def times(self, end: Moment) -> ProcessTimes:
        """What passed from here to `end`, as one block of one execution."""
        wall_s = end.wall_s - self.wall_s
        return ProcessTimes(
            times_s=(wall_s,),
            zygote=0,
            cpu_share=(end.cpu_s - self.cpu_s) / wall_s if wall_s else 1.0,
            involuntary_switches=end.involuntary - self.involuntary,
        )


def now() -> Moment:
    """Where the clocks of this thread stand."""
    switches = getrusage(RUSAGE_THREAD).ru_nivcsw
    return Moment(REAL.perf_counter_ns() / 1e9, time.thread_time(), switches, REAL.time_ns())


def what_and_where(
    function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[str, str, int]:
    """What a parcel would say of the call: what it is, the file and the line of the function."""
    code = code_of(plain(function))
    return what_of(function, args, kwargs), *((code.co_filename, code.co_firstlineno) if code else ("", 0))


def in_process_run(
    order: WorkOrder, described: tuple[str, str, int], start: Moment, end: Moment, why: str
) -> MeasuredRun:
    """The run of a call that was timed where it happened; `why` it was not measured in isolation."""
    from profkit.measuring.runner.jobs import Task
    from profkit.measuring.runner.outcomes import Circumstances, measured
    from profkit.process.manifest import process_info

    around = Circumstances(
        batch=uuid4().hex[:12],
        started_ns=start.unix_ns,
        duration_s=end.wall_s - start.wall_s,
        process=process_info(),
        notes=(why,),
    )
    place = MeasuredIn(Tool.NONE, Preload.NOTHING, sys.version.split()[0], isolated=False)
    run = measured(Task(order), around, Timing(1, (start.times(end),), place), None).run
    what, file, line = described
    info = replace(run.info, order=replace(run.info.order, what=what, file=file, line=line))
    assert run.measurement is not None
    return MeasuredRun(info, replace(run.measurement, order=info.order))
