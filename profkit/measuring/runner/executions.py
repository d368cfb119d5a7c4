"""How many processes time an order, and how often all that is measured of it will execute it."""

from __future__ import annotations

import math

from profkit.model.workorder import Mode, WorkOrder

SERIOUS_PROCESSES, QUICK_PROCESSES = 10, 3
_BLOCK_S, _BLOCKS, _LEAST_BLOCKS = 0.002, 20, 3
_LONGEST_S = 0.5
_SETTLED, _WARM_S = 20, 0.04
_COUNTED, _COUNTED_IF_LONG = 110, 8
"""Executions under Callgrind: warm-up, rehearsal and two repeats."""
_LONG_S = 0.001
"""A call of some 2.5 million instructions, from which on it is counted less often."""


def processes_of(order: WorkOrder) -> int:
    """Return how many processes time an order: no more than its limit of executions allows."""
    wanted = order.processes or (QUICK_PROCESSES if order.quick else SERIOUS_PROCESSES)
    limit = timed_runs(order)
    return wanted if limit is None else max(1, min(wanted, limit))


def timed_runs(order: WorkOrder) -> int | None:
    """Return how many of an order's executions are for timing: half of them, if it is counted as well."""
    if order.runs is None or order.mode is not Mode.BOTH:
        return order.runs
    return order.runs - max(1, order.runs // 2) or 1


def counted_runs(order: WorkOrder) -> int | None:
    """Return how many of an order's executions are for counting; at least one."""
    if order.runs is None or order.mode is not Mode.BOTH:
        return order.runs
    return max(1, order.runs // 2)


def expected_executions(order: WorkOrder, call_s: float) -> int:
    """Return about how many times an order will be executed, if each execution takes `call_s`.

    It follows the rules of `worker.blocks` and `worker.counting`, for orders without `runs` and `number`.
    """
    timed = processes_of(order) * _timed(call_s, order) if order.mode.times else 0
    counted = (_COUNTED if call_s < _LONG_S else _COUNTED_IF_LONG) if order.mode.counts else 0
    return timed + counted


def _timed(call_s: float, order: WorkOrder) -> int:
    """Return the executions of one process: warm-up, and blocks."""
    number = max(1, round(_BLOCK_S / call_s))
    block_s = number * call_s
    least_s = order.min_run_time_s / processes_of(order)
    blocks = max(_BLOCKS, math.ceil(least_s / block_s))
    blocks = max(_LEAST_BLOCKS, min(blocks, math.floor(max(least_s, _LONGEST_S) / block_s)))
    return max(1, min(max(_SETTLED, number), math.ceil(_WARM_S / call_s))) + number * blocks
