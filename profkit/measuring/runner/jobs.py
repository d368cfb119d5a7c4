"""Job messages for work orders: numbers of processes and executions, state, and code.

worker/protocol.py describes their form.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from profkit.errors import BadReply, MeasuringError
from profkit.measuring.pool.jobs import Job, Reply
from profkit.measuring.results import fresh_of
from profkit.measuring.runner.placement import first_on_path, worker_env, worker_folder, worker_path
from profkit.measuring.transfer.payload import Payload
from profkit.measuring.worker.protocol import SHARED, UNDECIDED, Fresh
from profkit.model.measurement import Preload, Tool
from profkit.model.workorder import Language, Mode, WorkOrder

SERIOUS_PROCESSES, QUICK_PROCESSES = 10, 3
BLOCK_S = 0.002
"""Block time: short, as the minimum of many blocks is disturbed least."""
_BLOCKS, _MIN_BLOCKS = 20, 3
_LONGEST_S = 0.5
_SETTLED, _WARM_S = 20, 0.04
_COUNTED, _COUNTED_IF_LONG = 110, 8
"""Executions under Callgrind: warm-up, rehearsal and two repeats."""
_ATTRIBUTED, _ATTRIBUTED_IF_LONG = 30, 3
"""Executions that are counted by Python function, with their warm-up."""
HAS_TRAMPOLINE = (3, 12)
"""First version of Python that can count by Python function."""
_LONG_S = 0.001
"""Time of a call of some 2.5 million instructions, above which it is counted less often."""


def processes_of(order: WorkOrder) -> int:
    """Return how many processes time an order: at most its limit of executions."""
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
    """Estimate how many times an order will be executed by this Python, if each execution takes `call_s`.

    It follows the rules of `worker.timing` and `worker.counting`, for orders without `runs` and `number`.
    """
    timed = processes_of(order) * _timed(call_s, order) if order.mode.times else 0
    short = call_s < _LONG_S
    counted = (_COUNTED if short else _COUNTED_IF_LONG) if order.mode.counts else 0
    by_function = counts_python(order) and sys.version_info >= HAS_TRAMPOLINE
    attributed = (_ATTRIBUTED if short else _ATTRIBUTED_IF_LONG) if by_function else 0
    return timed + counted + attributed


def counts_python(order: WorkOrder) -> bool:
    """Return whether an order's instructions are counted by Python function, too, if its Python can."""
    wanted = order.mode.counts and order.python_functions and order.language is Language.PYTHON
    return wanted and order.runs is None


def _timed(call_s: float, order: WorkOrder) -> int:
    """Estimate the executions of one timing process: warm-up and blocks."""
    number = max(1, round(BLOCK_S / call_s))
    block_s = number * call_s
    least_s = order.min_run_time_s / processes_of(order)
    blocks = max(_BLOCKS, math.ceil(least_s / block_s))
    blocks = max(_MIN_BLOCKS, min(blocks, math.floor(max(least_s, _LONGEST_S) / block_s)))
    return max(1, min(max(_SETTLED, number), math.ceil(_WARM_S / call_s))) + number * blocks


def first_fresh(order: WorkOrder) -> Fresh:
    """Return how executions in an order's first process get their state."""
    if order.language is Language.CPP or order.fresh is False:
        return SHARED
    if order.fresh or order.runs is not None:  # finding out would take executions
        return {**SHARED, "decided": bool(order.fresh) or order.function is not None}
    return UNDECIDED


def settled(label: str, fresh: Sequence[Fresh], ask: Callable[[Sequence[Fresh]], Reply]) -> Reply:
    """Return the reply of a process; if it leaves the state undecided, ask another with its findings.

    Raises BadReply, and what `ask` raises.
    """
    reply = ask(fresh)
    found = fresh_of(label, reply)
    if all(one["decided"] is not None for one in found):
        return reply
    reply = ask(found)
    if any(one["decided"] is None for one in fresh_of(label, reply)):
        raise BadReply(label, "it does not report what its statement changes", reply.output)
    return reply


_WARM_CALLS = 20


@dataclass(frozen=True, slots=True)
class Task:
    """An order to measure, and what has been prepared for it so far."""

    order: WorkOrder
    payload: Payload | None = None
    """Payload of the order's function with its arguments, or of the names that its statement reads."""
    error: MeasuringError | None = None
    """Why it cannot be measured."""
    library: Path | None = None
    """Shared object of a C++ statement."""
    preload: Preload = Preload.NOTHING


def timer_job(
    tasks: Sequence[Task],
    numbers: Sequence[int | None],
    fresh: Sequence[Fresh],
    seed: int,
    cores: tuple[int, ...] = (),
) -> Job:
    """Return a job for one of the processes that time the tasks' statements, their blocks interleaved.

    `numbers` are those of each one's executions per block, None if the process chooses; `fresh` says how its
    executions get their state.
    """
    order = tasks[0].order
    processes, limit = processes_of(order), timed_runs(order)
    message = {
        **_surroundings(order, Tool.NONE, cores),
        "mode": "timer",
        "cases": [{**_case(task), "fresh": state} for task, state in zip(tasks, fresh, strict=True)],
        "number": list(numbers),
        "blocks": None,
        "block_s": BLOCK_S,
        "min_run_time_s": order.min_run_time_s / processes,
        "runs": None if limit is None else limit // processes,
        "seed": seed,
    }
    return Job(_named_all(tasks), message, order.timeout_s, _payload(tasks))


def counting_job(
    task: Task,
    fresh: Fresh,
    cores: tuple[int, ...] = (),
    *,
    warm: int = _WARM_CALLS,
    by_function: bool = False,
) -> Job:
    """Return a job that counts a task's instructions in one process, after `warm` executions.

    `fresh` says how executions get their state.
    """
    order = task.order
    message = {
        **_surroundings(order, Tool.VALGRIND, cores),
        "mode": "attribution" if by_function else "callgrind",
        "cases": [{**_case(task), "fresh": fresh}],
        "number": [order.number],
        "repeats": order.repeats,
        "runs": counted_runs(order),
        "warm": warm,
    }
    return Job(_named(order), message, order.timeout_s, _payload([task]))


def canary_job(task: Task) -> Job:
    """Return a job that checks whether an environment can import the task's preload."""
    message = _surroundings(task.order, Tool.NONE, ())
    needed = [] if task.preload is Preload.NOTHING else [task.preload.value]
    return Job(task.order.label, {**message, "mode": "canary", "imports": needed}, task.order.timeout_s)


def _named(order: WorkOrder) -> str:
    """Return an order's name in errors: its label, and its commit if it is measured at several."""
    return order.label if order.tree is None else f"{order.label} at {order.tree.commit[:10]}"


def _named_all(tasks: Sequence[Task]) -> str:
    """Return the name in errors of tasks that share a process: any one may have failed."""
    first, *others = (_named(task.order) for task in tasks)
    if len(others) < 2:
        return " or ".join([first, *others])
    return f"{first} or one of {len(others)} interleaved with it"


def _surroundings(order: WorkOrder, tool: Tool, cores: tuple[int, ...]) -> dict[str, object]:
    return {
        "cwd": worker_folder(order),
        "path": worker_path(order),
        "first": first_on_path(order),
        "env": worker_env(order, tool),
        "num_threads": order.num_threads,
        "cores": list(cores),
        "memory_limit_bytes": order.memory_limit_bytes,
        **({} if order.tree is None else {"moved": [order.tree.checkout, order.tree.copy]}),
    }


def _case(task: Task) -> dict[str, object]:
    order = task.order
    return {
        "stmt": order.stmt,
        "setup": order.setup,
        "global_setup": order.global_setup,
        "language": order.language.value,
        "level": order.level.value,
        "payload": task.payload is not None,
        "library": None if task.library is None else str(task.library),
    }


def _payload(tasks: Sequence[Task]) -> int | None:
    return next((task.payload.fd for task in tasks if task.payload is not None), None)
