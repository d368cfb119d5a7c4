"""Measure the orders of a batch: count first, then time, each in isolated processes.

Counting is first because zygotes under Valgrind take long to start, and starting processes disturbs
timing. Orders that need the same kind of zygote follow one another: it is started once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from profkit.measuring.errors import reporting_full_disk
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.runner.context import BatchContext, spread
from profkit.measuring.runner.counting import (
    Controls,
    callgrind_kind,
    count,
    counted,
    with_equal_numbers,
    with_python_functions,
)
from profkit.measuring.runner.jobs import Task, processes_of
from profkit.measuring.runner.outcomes import BatchResults, Outcome
from profkit.measuring.runner.progress import COUNTING, TIMING
from profkit.measuring.runner.timing import Side, make_ready, time_sides, timer_kinds
from profkit.model.measurement import Design, InstructionCounts
from profkit.model.workorder import WorkOrder

Indexes = tuple[int, ...]
"""Indices of orders in their batch."""


def run_tasks(
    tasks: Sequence[Task], context: BatchContext, finished: Callable[[Outcome], None]
) -> tuple[Outcome, ...]:
    """Measure tasks; return their outcomes in the same sequence, and call `finished` with each at once.

    Unless the design is `SEPARATE`, tasks that share a zygote and the settings of a process are timed
    together, and equal numbers of executions are counted. Raises KeyboardInterrupt; outcomes until then are
    not lost.
    """
    results = BatchResults(tasks, context.batch, context.workers, context.clock, finished)
    for index, task in enumerate(tasks):
        if task.error is not None:
            results.fail(index, task.error)
    to_count = [index for index in results.open_indexes() if tasks[index].order.mode.counts]
    timed = [index for index in results.open_indexes() if tasks[index].order.mode.times]
    context.progress.begin(len(to_count), COUNTING)
    context.progress.begin(_processes(tasks, timed), TIMING, _least_s(tasks, timed) / context.workers)
    try:
        _count_all(to_count, results, context)
        remaining = [index for index in timed if index in results.open_indexes()]
        context.progress.begin(_processes(tasks, remaining) - _processes(tasks, timed), TIMING)
        for group in _grouped(remaining, lambda index: timer_kinds(tasks[index], 0)[0]):
            alone = [(index,) for index in group]
            together = _grouped(group, lambda index: _shared_by_cases(tasks[index].order))
            _time_group(alone if context.design is Design.SEPARATE else together, results, context)
    finally:
        context.progress.end()
    return results.outcomes()


def _processes(tasks: Sequence[Task], indexes: Sequence[int]) -> int:
    return sum(processes_of(tasks[index].order) for index in indexes)


def _least_s(tasks: Sequence[Task], indexes: Sequence[int]) -> float:
    """Return the minimum time of the orders' blocks, without orders whose executions are limited."""
    orders = (tasks[index].order for index in indexes)
    return sum(order.min_run_time_s for order in orders if order.runs is None)


def _count_all(indexes: Sequence[int], results: BatchResults, context: BatchContext) -> None:
    context.pool.warm({callgrind_kind(results.tasks[index], 0) for index in indexes})
    controls, held = Controls(context), dict[int, InstructionCounts]()
    record = results.counted if context.design is Design.SEPARATE else held.__setitem__

    def work(task: Task, index: int, worker: int) -> None:
        with context.cores(1) as cores, results.working_on((index,)):
            kind = callgrind_kind(task, worker)
            with reporting_full_disk():
                counts = counted(
                    task.order, lambda one: count(replace(task, order=one), kind, context, cores)
                )
                counts = with_python_functions(counts, task, kind, context, cores)
            record(index, controls.beside(counts, task, kind))
        context.progress.done(task.order.label, COUNTING)  # one step, even if several processes count

    try:
        spread(
            indexes,
            context.workers,
            lambda index, worker: work(results.tasks[index], index, worker),
            context.stop,
        )
        for index, order in with_equal_numbers(held, [task.order for task in results.tasks]):
            context.progress.begin(1, COUNTING)
            work(replace(results.tasks[index], order=order), index, 0)
    finally:
        for index in [index for index in held if index in results.open_indexes()]:
            results.counted(index, held[index])


def _time_group(groups: Sequence[Indexes], results: BatchResults, context: BatchContext) -> None:
    """Time groups of one kind of zygote; retire the fresh zygotes when all are done."""
    ready: set[ZygoteKind] = set()

    def work(indexes: Indexes, worker: int) -> None:
        tasks = [results.tasks[index] for index in indexes]
        kinds = timer_kinds(tasks[0], worker)
        alternating = context.design is Design.ALTERNATING
        sides = [Side([task]) for task in tasks] if alternating else [Side(tasks)]
        with context.cores(tasks[0].order.num_threads) as cores, results.working_on(indexes):
            fresh = [kind for kind in kinds if kind not in ready]
            ready.update(fresh)
            make_ready(tasks[0], fresh, context)
            for index, timing in zip(indexes, time_sides(sides, kinds, context, cores), strict=True):
                results.timed(index, timing)
        # Remove the remaining steps of an order that failed.
        done = sum(len(side.replies) * len(side.tasks) for side in sides)
        context.progress.begin(done - _processes(results.tasks, indexes), TIMING)

    try:
        spread(groups, context.workers, work, context.stop)
    finally:
        context.pool.retire([kind for kind in ready if kind.draw])


def _shared_by_cases(order: WorkOrder) -> object:
    """Return the settings that statements timed in the same process must share."""
    return (
        order.env,
        order.runs,
        order.processes,
        order.min_run_time_s,
        order.timeout_s,
        order.retries,
        order.memory_limit_bytes,
    )


def _grouped(indexes: Sequence[int], key: Callable[[int], object]) -> list[Indexes]:
    groups: dict[object, list[int]] = {}
    for index in indexes:
        groups.setdefault(key(index), []).append(index)
    return [tuple(group) for group in groups.values()]
