"""Instruction counts: dumps of Callgrind that hold exactly one repeat each."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

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
    share = share_of(asked, job["repeats"], job["warm"], job["runs"])
    execution_s = measured.do(partial(warm, measured, share.warm, clock))
    number = share.number or number_for(execution_s)
    baseline.do(partial(warm, baseline, job["warm"], clock))
    before = set(_dumps(job["dump_prefix"]))
    baseline.do(partial(_count, baseline, number))
    if job["runs"] is None and number * execution_s <= _WARM_S:
        # It leaves the heap as every repeat does; without it the first would differ from the others.
        measured.do(partial(_run, measured, number))
    for _ in range(share.repeats):
        measured.do(partial(_count, measured, number))
    first, *others = sorted(set(_dumps(job["dump_prefix"])) - before, key=_place)
    return {"number": number, "dumps": others, "baseline_dumps": [first]}


@dataclass(frozen=True, slots=True)
class Share:
    """How the executions that are allowed are spent."""

    repeats: int
    number: int | None
    """Executions in each repeat; None: as the warm-up shows."""
    warm: int
    """Most executions of the warm-up."""


def share_of(asked: int | None, repeats: int, warm: int, limit: int | None) -> Share:
    """What is asked for, within the limit where there is one: repeats first, warm-ups last."""
    if limit is None:
        return Share(repeats, asked, warm)
    repeats = min(repeats, limit)
    number = min(asked or _LEAST, limit // repeats)
    return Share(repeats, number, min(warm, limit - repeats * number))


def warm(measured: Measured, most: int, clock: Clock) -> float:
    """Execute a statement as it will be counted, `most` times unless it is slow.

    Seconds of one execution, 0 where none was allowed. How many there are depends on time in few steps
    only, so that equal processes are warmed equally.
    """
    took_s: list[float] = []
    while len(took_s) < min(most, _TRIED) and max(took_s, default=0.0) <= _WARM_S:
        before_s, after_s = measured.run(1, clock)
        took_s.append(after_s - before_s)
    execution_s = min(took_s, default=0.0)
    others = most - len(took_s)
    if execution_s * most > _WARM_S:
        others = min(others, 5) if execution_s * 8 <= _WARM_S else 0
    if others > 0:
        _run(measured, others)
    return execution_s


def number_for(execution_s: float) -> int:
    """Executions in a repeat of a statement that takes so long under Valgrind."""
    return max(_LEAST, min(_MOST, int(_REPEAT_S / max(execution_s, 1e-9))))


def _count(measured: Measured, number: int) -> None:
    """Nothing was collected since the last dump, so that nothing needs to be forgotten.

    Callgrind's own way to forget leaves a few instructions, and those of other threads.
    """
    measured.run(number, requests.toggle())
    requests.dump()


def _run(measured: Measured, number: int) -> None:
    """The same but for the counting."""
    measured.run(number, requests.no_toggle())


def _dumps(prefix: str) -> list[str]:
    """This process's, which Callgrind names PREFIX.PID.N."""
    folder, name = os.path.split(f"{prefix}.{os.getpid()}.")
    return [os.path.join(folder, file) for file in os.listdir(folder or ".") if file.startswith(name)]


def _place(path: str) -> int:
    return int(path.rpartition(".")[2])
