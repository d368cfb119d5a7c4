"""Orders as jobs: the messages that workers read; worker/job.py describes their form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from profkit.measuring.pool.jobs import Job
from profkit.measuring.runner.environment import worker_env
from profkit.measuring.runner.executions import counted_runs
from profkit.measuring.runner.freshness import first_fresh
from profkit.measuring.runner.place import first_on_path, worker_folder, worker_path
from profkit.measuring.travel.parcel import Parcel
from profkit.measuring.worker.asked import Fresh
from profkit.model.measurement import Preload, Tool
from profkit.model.workorder import WorkOrder

BLOCK_S = 0.002
"""Short blocks: the least of many is disturbed least."""
_WARM_CALLS = 20


@dataclass(frozen=True, slots=True)
class Task:
    """An order and what was found out about it before it is measured."""

    order: WorkOrder
    parcel: Parcel | None = None
    """The function with its arguments, where the order is about one."""
    library: Path | None = None
    """The shared object of a C++ statement."""
    preload: Preload = Preload.NOTHING


@dataclass(frozen=True, slots=True)
class Share:
    """What one process of a timer measurement is to do."""

    numbers: tuple[int | None, ...]
    """Executions in a block for each arm; None: the process finds out."""
    min_run_time_s: float
    runs: int | None
    seed: int
    cores: tuple[int, ...] = ()


def timer_job(tasks: Sequence[Task], share: Share, fresh: Sequence[Fresh] | None = None) -> Job:
    """One process that times the tasks' statements, their blocks interleaved.

    `fresh` is what is known about the state of each one's executions.
    """
    order = tasks[0].order
    known = fresh or [first_fresh(task.order) for task in tasks]
    message = {
        **_surroundings(order, Tool.NONE, share.cores),
        "mode": "timer",
        "arms": [{**_arm(task), "fresh": state} for task, state in zip(tasks, known, strict=True)],
        "number": list(share.numbers),
        "blocks": None,
        "block_s": BLOCK_S,
        "min_run_time_s": share.min_run_time_s,
        "runs": share.runs,
        "seed": share.seed,
    }
    return Job(_named_all(tasks), message, order.timeout_s, _parcel(tasks))


def callgrind_job(task: Task, cores: tuple[int, ...] = (), fresh: Fresh | None = None) -> Job:
    """One process that counts the instructions of a task's statement."""
    order = task.order
    message = {
        **_surroundings(order, Tool.VALGRIND, cores),
        "mode": "callgrind",
        "arms": [{**_arm(task), "fresh": fresh or first_fresh(order)}],
        "number": [order.number],
        "repeats": order.repeats,
        "runs": counted_runs(order),
        "warm": _WARM_CALLS,
    }
    return Job(_named(order), message, order.timeout_s, _parcel([task]))


def canary_job(task: Task) -> Job:
    """One process that shows whether an environment can import what the task needs."""
    message = _surroundings(task.order, Tool.NONE, ())
    needed = [] if task.preload is Preload.NOTHING else [task.preload.value]
    return Job(task.order.label, {**message, "mode": "canary", "imports": needed}, task.order.timeout_s)


def _named(order: WorkOrder) -> str:
    """What errors call an order: its label, and the commit where the same is measured at several."""
    return order.label if order.tree is None else f"{order.label} at {order.tree.commit[:10]}"


def _named_all(tasks: Sequence[Task]) -> str:
    """Of what shares a process, an error is any one's."""
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


def _arm(task: Task) -> dict[str, object]:
    order = task.order
    return {
        "stmt": order.stmt,
        "setup": order.setup,
        "global_setup": order.global_setup,
        "language": order.language.value,
        "level": order.level.value,
        "parcel": task.parcel is not None,
        "library": None if task.library is None else str(task.library),
    }


def _parcel(tasks: Sequence[Task]) -> int | None:
    return next((task.parcel.fd for task in tasks if task.parcel is not None), None)
