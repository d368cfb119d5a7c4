"""Time work orders in several processes: alone, alternating, or interleaved with another side."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.jobs import Reply
from profkit.measuring.results import fresh_of, numbers_of, timing_of
from profkit.measuring.runner.context import BatchContext
from profkit.measuring.runner.jobs import (
    Task,
    TimingShare,
    canary_job,
    first_fresh,
    processes_of,
    settled,
    timed_runs,
    timer_job,
)
from profkit.measuring.runner.placement import kind_of
from profkit.measuring.runner.progress import TIMING
from profkit.measuring.worker.protocol import Fresh
from profkit.model.measurement import Timing, Tool

SERIOUS_ZYGOTES = 5
"""Number of zygotes; workers of one share its memory layout, so only several show its effect on times."""


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


def time_together(
    tasks: Sequence[Task], kinds: Sequence[ZygoteKind], context: BatchContext, cores: tuple[int, ...] = ()
) -> tuple[Timing, ...]:
    """Return the tasks' timings, interleaved in the same processes; a single task is timed alone."""
    replies = list(_replies(tasks, kinds, context, cores))
    return tuple(timing_of(task.order.label, replies, case) for case, task in enumerate(tasks))


def _replies(
    tasks: Sequence[Task], kinds: Sequence[ZygoteKind], context: BatchContext, cores: tuple[int, ...]
) -> Iterator[Reply]:
    order = tasks[0].order
    count, limit = processes_of(order), timed_runs(order)
    numbers: Sequence[int | None] = [task.order.number for task in tasks]
    fresh: Sequence[Fresh] = [first_fresh(task.order) for task in tasks]
    seeds = random.Random()
    for index in range(count):
        share = TimingShare(
            numbers=tuple(numbers),
            min_run_time_s=order.min_run_time_s / count,
            runs=None if limit is None else limit // count,
            seed=seeds.getrandbits(32),
            cores=cores,
        )
        kind = kinds[index % len(kinds)]

        def ask(known: Sequence[Fresh], share: TimingShare = share, kind: ZygoteKind = kind) -> Reply:
            return context.attempt(kind, timer_job(tasks, share, known), order.retries)

        context.progress.at_work(order.label)
        reply = settled(order.label, fresh, ask)
        numbers, fresh = numbers_of(order.label, reply), fresh_of(order.label, reply)
        for task in tasks:
            context.progress.done(task.order.label, TIMING)
        yield reply


def time_alternating(
    tasks: Sequence[Task], kinds: Sequence[ZygoteKind], context: BatchContext, cores: tuple[int, ...] = ()
) -> tuple[Timing, ...]:
    """Return the tasks' timings, each in its own processes, which alternate; raises MeasuringError."""
    replies: list[list[Reply]] = [[] for _ in tasks]
    numbers = [task.order.number for task in tasks]
    fresh = [first_fresh(task.order) for task in tasks]

    def take(index: int, kind: ZygoteKind) -> None:
        task, share = tasks[index], _share(tasks[index], numbers[index], cores)
        context.progress.at_work(task.order.label)
        reply = settled(
            task.order.label,
            [fresh[index]],
            lambda known: context.attempt(kind, timer_job([task], share, known), task.order.retries),
        )
        (numbers[index],) = numbers_of(task.order.label, reply)
        (fresh[index],) = fresh_of(task.order.label, reply)
        replies[index].append(reply)
        context.progress.done(task.order.label, TIMING)

    turns = _turns(len(tasks), processes_of(tasks[0].order), kinds)
    for index, kind in turns[: len(tasks)]:
        take(index, kind)
    for index, kind in _to_repeat(turns[: len(tasks)], fresh):
        fresh[index], numbers[index] = {**fresh[index], "decided": True}, tasks[index].order.number
        replies[index].clear()
        context.progress.begin(1, TIMING)
        take(index, kind)
    for index, kind in turns[len(tasks) :]:
        take(index, kind)
    return tuple(timing_of(task.order.label, own) for task, own in zip(tasks, replies, strict=True))


def _to_repeat(
    turns: Sequence[tuple[int, ZygoteKind]], fresh: Sequence[Fresh]
) -> list[tuple[int, ZygoteKind]]:
    """Return the turns of tasks whose executions share a state, if those of another task do not."""
    if not any(state["decided"] for state in fresh):
        return []
    return [(index, kind) for index, kind in turns if not fresh[index]["decided"]]


def _turns(tasks: int, rounds: int, kinds: Sequence[ZygoteKind]) -> list[tuple[int, ZygoteKind]]:
    """Return the sequence of tasks and zygotes: forwards, then backwards in one, then in the next."""
    return [
        (index, kinds[number // 2 % len(kinds)])
        for number in range(rounds)
        for index in (range(tasks) if number % 2 == 0 else reversed(range(tasks)))
    ]


def _share(task: Task, number: int | None, cores: tuple[int, ...]) -> TimingShare:
    order = task.order
    count, limit = processes_of(order), timed_runs(order)
    return TimingShare(
        numbers=(number,),
        min_run_time_s=order.min_run_time_s / count,
        runs=None if limit is None else limit // count,
        seed=random.getrandbits(32),
        cores=cores,
    )
