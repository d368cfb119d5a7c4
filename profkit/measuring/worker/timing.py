"""Time a job's arms: choose the design of each and run its blocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from .blocks import THIS_THREAD, WARMS, WHOLE_PROCESS, Elapsed, Timed, Wanted, time_arms
from .cases import timed_by
from .design import Design, Effort, alike, find_design, told_design
from .protocol import SHARED, Arm, Job, StartOver, Times
from .runnable import Measured

_BLOCK_PART = 10
"""Factor by which blocks that detect changes may be shorter than others."""
_LONG_S = 0.05
_WARMING_S = 0.1
"""Maximum time to prepare the states of warm-up executions."""


def times_of(measured: Sequence[Measured], job: Job) -> Sequence[Times | StartOver]:
    """Time a job's arms; if only another process can, return what that process must know.

    If a statement fails because it changed its state, each execution gets its own state.
    """
    designs = [_design(one, arm, job) for one, arm in zip(measured, job["arms"], strict=True)]
    if any(design.starts_over for design in designs):
        return [{"fresh": design.fresh} for design in designs]
    designs = alike(measured, designs)
    try:
        return _times(measured, designs, job)
    except Exception:
        lasting = [design.lasting() for design in designs]
        if lasting == designs:
            raise
        return _times(measured, lasting, job)


def effort(block_s: float) -> Effort:
    """Return the limits of a decision on the design, for blocks of `block_s`."""
    return Effort(block_s / _BLOCK_PART, _LONG_S, warms=True)


def seconds(measured: Measured, number: int) -> float:
    """Return the time of a block of `number` executions."""
    before_s, after_s = measured.run(number, time.perf_counter)
    return after_s - before_s


def _design(measured: Measured, arm: Arm, job: Job) -> Design:
    fresh, found = arm.get("fresh", SHARED), list[Design]()

    def find() -> None:
        undecided = fresh["decided"] is None
        found.append(
            find_design(measured, fresh, seconds, effort(job["block_s"]))
            if undecided
            else told_design(measured, fresh)
        )

    measured.do(find)
    return found[0]


def _times(measured: Sequence[Measured], designs: Sequence[Design], job: Job) -> list[Times]:
    arms = []
    for one, design, arm, number in zip(measured, designs, job["arms"], job["number"], strict=True):
        elapsed = partial(timed_by, arm=arm, num_threads=job["num_threads"])
        timed = timed_arm(one, design, elapsed, job.get("memory_limit_bytes"))
        arms.append(replace(timed, number=number, left=job["runs"]))
    return time_arms(arms, Wanted.by(job), THIS_THREAD if job["num_threads"] == 1 else WHOLE_PROCESS)


def timed_arm(
    measured: Measured,
    design: Design,
    elapsed: Callable[[Measured], Elapsed],
    memory_bytes: int | None = None,
) -> Timed:
    """Return an arm for a design; `elapsed` returns the function that times its blocks."""
    other = design.afresh
    if other is None:
        return Timed(elapsed(measured), measured.do, fresh=design.fresh)
    other.states.limit(memory_bytes)
    return Timed(
        elapsed(other.full),
        measured.do,
        fresh=design.fresh,
        loop=elapsed(other.empty),
        most=other.states.most,
        warms=max(1, min(WARMS, int(_WARMING_S / other.states.each_s))),
        preparing_s=other.states.each_s,
    )
