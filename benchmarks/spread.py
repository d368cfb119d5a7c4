"""Spread of processes' times: one statement in cold processes, from one zygote, and from several zygotes.

`python -m benchmarks.spread PICTURE.svg` draws the measurements.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure
from benchmarks.spread_picture import picture
from profkit.measuring.orders import work_order
from profkit.measuring.pool.pool import process_pool
from profkit.measuring.runner.context import BatchContext
from profkit.measuring.runner.jobs import Task
from profkit.measuring.runner.placement import kind_of
from profkit.measuring.runner.progress import ProgressLine
from profkit.measuring.runner.run import Side, make_ready, time_sides
from profkit.model.measurement import Preload, Tool

COLD, ONE, SEVERAL = "cold processes", "one zygote", "five zygotes"
_ZYGOTES = {COLD: 10, ONE: 1, SEVERAL: 5}
_ORDER = work_order(
    "[table[word] for word in words]",
    setup="words = [f'word {n}' for n in range(400)]; table = {word: [word] for word in words}",
    min_run_time_s=2.0,
)


def measure(quick: bool) -> list[Figure]:
    """Measure the spread of medians of ten processes, and the apparent spread of their processes."""
    found = measured(3 if quick else 12)
    return [
        figure
        for name, groups in found.items()
        for figure in (
            Figure(f"{name}: range of medians of ten processes", _range([median(g) for g in groups]), "%"),
            Figure(f"{name}: range of the processes of one median", median(map(_range, groups)), "%"),
        )
    ]


def measured(repeats: int) -> Mapping[str, list[list[float]]]:
    """Return [repeat][process] by kind: minimum times in seconds of ten processes; the kinds alternate."""
    found: dict[str, list[list[float]]] = {name: [] for name in _ZYGOTES}
    for _ in range(repeats):
        for name, zygotes in _ZYGOTES.items():
            found[name].append(list(_minima(zygotes)))
    return found


def _minima(zygotes: int) -> Iterator[float]:
    context, task = BatchContext(process_pool(), ProgressLine(None)), Task(_ORDER)
    plain = kind_of(_ORDER, Tool.NONE, Preload.NOTHING)
    kinds = [replace(plain, draw=f"spread-{number}") for number in range(zygotes)]
    make_ready(task, kinds, context)
    try:
        (timing,) = time_sides([Side([task])], kinds, context)
    finally:
        context.pool.retire(kinds)
    return (min(times_s) for times_s in timing.times_s)


def _range(values: Sequence[float]) -> float:
    return (max(values) / min(values) - 1) * 100


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(measured(12)), "utf-8")
