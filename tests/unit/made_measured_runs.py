"""Measured runs made by hand, the same in every test: a statement timed and counted, and one that failed."""

from __future__ import annotations

from dataclasses import replace

from profkit.model.counts import CallCount, FunctionCount
from profkit.model.measurement import (
    Doubt,
    Flag,
    InstructionCounts,
    MeasuredIn,
    MeasuredInfo,
    MeasuredRun,
    Measurement,
    OrderInfo,
    Preload,
    ProcessTimes,
    Timing,
    Tool,
)
from profkit.model.workorder import Language, Level, Mode
from tests.unit.made_runs import PROCESS, STARTED_NS

ORDER = OrderInfo(
    label="sort",
    what="sorted(numbers)",
    setup="numbers = list(range(999, 0, -1))",
    global_setup="",
    mode=Mode.BOTH,
    language=Language.PYTHON,
    level=Level.FUNCTION,
    num_threads=1,
    quick=False,
    labels=(("size", "999"),),
    env=(("PYTHONHASHSEED", "0"),),
)
DOUBT = Doubt(Flag.CPU_SHARE, "2 of 10 processes had less than 95 % of a core.")
TIMING = Timing(
    number=1000,
    processes=(
        ProcessTimes((2.1e-06, 2.2e-06), 1, 1.0, 0),
        ProcessTimes((2.0e-06, 2.3e-06), 2, 0.93, 4),
    ),
    measured_in=MeasuredIn(Tool.NONE, Preload.NOTHING, "3.11.2"),
)
COUNTS = InstructionCounts(
    number=100,
    raw=(4_130_012, 4_130_012),
    baseline=35.0,
    net=41_265.12,
    stripped=41_203.5,
    measured_in=MeasuredIn(Tool.VALGRIND, Preload.NUMPY, "3.11.2", (("numpy", "2.1.0"),)),
    functions=(FunctionCount("listobject.c:list_sort", 30_000.0, 41_000.0, 1.0, "libpython3.11.so"),),
    calls=(CallCount("ceval.c:_PyEval", "listobject.c:list_sort", 1.0, 41_000.0),),
    events=(("Ir", 41_265.12), ("cycles", 60_000.0)),
)
INFO = MeasuredInfo(
    id="7d10c4be52",
    batch="20251121T114950-4242-77aa",
    started_ns=STARTED_NS + 47 * 10**9,
    duration_s=3.25,
    process=PROCESS,
    order=ORDER,
    min_s=2.0e-06,
    median_s=2.15e-06,
    instructions=41_203.5,
    doubts=(DOUBT,),
    notes=("Measured beside another program.",),
)
ERROR = "'sort' raised NameError: name 'numbers' is not defined; run it by itself to mend it"


def measured_run(label: str = "sort", **changes: object) -> MeasuredRun:
    """The run under a label, with fields of its `MeasuredInfo` changed."""
    info = replace(INFO, order=replace(ORDER, label=label), **changes)  # type: ignore[arg-type]
    return MeasuredRun(info, Measurement(info.order, TIMING, COUNTS, (DOUBT,)))


def failed_run(**changes: object) -> MeasuredRun:
    """The run as it is where its statement raised."""
    failed = replace(INFO, min_s=None, median_s=None, instructions=None, doubts=(), error=ERROR)
    return MeasuredRun(replace(failed, **changes))  # type: ignore[arg-type]


def timed_run(**changes: object) -> MeasuredRun:
    """The run with times alone."""
    order = replace(ORDER, mode=Mode.TIMER)
    info = replace(INFO, order=order, instructions=None, doubts=(), **changes)  # type: ignore[arg-type]
    return MeasuredRun(info, Measurement(order, TIMING))


def counted_run(**changes: object) -> MeasuredRun:
    """The run with instruction counts alone."""
    order = replace(ORDER, mode=Mode.CALLGRIND)
    info = replace(INFO, order=order, min_s=None, median_s=None, doubts=(), **changes)  # type: ignore[arg-type]
    return MeasuredRun(info, Measurement(order, None, COUNTS))
