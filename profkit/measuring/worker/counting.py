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

_NUMBERS = (10, 5, 2)
"""Executions in a repeat where nobody asks for a number; more would not make a count more exact."""
_REPEAT_S = 0.005
"""What a repeat may take."""
_WARM_S = 0.04
"""What the warm-up of a statement may take."""
_TRIED, _FEW = 3, 10
"""Executions that tell how slow a statement is, and those that are enough for a slow one."""

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Share:
    """How executions are spent."""

    repeats: int
    number: int | None
    """Executions in each repeat; None: as the first ones show."""
    warm: int
    """Most executions before the first repeat."""
    rehearsed: bool
    """Whether the last of them are a block like a repeat."""


def share_of(asked: int | None, repeats: int, warm: int, limit: int | None) -> Share:
    """What is asked for, within the limit where there is one: repeats first, warm-ups last.

    Without a limit, the warm-up has so many executions that the usual repeats fall between the 30th and the
    54th. In those CPython 3.11 neither tries again to specialise what it could not (it
    does at the 28th, 59th, 122nd, …), nor changes its mind about a comprehension's call (55th, 88th, …).
    """
    if limit is None:
        return Share(repeats, asked, warm + _NUMBERS[0], rehearsed=True)
    repeats = min(repeats, limit)
    number = min(asked or _NUMBERS[-1], limit // repeats)
    return Share(repeats, number, min(warm, limit - repeats * number), rehearsed=False)


def count_arm(
    measured: Measured, baseline: Measured, asked: int | None, job: Job, clock: Clock = time.perf_counter
) -> Counts:
    """Count the repeats of a statement, and one of the same loop around nothing."""
    share = share_of(asked, job["repeats"], job["warm"], job["runs"])
    number, execution_s = measured.do(partial(warm, measured, share, clock))
    baseline.do(partial(_run, baseline, job["warm"]))
    before = set(_dumps(job["dump_prefix"]))
    baseline.do(partial(_count, baseline, number))
    if share.rehearsed and number * execution_s <= _WARM_S:
        # It leaves the heap as every repeat does; without it the first would differ from the others.
        measured.do(partial(_run, measured, number))
    for _ in range(share.repeats):
        measured.do(partial(_count, measured, number))
    first, *others = sorted(set(_dumps(job["dump_prefix"])) - before, key=_place)
    return {"number": number, "dumps": others, "baseline_dumps": [first]}


def warm(measured: Measured, share: Share, clock: Clock) -> tuple[int, float]:
    """Execute a statement until it has settled, less often where it is slow; not the block like a repeat.

    Executions in a repeat, and the seconds of one, 0 where none was allowed. Both numbers depend on time in
    few steps only, so that equal processes do the same.
    """
    took_s: list[float] = []
    while len(took_s) < min(share.warm, _TRIED) and max(took_s, default=0.0) <= _WARM_S:
        before_s, after_s = measured.run(1, clock)
        took_s.append(after_s - before_s)
    execution_s = min(took_s, default=0.0)
    number = share.number or number_for(execution_s)
    most = share.warm - number if share.rehearsed else share.warm
    affordable = next((total for total in (most, min(most, _FEW)) if total * execution_s <= _WARM_S), 0)
    if affordable > len(took_s):
        _run(measured, affordable - len(took_s))
    return number, execution_s


def number_for(execution_s: float) -> int:
    """Executions in a repeat of a statement that takes so long under Valgrind."""
    return next((number for number in _NUMBERS if number * execution_s <= _REPEAT_S), _NUMBERS[-1])


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
