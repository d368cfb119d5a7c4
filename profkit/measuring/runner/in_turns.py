"""Times of orders that cannot share a process, such as two commits: their processes take turns, A B B A.

What becomes of the machine meanwhile meets both alike, and so does what a zygote does to its children,
because each zygote has as many processes of one as of the other.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from profkit.measuring.pool.jobs import Reply
from profkit.measuring.pool.kinds import ZygoteKind
from profkit.measuring.results import fresh_of, numbers_of, timing_of
from profkit.measuring.runner.bench import Bench
from profkit.measuring.runner.executions import processes_of, timed_runs
from profkit.measuring.runner.freshness import first_fresh, settled
from profkit.measuring.runner.jobs import Share, Task, timer_job
from profkit.measuring.runner.progress import TIMING
from profkit.measuring.worker.asked import Fresh
from profkit.model.measurement import Timing


def time_in_turns(
    tasks: Sequence[Task], kinds: Sequence[ZygoteKind], bench: Bench, cores: tuple[int, ...] = ()
) -> tuple[Timing, ...]:
    """The tasks' timings, each in processes of its own; raises MeasuringError."""
    replies: list[list[Reply]] = [[] for _ in tasks]
    numbers = [task.order.number for task in tasks]
    fresh = [first_fresh(task.order) for task in tasks]
    for place, kind in _turns(len(tasks), processes_of(tasks[0].order), kinds):
        task = tasks[place]
        bench.progress.at_work(task.order.label)
        share = _share(task, numbers[place], cores)

        def ask(
            known: Sequence[Fresh], task: Task = task, share: Share = share, kind: ZygoteKind = kind
        ) -> Reply:
            return bench.attempt(kind, timer_job([task], share, known), task.order.retries)

        reply = settled(task.order.label, [fresh[place]], ask)
        (numbers[place],) = numbers_of(task.order.label, reply)
        (fresh[place],) = fresh_of(task.order.label, reply)
        replies[place].append(reply)
        bench.progress.done(task.order.label, TIMING)
    return tuple(timing_of(task.order.label, own) for task, own in zip(tasks, replies, strict=True))


def _turns(tasks: int, rounds: int, kinds: Sequence[ZygoteKind]) -> list[tuple[int, ZygoteKind]]:
    """Which task is next, and in which zygote: there and back again in one, then in the next."""
    return [
        (place, kinds[number // 2 % len(kinds)])
        for number in range(rounds)
        for place in (range(tasks) if number % 2 == 0 else reversed(range(tasks)))
    ]


def _share(task: Task, number: int | None, cores: tuple[int, ...]) -> Share:
    order = task.order
    count, limit = processes_of(order), timed_runs(order)
    return Share(
        numbers=(number,),
        min_run_time_s=order.min_run_time_s / count,
        runs=None if limit is None else limit // count,
        seed=random.getrandbits(32),
        cores=cores,
    )
