"""Time orders in the caller's own process, for objects that cannot be sent; which options it refuses."""

from __future__ import annotations

import traceback
from dataclasses import replace
from functools import partial

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import InvalidOption, MeasuringError, WorkerFailed
from profkit.measuring.pool.jobs import Reply, ZygoteFacts
from profkit.measuring.results import timing_of
from profkit.measuring.runner.jobs import BLOCK_S, Task, first_fresh
from profkit.measuring.runner.outcomes import HERE, Outcome, failed, order_info, run_info, run_of
from profkit.measuring.warnings import timing_warnings
from profkit.measuring.worker.protocol import UNDECIDED, Fresh, Times
from profkit.measuring.worker.runnable import (
    Awaited,
    Called,
    Namespace,
    Runnable,
    calls,
    run_global_setup,
    statement,
)
from profkit.measuring.worker.state_policy import Cost, StatePolicy, find_policy, given_policy
from profkit.measuring.worker.timing import (
    THIS_THREAD,
    TimingSettings,
    effort,
    no_collector,
    seconds,
    time_cases,
    timed_case,
)
from profkit.model.measurement import Timing
from profkit.model.workorder import Language, WorkOrder


def check_here(order: WorkOrder) -> None:
    """Raise `UsageError` for options that need an isolated process."""
    conflicts = {
        "mode": order.mode.counts and order.mode.value,
        "language": order.language is Language.CPP and order.language.value,
        "source_cmd": order.source_cmd,
        "python": order.python,
        "env": order.env,
        "processes": order.processes,
        "memory_limit_bytes": order.memory_limit_bytes,
        "fresh": order.function is not None and order.fresh,
    }
    for option, value in conflicts.items():
        if value:
            raise InvalidOption(option, value, "it needs a separate process: leave out isolated=False")


def run_here(order: WorkOrder, names: Namespace | None = None) -> Outcome:
    """Time an order in this thread and return its outcome, or that of its exception.

    `names` are those that its statement reads.
    """
    started_ns, started_s = SYSTEM_CLOCK.unix_ns(), SYSTEM_CLOCK.monotonic_s()
    found: Timing | MeasuringError
    try:
        found = _timing(order, names or {})
    except MeasuringError as error:
        found = error
    info = run_info(order_info(Task(order)), started_ns, SYSTEM_CLOCK.monotonic_s() - started_s)
    if isinstance(found, MeasuringError):
        return failed(info, found)
    return Outcome(run_of(info, found, None, timing_warnings(order, found)))


def _timing(order: WorkOrder, names: Namespace) -> Timing:
    with no_collector():
        try:
            times = _times(_measured(order, names), order)
        except Exception as error:
            raise WorkerFailed(order.label, traceback.format_exc()) from error
    reply = Reply({"ok": True, "cases": [times]}, "", ZygoteFacts(0, "", ()))
    return replace(timing_of(order.label, [reply]), measured_in=HERE)


def _times(measured_here: Runnable, order: WorkOrder) -> Times:
    """Time an order; a call that changes its arguments is timed once, as they are not copied here.

    So is one that may be executed only once.
    """
    first_s = list[float]()

    def cost(one: Runnable, number: int) -> float:
        first_s.append(seconds(one, number))
        return first_s[-1]

    policy = _policy(measured_here, first_fresh(order), cost)
    timed = timed_case(measured_here, policy, lambda one: partial(seconds, one))
    left = None if order.runs is None else order.runs - len(first_s)
    timed = replace(timed, number=order.number, left=left)
    if order.function is not None and (policy.fresh["why_not"] or left == 0):
        once = replace(timed, number=1, times_s=first_s[:1], fresh={**policy.fresh, "why_not": ""})
        return once.times()
    (times,) = time_cases([timed], TimingSettings(BLOCK_S, order.min_run_time_s, None, 0), THIS_THREAD)
    return times


def _policy(measured_here: Runnable, fresh: Fresh, cost: Cost) -> StatePolicy:
    if fresh["decided"] and isinstance(measured_here, Called | Awaited):
        fresh = UNDECIDED  # `runs` asks for fresh arguments; one execution finds out whether that matters
    if fresh["decided"] is not None:
        return given_policy(measured_here, fresh)
    policy = find_policy(measured_here, fresh, cost, effort(BLOCK_S))
    if policy.starts_over:
        why_not = "globals are not copied in this process"
        return StatePolicy({**policy.fresh, "decided": False, "why_not": why_not})
    return policy


def _measured(order: WorkOrder, names: Namespace) -> Runnable:
    if order.function is not None:
        return calls(order.function, order.args, order.kwargs)
    namespace: Namespace = {"__name__": "__main__", **names}
    run_global_setup(order.global_setup, namespace)
    return statement(order.stmt or "", order.setup, namespace, order.level.value)
