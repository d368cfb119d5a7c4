"""From measured things to their times: how each is to be executed, and its blocks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from .arms import timed_by
from .asked import SHARED, Arm, Job, StartOver, Times
from .blocks import THIS_THREAD, WARMS, WHOLE_PROCESS, Timed, Wanted, time_arms
from .designing import Design, Effort, find_design, told_design
from .measured import Measured

_BLOCK_PART = 10
"""Blocks that show what an execution changes may be so much shorter than others."""
_LONG_S = 0.05
_WARMING_S = 0.1
"""Longest time to prepare the states of executions that warm a statement up."""


def times_of(measured: Sequence[Measured], job: Job) -> Sequence[Times | StartOver]:
    """Time a job's arms; or return what another process has to know before it can.

    A statement that fails as it has changed its state gets a state of its own for each execution.
    """
    designs = [_design(one, arm, job) for one, arm in zip(measured, job["arms"], strict=True)]
    if any(design.starts_over for design in designs):
        return [{"fresh": design.fresh} for design in designs]
    try:
        return _times(measured, designs, job)
    except Exception:
        lasting = [design.lasting() for design in designs]
        if lasting == designs:
            raise
        return _times(measured, lasting, job)


def _design(measured: Measured, arm: Arm, job: Job) -> Design:
    fresh, found = arm.get("fresh", SHARED), list[Design]()

    def find() -> None:
        if fresh["decided"] is None:
            found.append(
                find_design(measured, fresh, _seconds, Effort(job["block_s"] / _BLOCK_PART, _LONG_S))
            )
        else:
            found.append(told_design(measured, fresh))

    measured.do(find)
    return found[0]


def _seconds(measured: Measured, number: int) -> float:
    before_s, after_s = measured.run(number, time.perf_counter)
    return after_s - before_s


def _times(measured: Sequence[Measured], designs: Sequence[Design], job: Job) -> list[Times]:
    each = zip(measured, designs, job["arms"], job["number"], strict=True)
    arms = [_timed(one, design, arm, number, job) for one, design, arm, number in each]
    return time_arms(arms, Wanted.by(job), THIS_THREAD if job["num_threads"] == 1 else WHOLE_PROCESS)


def _timed(measured: Measured, design: Design, arm: Arm, number: int | None, job: Job) -> Timed:
    threads, other = job["num_threads"], design.afresh
    elapsed = timed_by(measured if other is None else other.full, arm, threads)
    timed = Timed(elapsed, measured.do, number, job["runs"], fresh=design.fresh)
    if other is None:
        return timed
    other.states.limit()
    return replace(
        timed,
        loop=timed_by(other.empty, arm, threads),
        most=other.states.most,
        warms=max(1, min(WARMS, int(_WARMING_S / other.states.each_s))),
        preparing_s=other.states.each_s,
    )
