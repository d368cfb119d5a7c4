"""Times: an order in several processes of several zygotes, with the same number of executions a block."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from profkit.measuring.pool.jobs import Reply
from profkit.measuring.pool.kinds import ZygoteKind
from profkit.measuring.results import fresh_of, numbers_of, timing_of
from profkit.measuring.runner.bench import Bench
from profkit.measuring.runner.environment import kind_of
from profkit.measuring.runner.executions import processes_of, timed_runs
from profkit.measuring.runner.freshness import first_fresh, settled
from profkit.measuring.runner.jobs import Share, Task, canary_job, timer_job
from profkit.measuring.runner.progress import TIMING
from profkit.measuring.worker.asked import Fresh
from profkit.model.measurement import Timing, Tool

SERIOUS_ZYGOTES = 5
"""Children of one zygote share its memory layout: only several zygotes show what that does to the times."""


def timer_kinds(task: Task, worker: int) -> tuple[ZygoteKind, ...]:
    """The zygotes that share an order's processes: one that lingers for a quick order, else fresh ones.

    Fresh ones have a draw, and whoever has used them retires them: the next batch gets others.
    """
    if task.order.quick:
        return (kind_of(task.order, Tool.NONE, task.preload),)
    count = min(SERIOUS_ZYGOTES, processes_of(task.order))
    return tuple(
        kind_of(task.order, Tool.NONE, task.preload, f"fresh-{worker}-{number}") for number in range(count)
    )


def make_ready(task: Task, kinds: Sequence[ZygoteKind], bench: Bench) -> None:
    """Start zygotes side by side and see that each can do what the task needs; raises MeasuringError.

    Returns when all are there: a zygote that starts takes a core from what is being measured.
    """
    known = {zygote.kind for zygote in bench.pool.zygotes()}
    bench.pool.warm(kinds)
    for kind in kinds:
        if kind in known:
            continue
        bench.attempt(kind, canary_job(task), task.order.retries)


def time_together(
    tasks: Sequence[Task], kinds: Sequence[ZygoteKind], bench: Bench, cores: tuple[int, ...] = ()
) -> tuple[Timing, ...]:
    """The tasks' timings, process by process measured interleaved; a single task is timed by itself."""
    replies = list(_replies(tasks, kinds, bench, cores))
    return tuple(timing_of(task.order.label, replies, arm) for arm, task in enumerate(tasks))


def _replies(
    tasks: Sequence[Task], kinds: Sequence[ZygoteKind], bench: Bench, cores: tuple[int, ...]
) -> Iterator[Reply]:
    order = tasks[0].order
    count, limit = processes_of(order), timed_runs(order)
    numbers: Sequence[int | None] = [task.order.number for task in tasks]
    fresh: Sequence[Fresh] = [first_fresh(task.order) for task in tasks]
    seeds = random.Random()
    for index in range(count):
        share = Share(
            numbers=tuple(numbers),
            min_run_time_s=order.min_run_time_s / count,
            runs=None if limit is None else limit // count,
            seed=seeds.getrandbits(32),
            cores=cores,
        )
        kind = kinds[index % len(kinds)]

        def ask(known: Sequence[Fresh], share: Share = share, kind: ZygoteKind = kind) -> Reply:
            return bench.attempt(kind, timer_job(tasks, share, known), order.retries)

        bench.progress.at_work(order.label)
        reply = settled(order.label, fresh, ask)
        numbers, fresh = numbers_of(order.label, reply), fresh_of(order.label, reply)
        for task in tasks:
            bench.progress.done(task.order.label, TIMING)
        yield reply
