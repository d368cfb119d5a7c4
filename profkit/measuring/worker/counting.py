"""Instruction counts: dumps of Callgrind that hold exactly one repeat each."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from . import requests
from .asked import Counts, Job
from .measured import Measured

_LEAST, _MOST = 2, 100
"""Executions in a repeat where nobody asks for a number."""
_REPEAT_S = 0.005
"""What a repeat may take; its count needs no more executions to be exact."""
_WARM_S = 0.04
_TRIED = 3
"""Executions that tell how slow a statement is."""

Clock = Callable[[], float]


def count_arm(
    measured: Measured, baseline: Measured, asked: int | None, job: Job, clock: Clock = time.perf_counter
) -> Counts:
    """Count the repeats of a statement, and one of the same loop around nothing."""
    repeats, left = job["repeats"], job.get("runs")
    if left is not None:
        repeats = min(repeats, left)
        asked = min(asked or _MOST, left // repeats) if asked or left < _LEAST * repeats else asked
    allowed = job["warm"] if left is None else min(job["warm"], left - repeats * (asked or _LEAST))
    execution_s = warm(measured, allowed, clock)
    number = asked or number_for(execution_s)
    if left is not None:
        number = max(1, min(number, (left - allowed) // repeats))
    warm(baseline, job["warm"], clock)
    before = set(_dumps(job["dump_prefix"]))
    _count(baseline, number)
    if left is None and number * execution_s <= _WARM_S:
        measured.run(number, requests.toggle())
    for _ in range(repeats):
        _count(measured, number)
    first, *others = sorted(set(_dumps(job["dump_prefix"])) - before, key=_place)
    return {"number": number, "dumps": others, "baseline_dumps": [first]}


def warm(measured: Measured, most: int, clock: Clock) -> float:
    """Run a statement on the very way on which it is counted, `most` times unless it is slow.

    Seconds of one execution, 0 where none was allowed. How often depends on time in few steps only, so that
    equal processes are warmed equally.
    """
    probe = requests.toggle()
    took_s = []
    for _ in range(min(most, _TRIED)):
        started_s = clock()
        measured.run(1, probe)
        took_s.append(clock() - started_s)
        if took_s[-1] > _WARM_S:
            break
    execution_s = min(took_s, default=0.0)
    others = most - len(took_s)
    if others > 0 and execution_s * most > _WARM_S:
        others = min(others, 5) if execution_s * 8 <= _WARM_S else 0
    if others > 0:
        measured.run(others, probe)
    return execution_s


def number_for(execution_s: float) -> int:
    """Executions in a repeat of a statement that takes so long under Valgrind."""
    return max(_LEAST, min(_MOST, int(_REPEAT_S / max(execution_s, 1e-9))))


def _count(measured: Measured, number: int) -> None:
    requests.zero()
    measured.run(number, requests.toggle())
    requests.dump()


def _dumps(prefix: str) -> list[str]:
    """This process's, which Callgrind names PREFIX.PID.N."""
    folder, name = os.path.split(f"{prefix}.{os.getpid()}.")
    return [os.path.join(folder, file) for file in os.listdir(folder or ".") if file.startswith(name)]


def _place(path: str) -> int:
    return int(path.rpartition(".")[2])
