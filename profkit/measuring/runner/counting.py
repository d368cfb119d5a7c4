"""Instruction counts: one process under Callgrind, whose repeats must agree."""

from __future__ import annotations

from collections.abc import Sequence

from profkit.measuring.pool.jobs import Reply
from profkit.measuring.pool.kinds import ZygoteKind
from profkit.measuring.results import counts_of
from profkit.measuring.runner.bench import Bench
from profkit.measuring.runner.environment import kind_of
from profkit.measuring.runner.freshness import first_fresh, settled
from profkit.measuring.runner.jobs import Task, callgrind_job
from profkit.measuring.runner.progress import COUNTING
from profkit.measuring.worker.asked import Fresh
from profkit.model.measurement import InstructionCounts, Tool


def callgrind_kind(task: Task, worker: int) -> ZygoteKind:
    """The zygote under Valgrind that forks the task's worker; it lingers, as it takes long to start."""
    draw = "" if worker == 0 else f"worker-{worker}"
    return kind_of(task.order, Tool.VALGRIND, task.preload, draw)


def count(task: Task, kind: ZygoteKind, bench: Bench, cores: tuple[int, ...] = ()) -> InstructionCounts:
    """The task's counts; raises MeasuringError."""
    bench.progress.at_work(task.order.label)

    def ask(known: Sequence[Fresh]) -> Reply:
        return bench.attempt(kind, callgrind_job(task, cores, known[0]), task.order.retries)

    reply = settled(task.order.label, [first_fresh(task.order)], ask)
    counts = counts_of(task.order.label, reply)
    bench.progress.done(task.order.label, COUNTING)
    return counts
