"""Time work orders in several processes: alone, alternating, or interleaved with others."""

from __future__ import annotations

import random
from collections.abc import Sequence

from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.jobs import Reply
from profkit.measuring.results import fresh_of, numbers_of, timing_of
from profkit.measuring.runner.context import BatchContext
from profkit.measuring.runner.jobs import Task, canary_job, first_fresh, processes_of, settled, timer_job
from profkit.measuring.runner.placement import kind_of
from profkit.measuring.runner.progress import TIMING
from profkit.measuring.worker.protocol import Fresh
from profkit.model.measurement import Timing, Tool

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
