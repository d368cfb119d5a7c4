"""Measure the orders of a batch: count first, then time; their sequence, and the number of zygotes.

Counting is first because zygotes under Valgrind take long to start, and starting processes disturbs
timing. Orders that need the same kind of zygote follow one another: it is started once.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from profkit.measuring.errors import reporting_full_disk
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.jobs import Reply
from profkit.measuring.results import fresh_of, numbers_of, timing_of
from profkit.measuring.runner.context import BatchContext, spread
from profkit.measuring.runner.counting import Controls, callgrind_kind, counted, with_python_functions
from profkit.measuring.runner.jobs import Task, canary_job, first_fresh, processes_of, settled, timer_job
from profkit.measuring.runner.outcomes import BatchResults, OrderResult, Outcome
from profkit.measuring.runner.placement import kind_of
from profkit.measuring.runner.progress import COUNTING, TIMING
from profkit.measuring.worker.protocol import Fresh
from profkit.model.measurement import Design, InstructionCounts, Timing, Tool
from profkit.model.workorder import WorkOrder

SERIOUS_ZYGOTES = 5
"""Number of zygotes; workers of one share its memory layout, so only several show its effect on times."""

_SEEDS = random.Random()
"""Not the program's own generator, whose numbers must stay the same."""


def timer_kinds(task: Task, worker: int) -> tuple[ZygoteKind, ...]:
    """Return the kinds of zygotes for an order's processes: one, kept, for a quick order, else fresh ones.

    Fresh ones have a draw, and the caller retires them after use: the next batch gets others.
    """
    if task.order.quick:
        return (kind_of(task.order, Tool.NONE, task.preload),)
    count = min(SERIOUS_ZYGOTES, processes_of(task.order))
    return tuple(
        kind_of(task.order, Tool.NONE, task.preload, f"fresh-{worker}-{number}") for number in range(count)
    )


def make_ready(task: Task, kinds: Sequence[ZygoteKind], context: BatchContext) -> None:
    """Start zygotes side by side and check that each can do the task; raises MeasuringError.

    Returns when all are ready: a starting zygote takes a core from the measurement.
    """
    known = {zygote.kind for zygote in context.pool.zygotes()}
    context.pool.warm(kinds)
    for kind in kinds:
        if kind in known:
            continue
        context.attempt(kind, canary_job(task), task.order.retries)


class Side:
    """Tasks that the same processes time, interleaved, and the replies of these processes."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = tasks
        self.replies: list[Reply] = []
        self._numbers: Sequence[int | None] = [task.order.number for task in tasks]
        self._fresh: Sequence[Fresh] = [first_fresh(task.order) for task in tasks]

    @property
    def has_fresh_state(self) -> bool:
        """True if each execution has its own state."""
        return any(fresh["decided"] for fresh in self._fresh)

    def start_over(self) -> None:
        """Drop the replies, and give each execution its own state from now on."""
        self._fresh = [{**fresh, "decided": True} for fresh in self._fresh]
        self._numbers = [task.order.number for task in self.tasks]
        self.replies.clear()

    def time(self, kind: ZygoteKind, context: BatchContext, cores: tuple[int, ...]) -> None:
        """Time the tasks in one process; raises MeasuringError."""
        order, seed = self.tasks[0].order, _SEEDS.getrandbits(32)

        def ask(known: Sequence[Fresh]) -> Reply:
            job = timer_job(self.tasks, self._numbers, known, seed, cores)
            return context.attempt(kind, job, order.retries)

        context.progress.at_work(order.label)
        reply = settled(order.label, self._fresh, ask)
        self._numbers, self._fresh = numbers_of(order.label, reply), fresh_of(order.label, reply)
        self.replies.append(reply)
        for task in self.tasks:
            context.progress.done(task.order.label, TIMING)

    def timings(self) -> tuple[Timing, ...]:
        """Return the tasks' timings; raises BadReply."""
        return tuple(timing_of(task.order.label, self.replies, n) for n, task in enumerate(self.tasks))


def time_sides(
    sides: Sequence[Side], kinds: Sequence[ZygoteKind], context: BatchContext, cores: tuple[int, ...] = ()
) -> tuple[Timing, ...]:
    """Return the timings of all tasks; the processes of several sides alternate. Raises MeasuringError."""
    turns = _turns(sides, processes_of(sides[0].tasks[0].order), kinds)
    first, later = turns[: len(sides)], turns[len(sides) :]
    for side, kind in first:
        side.time(kind, context, cores)
    if any(side.has_fresh_state for side in sides):
        for side, kind in first:
            if not side.has_fresh_state:
                side.start_over()
                context.progress.begin(len(side.tasks), TIMING)
                side.time(kind, context, cores)
    for side, kind in later:
        side.time(kind, context, cores)
    return tuple(timing for side in sides for timing in side.timings())


def _turns(sides: Sequence[Side], rounds: int, kinds: Sequence[ZygoteKind]) -> list[tuple[Side, ZygoteKind]]:
    """Return the sequence of sides and zygotes.

    Several sides go forwards, then backwards in the same zygote, then in the next; a single one goes to the
    next zygote each time.
    """
    in_same = min(2, len(sides))
    return [
        (side, kinds[number // in_same % len(kinds)])
        for number in range(rounds)
        for side in (sides if number % 2 == 0 else reversed(sides))
    ]


def run_tasks(
    tasks: Sequence[Task], context: BatchContext, finished: Callable[[Outcome], None]
) -> tuple[Outcome, ...]:
    """Measure tasks; return their outcomes in the same sequence, and call `finished` with each at once.

    Unless the design is `SEPARATE`, tasks that share a zygote and the settings of a process are timed
    together, and equal numbers of executions are counted. Raises KeyboardInterrupt; outcomes until then are
    not lost.
    """
    results = BatchResults(tasks, context.batch, context.workers, context.clock, finished)
    for one in results.orders:
        if one.task.error is not None:
            results.fail(one, one.task.error)
    to_count = [one for one in results.orders if one.outcome is None and one.task.order.mode.counts]
    to_time = [one for one in results.orders if one.outcome is None and one.task.order.mode.times]
    context.progress.begin(len(to_count), COUNTING)
    context.progress.begin(_processes(to_time), TIMING, _least_s(to_time) / context.workers)
    try:
        _count_all(to_count, results, context)
        remaining = [one for one in to_time if one.outcome is None]
        context.progress.begin(_processes(remaining) - _processes(to_time), TIMING)
        for group in _grouped(remaining, lambda one: timer_kinds(one.task, 0)[0]):
            alone = [[one] for one in group]
            together = _grouped(group, lambda one: _shared_by_cases(one.task.order))
            _time_groups(alone if context.design is Design.SEPARATE else together, results, context)
    finally:
        context.progress.end()
    return results.outcomes()


def _processes(orders: Sequence[OrderResult]) -> int:
    return sum(processes_of(one.task.order) for one in orders)


def _least_s(orders: Sequence[OrderResult]) -> float:
    """Return the minimum time of the orders' blocks, without orders whose executions are limited."""
    return sum(one.task.order.min_run_time_s for one in orders if one.task.order.runs is None)


def _count_all(orders: Sequence[OrderResult], results: BatchResults, context: BatchContext) -> None:
    context.pool.warm({callgrind_kind(one.task, 0) for one in orders})
    controls, held = Controls(context), dict[OrderResult, InstructionCounts]()
    record = results.counted if context.design is Design.SEPARATE else held.__setitem__

    def work(one: OrderResult, worker: int, number: int | None = None) -> None:
        order = one.task.order if number is None else replace(one.task.order, number=number)
        task = replace(one.task, order=order)
        with context.cores(1) as cores, results.working_on([one]):
            kind = callgrind_kind(task, worker)
            with reporting_full_disk():
                counts = counted(task, kind, context, cores)
                counts = with_python_functions(counts, task, kind, context, cores)
            record(one, controls.beside(counts, task, kind))
        context.progress.done(order.label, COUNTING)  # one step, even if several processes count

    try:
        spread(orders, context.workers, work, context.stop)
        least = min((counts.number for counts in held.values()), default=1)
        for one in [one for one in orders if one in held and held[one].number > least]:
            context.progress.begin(1, COUNTING)
            work(one, 0, least)
    finally:
        for one in held:
            if one.outcome is None:
                results.counted(one, held[one])


def _time_groups(
    groups: Sequence[Sequence[OrderResult]], results: BatchResults, context: BatchContext
) -> None:
    """Time groups of one kind of zygote; retire the fresh zygotes when all are done."""
    ready: set[ZygoteKind] = set()

    def work(group: Sequence[OrderResult], worker: int) -> None:
        tasks = [one.task for one in group]
        kinds = timer_kinds(tasks[0], worker)
        alternating = context.design is Design.ALTERNATING
        sides = [Side([task]) for task in tasks] if alternating else [Side(tasks)]
        with context.cores(tasks[0].order.num_threads) as cores, results.working_on(group):
            fresh = [kind for kind in kinds if kind not in ready]
            ready.update(fresh)
            make_ready(tasks[0], fresh, context)
            for one, timing in zip(group, time_sides(sides, kinds, context, cores), strict=True):
                results.timed(one, timing)
        # Remove the remaining steps of an order that failed.
        done = sum(len(side.replies) * len(side.tasks) for side in sides)
        context.progress.begin(done - _processes(group), TIMING)

    try:
        spread(groups, context.workers, work, context.stop)
    finally:
        context.pool.retire([kind for kind in ready if kind.draw])


def _shared_by_cases(order: WorkOrder) -> object:
    """Return the settings that statements timed in the same process must share."""
    limits = order.timeout_s, order.retries, order.memory_limit_bytes
    return order.env, order.runs, order.processes, order.min_run_time_s, *limits


def _grouped(orders: Sequence[OrderResult], key: Callable[[OrderResult], object]) -> list[list[OrderResult]]:
    groups: dict[object, list[OrderResult]] = {}
    for one in orders:
        groups.setdefault(key(one), []).append(one)
    return list(groups.values())
