"""Time a job's cases: choose the state policy of each and run its blocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from .blocks import THIS_THREAD, WARMS, WHOLE_PROCESS, Elapsed, Timed, TimingSettings, time_cases
from .cases import timed_by
from .protocol import SHARED, Case, JobMessage, StartOver, Times
from .runnable import Runnable
from .state_policy import Effort, StatePolicy, comparable, find_policy, given_policy

_BLOCK_PART = 10
"""Factor by which blocks that detect changes may be shorter than others."""
_LONG_S = 0.05
_WARMING_S = 0.1
"""Maximum time to prepare the states of warm-up executions."""


def times_of(measured: Sequence[Runnable], job: JobMessage) -> Sequence[Times | StartOver]:
    """Time a job's cases; if only another process can, return what that process must know.

    If a statement fails because it changed its state, each execution gets its own state.
    """
    policies = [_policy(one, case, job) for one, case in zip(measured, job["cases"], strict=True)]
    if any(policy.starts_over for policy in policies):
        return [{"fresh": policy.fresh} for policy in policies]
    policies = comparable(measured, policies)
    try:
        return _times(measured, policies, job)
    except Exception:
        with_fresh_state = [policy.with_fresh_state() for policy in policies]
        if with_fresh_state == policies:
            raise
        return _times(measured, with_fresh_state, job)


def effort(block_s: float) -> Effort:
    """Return the limits of a decision on the state policy, for blocks of `block_s`."""
    return Effort(block_s / _BLOCK_PART, _LONG_S, warms=True)


def seconds(measured: Runnable, number: int) -> float:
    """Return the time of a block of `number` executions."""
    before_s, after_s = measured.run(number, time.perf_counter)
    return after_s - before_s


def _policy(measured: Runnable, case: Case, job: JobMessage) -> StatePolicy:
    fresh, found = case.get("fresh", SHARED), list[StatePolicy]()

    def find() -> None:
        undecided = fresh["decided"] is None
        found.append(
            find_policy(measured, fresh, seconds, effort(job["block_s"]))
            if undecided
            else given_policy(measured, fresh)
        )

    measured.do(find)
    return found[0]


def _times(measured: Sequence[Runnable], policies: Sequence[StatePolicy], job: JobMessage) -> list[Times]:
    cases = []
    for one, policy, case, number in zip(measured, policies, job["cases"], job["number"], strict=True):
        elapsed = partial(timed_by, case=case, num_threads=job["num_threads"])
        timed = timed_case(one, policy, elapsed, job.get("memory_limit_bytes"))
        cases.append(replace(timed, number=number, left=job["runs"]))
    return time_cases(
        cases, TimingSettings.by(job), THIS_THREAD if job["num_threads"] == 1 else WHOLE_PROCESS
    )


def timed_case(
    measured: Runnable,
    policy: StatePolicy,
    elapsed: Callable[[Runnable], Elapsed],
    memory_bytes: int | None = None,
) -> Timed:
    """Return a case under a state policy; `elapsed` returns the function that times its blocks."""
    other = policy.prepared
    if other is None:
        return Timed(elapsed(measured), measured.do, fresh=policy.fresh)
    other.states.limit(memory_bytes)
    return Timed(
        elapsed(other.full),
        measured.do,
        fresh=policy.fresh,
        loop=elapsed(other.empty),
        most=other.states.most,
        warms=max(1, min(WARMS, int(_WARMING_S / other.states.each_s))),
        preparing_s=other.states.each_s,
    )
