"""Measured runs as a store keeps them: under any label, id, batch and start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from profkit.model.measurement import MeasuredRun
from profkit.model.workorder import Mode
from tests.support.example_measurements import BUSY, COUNTS, ORDER, failed, measured, timing

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
