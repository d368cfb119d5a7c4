"""Measured runs made by hand, the same in every test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from profkit.model.function_counts import STATEMENT, FunctionCount, PythonCounts, PythonFunctionCount
from profkit.model.measurement import (
    InstructionCounts,
    MeasuredIn,
    MeasuredInfo,
    MeasuredRun,
    Measurement,
    MeasurementWarning,
    OrderInfo,
    Preload,
    ProcessTimes,
    Timing,
    Tool,
    WarningCode,
)
from profkit.model.workorder import Language, Level, Mode
from tests.support.example_runs import HOSTILE, HOSTILE_NOTES, PROCESS, STARTED_NS

TORCH = (("torch", "2.13.0+cpu"),)
PLAIN_ZYGOTE = MeasuredIn(Tool.NONE, Preload.TORCH, "3.11.2", TORCH)
VALGRIND_ZYGOTE = MeasuredIn(Tool.VALGRIND, Preload.TORCH, "3.11.2", TORCH)
ORDER = OrderInfo(
    label="x + y",
    what="x + y",
    setup="import torch\nx = torch.ones(64)\ny = torch.ones(64)",
    global_setup="",
    mode=Mode.BOTH,
    language=Language.PYTHON,
    level=Level.FUNCTION,
    num_threads=1,
    quick=False,
    labels=(("autograd", "forward"),),
)
INFO = MeasuredInfo(
    id="5c1d0a77e2",
    batch="b7c0ffee01",
    started_ns=STARTED_NS,
    duration_s=2.31,
    process=PROCESS,
    order=ORDER,
)
LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"
LIBTORCH = "/opt/venv/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so"
PYTHON = "/usr/bin/python3.11"
FUNCTIONS = (
    FunctionCount(f"???:at::TensorIteratorBase::build(at::TensorIteratorConfig&) [{LIBTORCH}]",
                  1210.0, 2890.5, 1.0, LIBTORCH),
    FunctionCount(f"/build/python3.11/Python/ceval.c:_PyEval_EvalFrameDefault [{PYTHON}]",
                  640.5, 5601.0, 1.0, PYTHON),
    FunctionCount(f"./malloc/./malloc/malloc.c:malloc [{LIBC}]", 602.0, 702.5, 6.0, LIBC),
    FunctionCount(f"???:c10::TensorImpl::operator[](long) [{LIBTORCH}]", 410.0, 410.0, 4.0, LIBTORCH),
    FunctionCount("./Objects/longobject.c:PyLong_FromLong", 31.0, 31.0, 2.0, PYTHON),
    FunctionCount(f"???:0x0000000000012af0 [{LIBTORCH}]", 0.25, 9.0, 0.0, LIBTORCH),
)  # fmt: skip
COUNTS = InstructionCounts(
    number=100,
    raw=(560_934, 560_934),
    baseline=8.5,
    net=5600.8,
    stripped=4998.75,
    measured_in=VALGRIND_ZYGOTE,
    functions=FUNCTIONS,
)

PYTHON_COUNTS = PythonCounts(
    functions=(
        PythonFunctionCount("Model.fit", "/home/u/app.py", 12, 4000.0, 5600.0, 1.0),
        PythonFunctionCount("loss", "/home/u/app.py", 30, 1500.0, 1600.0, 20.0),
        PythonFunctionCount(STATEMENT, "", 0, 200.8, 5700.8, 0.0),
    ),
    net=5700.8,
)


def timing(
    processes: Sequence[Sequence[float]], number: int = 1000, cpu_share: float = 0.99, **changes: object
) -> Timing:
    """Times [process][block]; two processes share a zygote."""
    made = tuple(
        ProcessTimes(tuple(times_s), zygote=place // 2, cpu_share=cpu_share, involuntary_switches=place % 3)
        for place, times_s in enumerate(processes)
    )
    return replace(Timing(number, made, PLAIN_ZYGOTE), **changes)  # type: ignore[arg-type]


def blocks(base_s: float, processes: int = 10, each: int = 20, spread: float = 0.004) -> list[list[float]]:
    """Made-up times: processes differ a little, blocks have a tail, one was disturbed."""
    times = [
        [base_s * (1 + spread * ((process * 7) % 5 + (block * block % 11) * 1.5)) for block in range(each)]
        for process in range(processes)
    ]
    times[-1][-1] = base_s * 1.9
    return times


def measured(
    timing: Timing | None = None,
    counts: InstructionCounts | None = None,
    warnings: tuple[MeasurementWarning, ...] = (),
    order: OrderInfo = ORDER,
    **changes: object,
) -> MeasuredRun:
    """A run that measured this, with fields of its `MeasuredInfo` changed."""
    mode = Mode.BOTH if timing and counts else Mode.CALLGRIND if counts else Mode.TIMER
    order = replace(order, mode=mode)
    minima = [min(times_s) for times_s in timing.times_s if times_s] if timing else []
    info = replace(
        INFO,
        order=order,
        warnings=warnings,
        min_s=min(minima, default=None),
        median_s=median(minima) if minima else None,
        instructions=counts.stripped if counts else None,
    )
    return MeasuredRun(replace(info, **changes), Measurement(order, timing, counts, warnings))  # type: ignore[arg-type]


def both() -> MeasuredRun:
    """Times and counts, nothing wrong with either."""
    return measured(timing(blocks(1.231e-6)), COUNTS)


def failed(label: str = "broken") -> MeasuredRun:
    """What the statement raised, with the worker's traceback and output, as errors write it."""
    error = (
        f"'{label}' raised ZeroDivisionError: division by zero; run it on its own to debug it\n"
        "    Traceback (most recent call last):\n"
        '      File "<stmt>", line 1, in <module>\n'
        "    ZeroDivisionError: division by zero\n"
        "    printed before\tit failed"
    )
    order = replace(ORDER, label=label, what="1 / 0", labels=(), setup="", mode=Mode.TIMER)
    return MeasuredRun(replace(INFO, id="deadbeef00", order=order, error=error))


QUICK = MeasurementWarning.of(WarningCode.QUICK, processes=2)
BUSY = MeasurementWarning.of(
    WarningCode.CPU_SHARE, processes=10, affected=1, share=0.81, needed=0.95, busiest=1.0, switches=7
)
FEW = MeasurementWarning.of(WarningCode.FEW_PROCESSES, processes=4, needed=6)
DIFFER = MeasurementWarning.of(WarningCode.COUNTS_DIFFER, low=7, high=9, counted=2)


def batch() -> tuple[MeasuredRun, ...]:
    """Twenty orders as a benchmark of small operations has them, from 40 ns to 60 ms; one failed."""
    names = ("x + y", "x @ y", "x.sum()", "x.t()", "linear(x)", "list(range(9))", "sorted(l)", "s.split()")
    runs = [_of_batch(place, names[place % 8]) for place in range(19)]
    return (*runs[:12], failed("x.view(-1, 7)"), *runs[12:])


def _of_batch(place: int, name: str) -> MeasuredRun:
    base_s = 40e-9 * 2.1**place
    mode = ("forward", "backward", "compiled")[place // 8]
    order = replace(
        ORDER,
        label=name,
        what=name,
        num_threads=1 + place % 2,
        language=Language.CPP if place % 7 == 6 else Language.PYTHON,
        labels=(("autograd", mode),),
    )
    counts = None if place % 2 else replace(COUNTS, net=base_s * 4e9, stripped=base_s * 3.7e9)
    warnings = {3: (QUICK,), 5: (BUSY, FEW), 9: (BUSY,)}.get(place, ())
    number = max(1, round(0.002 / base_s))
    times = timing(blocks(base_s, 4 if place == 5 else 10), number, 0.81 if place in (5, 9) else 0.99)
    return measured(times, counts, warnings, order, id=f"{place:010x}")


def extremes() -> tuple[MeasuredRun, ...]:
    """What is rare: one process, one block, zeros, no blocks, huge and tiny durations, counts that differ."""
    zero = replace(
        COUNTS, raw=(0, 0), baseline=0.0, net=0.0, stripped=0.0, functions=(FunctionCount("???:f", 0, 0),)
    )
    below = replace(COUNTS, raw=(7, 9, 8), baseline=9.5, net=-2.5, stripped=-2.5, functions=())
    cached = replace(COUNTS, events=(("Ir", 5600.8), ("Dr", 1400.0), ("D1mr", 0.25), ("cycles", 61234.5)))
    ours = replace(PLAIN_ZYGOTE, isolated=False, preload=Preload.NOTHING, packages=())
    return (
        measured(timing([[1e-9 * (1 + block / 50) for block in range(20)]]), id="01"),
        measured(timing([[0.3e-9]], 10**9), id="02"),
        measured(timing([[86_400.0]], 1), id="03"),
        measured(timing([[0.0, 0.0]] * 6), id="04"),
        measured(timing([[]]), id="05"),
        measured(timing([]), zero, id="06"),
        measured(
            None,
            below,
            (replace(DIFFER, figures=(("low", 7), ("high", 9), ("counted", 3))),),
            id="07",
        ),
        measured(None, cached, id="08"),
        measured(timing(blocks(3e-3, 6, 1), measured_in=ours), warnings=(QUICK,), id="09"),
        measured(timing(blocks(1e5, 7, 3)), replace(cached, net=2.5e15, stripped=2.4e15), id="10"),
        measured(id="11"),
        replace(measured(id="12", error="timed out"), measurement=None),
        failed(),
    )


def hostile() -> MeasuredRun:
    """A run every text of which tries to do something to the terminal."""
    text = " ".join(HOSTILE)
    order = OrderInfo(
        text, "\n".join(HOSTILE), text, text, Mode.BOTH, Language.CPP, Level.MODULE, 2, True,
        labels=((text, text),), source_cmd=HOSTILE, env=((text, text),), file=f"/tmp/{text}.py", line=3,
    )  # fmt: skip
    functions = tuple(FunctionCount(f"{name}.c:{name}", 5.0, 9.0, 1.0, name) for name in HOSTILE)
    place = replace(PLAIN_ZYGOTE, python=text, packages=((text, text),))
    counts = replace(COUNTS, functions=functions, events=((text, 1.0),), measured_in=place)
    process = replace(PROCESS, host=text, cwd=text, argv=HOSTILE, python=text, torch=text, git_commit=text)
    return measured(
        timing(blocks(1e-3), measured_in=place), counts,
        tuple(MeasurementWarning.of(WarningCode.SWITCHES, per_s=1, switches=name) for name in HOSTILE),
        order, process=process, notes=HOSTILE_NOTES, error="\n".join(HOSTILE), batch=text,
    )  # fmt: skip
