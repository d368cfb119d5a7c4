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
    """Return the tasks' timings, each in processes of its own; raises MeasuringError."""
    replies: list[list[Reply]] = [[] for _ in tasks]
    numbers = [task.order.number for task in tasks]
    fresh = [first_fresh(task.order) for task in tasks]

    def take(place: int, kind: ZygoteKind) -> None:
        task, share = tasks[place], _share(tasks[place], numbers[place], cores)
        bench.progress.at_work(task.order.label)
        reply = settled(
            task.order.label,
            [fresh[place]],
            lambda known: bench.attempt(kind, timer_job([task], share, known), task.order.retries),
        )
        (numbers[place],) = numbers_of(task.order.label, reply)
        (fresh[place],) = fresh_of(task.order.label, reply)
        replies[place].append(reply)
        bench.progress.done(task.order.label, TIMING)

    turns = _turns(len(tasks), processes_of(tasks[0].order), kinds)
    for place, kind in turns[: len(tasks)]:
        take(place, kind)
    for place, kind in _unlike(turns[: len(tasks)], fresh):
        fresh[place], numbers[place] = {**fresh[place], "decided": True}, tasks[place].order.number
        replies[place].clear()
        bench.progress.begin(1, TIMING)
        take(place, kind)
    for place, kind in turns[len(tasks) :]:
        take(place, kind)
    return tuple(timing_of(task.order.label, own) for task, own in zip(tasks, replies, strict=True))


def _unlike(turns: Sequence[tuple[int, ZygoteKind]], fresh: Sequence[Fresh]) -> list[tuple[int, ZygoteKind]]:
    """Return the turns of tasks whose executions share a state, if those of another task do not."""
    if not any(state["decided"] for state in fresh):
        return []
    return [(place, kind) for place, kind in turns if not fresh[place]["decided"]]


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
