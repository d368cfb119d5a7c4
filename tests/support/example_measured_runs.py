"""Measured runs as a store keeps them: under any label, id, batch and start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from profkit.model.measurement import (
    MeasuredIn,
    MeasuredRun,
    Preload,
    ProcessTimes,
    ProgramInfo,
    Timing,
    Tool,
    Usage,
)
from profkit.model.workorder import Mode
from tests.support.example_measurements import BUSY, COUNTS, INFO, ORDER, failed, measured, timing

TIMING = timing([[2.1e-06, 2.2e-06], [2.0e-06, 2.3e-06]])


def measured_run(label: str = "sort", **changes: Any) -> MeasuredRun:
    """A statement timed and counted, with a warning; fields of its `MeasuredInfo` changed."""
    return measured(TIMING, COUNTS, (BUSY,), replace(ORDER, label=label), **changes)


def timed_run(label: str = "sort", **changes: Any) -> MeasuredRun:
    """Timed alone, with two threads."""
    order = replace(ORDER, label=label, mode=Mode.TIMER, num_threads=2)
    return measured(TIMING, order=order, **changes)


def counted_run(label: str = "sort", **changes: Any) -> MeasuredRun:
    """Counted alone: a function with a place of its own."""
    order = replace(
        ORDER,
        label=label,
        mode=Mode.CALLGRIND,
        what="train:step(Tensor)",
        file="/home/ada/vision/train.py",
        line=42,
        labels=(),
    )
    return measured(counts=COUNTS, order=order, **changes)


def failed_run(**changes: Any) -> MeasuredRun:
    """A statement that raised."""
    run = failed()
    return replace(run, info=replace(run.info, **changes))


def measured_on(host: str, machine: str, run: MeasuredRun) -> MeasuredRun:
    """The run as if that machine had measured it."""
    process = replace(run.info.process, host=host)
    return replace(run, info=replace(run.info, process=process, machine=machine))


def program_run(**changes: Any) -> MeasuredRun:
    """A whole program, timed in 42 executions."""
    what, command = "-c 'import json, argparse'", ("python", "-c", "import json, argparse")
    order = replace(
        ORDER, label="imports", mode=Mode.TIMER, what=what, setup="", labels=(), program=ProgramInfo(command)
    )
    times_s = [0.0301 + 0.0021 * (number * 29 % 42 / 42) ** 2 for number in range(41)] + [0.0362]
    processes = [
        ProcessTimes((time_s,), number, 0.99, number % 4 == 0, _usage(number))
        for number, time_s in enumerate(times_s)
    ]
    measured_in = MeasuredIn(Tool.NONE, Preload.NOTHING, "3.11.2")
    argv = ("profkit", "run", "--mode", "timer", "--label", "imports", *command[1:])
    process = replace(INFO.process, argv=argv, torch=None)
    return measured(Timing(1, tuple(processes), measured_in), order=order, **{"process": process, **changes})


def _usage(number: int) -> Usage:
    return Usage(0.0243 + number % 5 / 1e4, 0.0064, (13 << 20) + number % 7 * 40_000)
