"""Instruction counts: dumps of Callgrind that hold exactly one repeat each."""

from __future__ import annotations

import math
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
_SETTLING = 40
"""Executions beyond the warm-up that is asked for, where the statement is quick."""
_WARM_S = 0.5
"""What a step of a warm-up may take: under Valgrind, so that most statements of torch settle."""
_STEPS = ((1, math.inf), (2, 5.0), (3, _WARM_S), (10, _WARM_S))
"""Executions in all, and the seconds that those to come may take, judged by the last, lest they be left out.

The first one may take fifty times as long as the others, as Valgrind translates what it runs.
"""

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

    Without a limit there are 60 executions, with the usual warm-up, before the first repeat: the heap has
    settled, and in the next 27 CPython 3.11 neither tries again to specialise what it could not (it does at
    the 29th, 60th, 123rd, …), nor changes its mind about a comprehension's call (56th, 88th, …).
    """
    if limit is None:
        return Share(repeats, asked, warm + _SETTLING, rehearsed=True)
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
    # Twice, and the first time for nothing: Callgrind counts calls also while it counts no instructions, and
    # forgets those of a function only when it has written them down.
    for _ in range(2):
        baseline.do(partial(_count, baseline, number))
    rehearsed = share.rehearsed and number * execution_s <= _WARM_S
    if rehearsed:
        # So for the statement. And this leaves the heap as every repeat does, so that the first is no other.
        measured.do(partial(_count, measured, min(number, _NUMBERS[0])))
    for _ in range(share.repeats):
        measured.do(partial(_count, measured, number))
    dumps = sorted(_dumps(job["dump_prefix"]), key=_place)
    base = -share.repeats - rehearsed - 1
    return {"number": number, "dumps": dumps[-share.repeats :], "baseline_dumps": [dumps[base]]}


def warm(measured: Measured, share: Share, clock: Clock) -> tuple[int, float]:
    """Execute a statement until it has settled, less often where it is slow; not the block like a repeat.

    Executions in a repeat, and the seconds of one, 0 where none was allowed. Both numbers depend on time in
    few steps only, so that equal processes do the same.
    """
    done, execution_s = 0, 0.0
    for step, longest_s in _STEPS:
        more = min(step, share.warm) - done
        if more <= 0 or more * execution_s > longest_s:
            break
        execution_s = _seconds(measured, more, clock)
        done += more
    number = share.number or number_for(execution_s)
    rest = share.warm - done - (number if share.rehearsed else 0)
    if done == _STEPS[-1][0] and rest > 0 and rest * execution_s <= _WARM_S:
        _run(measured, rest)
    return number, execution_s


def number_for(execution_s: float) -> int:
    """Executions in a repeat of a statement that takes so long under Valgrind."""
    return next((number for number in _NUMBERS if number * execution_s <= _REPEAT_S), _NUMBERS[-1])


def _seconds(measured: Measured, number: int, clock: Clock) -> float:
    """Of one execution."""
    before_s, after_s = measured.run(number, clock)
    return (after_s - before_s) / number


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
