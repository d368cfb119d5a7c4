"""Instruction counts: a process under Callgrind, or several, whose repeats must agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from profkit.measuring.pool.jobs import Reply
from profkit.measuring.pool.kinds import ZygoteKind
from profkit.measuring.results import counts_of, together
from profkit.measuring.runner.bench import Bench
from profkit.measuring.runner.environment import kind_of
from profkit.measuring.runner.freshness import first_fresh, settled
from profkit.measuring.runner.jobs import Task, callgrind_job
from profkit.measuring.worker.asked import Fresh
from profkit.model.measurement import InstructionCounts, Tool
from profkit.model.workorder import WorkOrder


def callgrind_kind(task: Task, worker: int) -> ZygoteKind:
    """The zygote under Valgrind that forks the task's worker; it lingers, as it takes long to start."""
    draw = "" if worker == 0 else f"worker-{worker}"
    return kind_of(task.order, Tool.VALGRIND, task.preload, draw)


def count(task: Task, kind: ZygoteKind, bench: Bench, cores: tuple[int, ...] = ()) -> InstructionCounts:
    """Return the task's counts, from as many processes as it asks for; raises MeasuringError."""
    bench.progress.at_work(task.order.label)
    counts = [_count_once(task, kind, bench, cores)]
    same = replace(task, order=replace(task.order, number=counts[0].number))
    counts += [_count_once(same, kind, bench, cores) for _ in range(1, processes_of(task.order))]
    return together(counts)


def processes_of(order: WorkOrder) -> int:
    """Return how many processes count an order: one, unless it asks for more and for any number of runs."""
    return order.processes or 1 if order.runs is None else 1


def _count_once(task: Task, kind: ZygoteKind, bench: Bench, cores: tuple[int, ...]) -> InstructionCounts:
    def ask(known: Sequence[Fresh]) -> Reply:
        return bench.attempt(kind, callgrind_job(task, cores, known[0]), task.order.retries)

    reply = settled(task.order.label, [first_fresh(task.order)], ask)
    return counts_of(task.order.label, reply)
