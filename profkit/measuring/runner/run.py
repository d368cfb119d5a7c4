"""Measure the orders of a batch: count first, then time, each in isolated processes.

Counting is first because zygotes under Valgrind take long to start, and starting processes disturbs
timing. Orders that need the same kind of zygote follow one another: it is started once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace

from profkit.errors import MeasuringError
from profkit.measuring.errors import naming_a_full_disk
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.runner.context import BatchContext, spread
from profkit.measuring.runner.counting import Controls, callgrind_kind, count, counted, with_equal_numbers
from profkit.measuring.runner.jobs import Task, processes_of
from profkit.measuring.runner.outcomes import BatchResults, Outcome
from profkit.measuring.runner.progress import COUNTING, TIMING, Counted
from profkit.measuring.runner.timing import make_ready, time_alternating, time_together, timer_kinds
from profkit.model.measurement import Design, InstructionCounts
from profkit.model.workorder import WorkOrder

Places = tuple[int, ...]
"""Indices of orders in their batch."""


def run_tasks(
    tasks: Sequence[Task],
    context: BatchContext,
    finished: Callable[[Outcome], None],
    *,
    broken: Mapping[int, MeasuringError] | None = None,
) -> tuple[Outcome, ...]:
    """Measure tasks; return their outcomes in the same sequence, and call `finished` with each at once.

    `broken` has the errors, by place, of tasks that cannot be measured. Unless the design is `SEPARATE`,
    tasks that share a zygote and the settings of a process are timed together, and equal numbers of
    executions are counted. Raises KeyboardInterrupt; outcomes until then are not lost.
    """
    results = BatchResults(tasks, context.batch, context.workers, context.clock, finished)
    for place, error in (broken or {}).items():
        results.fail(place, error)
    to_count = [place for place in results.open_places() if tasks[place].order.mode.counts]
    timed = [place for place in results.open_places() if tasks[place].order.mode.times]
    context.progress.begin(len(to_count), COUNTING)
    context.progress.begin(_processes(tasks, timed), TIMING, _least_s(tasks, timed) / context.workers)
    try:
        _count_all(to_count, results, context)
        still = [place for place in timed if place in results.open_places()]
        context.progress.begin(_processes(tasks, still) - _processes(tasks, timed), TIMING)
        for group in _grouped(still, lambda place: timer_kinds(tasks[place], 0)[0]):
            alone = [(place,) for place in group]
            beside = _grouped(group, lambda place: _shared_by_cases(tasks[place].order))
            _time_group(alone if context.design is Design.SEPARATE else beside, results, context)
    finally:
        context.progress.end()
    return results.outcomes()


def _processes(tasks: Sequence[Task], places: Sequence[int]) -> int:
    return sum(processes_of(tasks[place].order) for place in places)


def _least_s(tasks: Sequence[Task], places: Sequence[int]) -> float:
    """Return the minimum time of the orders' blocks, without orders whose executions are limited."""
    orders = (tasks[place].order for place in places)
    return sum(order.min_run_time_s for order in orders if order.runs is None)


def _count_all(places: Sequence[int], results: BatchResults, context: BatchContext) -> None:
    context.pool.warm({callgrind_kind(results.tasks[place], 0) for place in places})
    controls, held = Controls(context), dict[int, InstructionCounts]()
    note = results.counted if context.design is Design.SEPARATE else held.__setitem__

    def work(task: Task, place: int, worker: int) -> None:
        with context.cores(1) as cores, results.working_on((place,)):
            kind = callgrind_kind(task, worker)
            with naming_a_full_disk():
                counts = counted(
                    task.order, lambda one: count(replace(task, order=one), kind, context, cores)
                )
            note(place, controls.beside(counts, task, kind))
        context.progress.done(task.order.label, COUNTING)  # one step, even if several processes count

    try:
        spread(
            places,
            context.workers,
            lambda place, worker: work(results.tasks[place], place, worker),
            context.stop,
        )
        for place, order in with_equal_numbers(held, [task.order for task in results.tasks]):
            context.progress.begin(1, COUNTING)
            work(replace(results.tasks[place], order=order), place, 0)
    finally:
        for place in [place for place in held if place in results.open_places()]:
            results.counted(place, held[place])


def _time_group(groups: Sequence[Places], results: BatchResults, context: BatchContext) -> None:
    """Time groups of one kind of zygote; retire the fresh zygotes when all are done."""
    ready: set[ZygoteKind] = set()

    def work(places: Places, worker: int) -> None:
        tasks = [results.tasks[place] for place in places]
        kinds, own = timer_kinds(tasks[0], worker), copy(context)
        own.progress = steps = Counted(context.progress)
        with context.cores(tasks[0].order.num_threads) as cores, results.working_on(places):
            fresh = [kind for kind in kinds if kind not in ready]
            ready.update(fresh)
            make_ready(tasks[0], fresh, own)
            time_all = time_alternating if context.design is Design.ALTERNATING else time_together
            for place, timing in zip(places, time_all(tasks, kinds, own, cores), strict=True):
                results.timed(place, timing)
        # Remove the remaining steps of an order that failed.
        context.progress.begin(steps.steps - _processes(results.tasks, places), TIMING)

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


def _grouped(places: Sequence[int], key: Callable[[int], object]) -> list[Places]:
    groups: dict[object, list[int]] = {}
    for place in places:
        groups.setdefault(key(place), []).append(place)
    return [tuple(group) for group in groups.values()]
