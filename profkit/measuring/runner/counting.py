"""Count instructions of work orders, and of the controls that show whether environments are comparable."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from profkit.comparing.instructions import MIN_DELTA, MIN_EFFECT
from profkit.errors import MeasuringError, ProfkitError
from profkit.measuring.cpp.building import libraries_for
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.jobs import Reply
from profkit.measuring.results import counts_of, together
from profkit.measuring.runner.context import BatchContext
from profkit.measuring.runner.jobs import Task, callgrind_job, first_fresh, settled
from profkit.measuring.runner.placement import kind_of
from profkit.measuring.worker.protocol import Fresh
from profkit.model.measurement import ControlCount, InstructionCounts, Tool
from profkit.model.workorder import Language, Level, Mode, WorkOrder

_PROCESSES = 4
"""Number of processes that count an order if the counts of two differ."""
_LONG = 50_000_000
"""Instructions of a repeat, about a second under Valgrind, above which only one process counts."""

Count = Callable[[WorkOrder], InstructionCounts]


def counted(order: WorkOrder, count: Count) -> InstructionCounts:
    """Return an order's counts; check in a second process whether they depend on its input.

    If so, four processes count. One does if the order sets the number, limits its executions, or takes long.
    """
    first = count(order)
    if order.processes is not None or order.runs is not None or max(first.raw, default=0) > _LONG:
        return first
    once = replace(order, number=first.number, processes=1)
    second = count(once)
    if _are_same(first, second):
        return first
    return together([first, second, *(count(once) for _ in range(2, _PROCESSES))])


def with_equal_numbers(
    counts: Mapping[int, InstructionCounts], orders: Sequence[WorkOrder]
) -> Iterator[tuple[int, WorkOrder]]:
    """Yield the orders whose `number` exceeds the minimum, by index, with the minimum as `number`."""
    least = min((one.number for one in counts.values()), default=1)
    frequent = [index for index in sorted(counts) if counts[index].number > least]
    yield from ((index, replace(orders[index], number=least)) for index in frequent)


def _are_same(first: InstructionCounts, second: InstructionCounts) -> bool:
    low, high = sorted((first.stripped, second.stripped))
    return high <= low * (1 + MIN_EFFECT) or high - low < MIN_DELTA


_LOG = logging.getLogger("profkit")
_FIXED = "static char from[4096], to[4096]; static int values[256];"
_STATEMENTS = {
    "arithmetic": "std::uint64_t x = 1; for (int i = 0; i < 1000; ++i) { x = x * 5 + i; profkit::keep(x); }",
    "copying": "std::copy_n(from, 4096, to); profkit::keep(to[0]); profkit::keep(from[0]);",
    "sorting": "unsigned x = 1; for (int &value : values) value = (x = x * 1103515245u + 12345u) >> 16;"
    " std::sort(values, values + 256); profkit::keep(values[0]);",
}
"""Controls for the processor, for the C library's choice of code for it, and for the compiler."""


class Controls:
    """Controls of a batch: compiled once, and counted once by each zygote."""

    def __init__(self, context: BatchContext) -> None:
        self._context = context
        self._counted: dict[ZygoteKind, tuple[ControlCount, ...]] = {}

    def beside(self, counts: InstructionCounts, task: Task, kind: ZygoteKind) -> InstructionCounts:
        """Return the counts with those of the controls, if the task's order names an environment.

        Without a compiler there are none, which is logged.
        """
        if not (task.order.source_cmd or task.order.python):
            return counts
        if kind not in self._counted:
            self._counted[kind] = self._count(task, kind)
        return replace(counts, controls=self._counted[kind])

    def _count(self, task: Task, kind: ZygoteKind) -> tuple[ControlCount, ...]:
        orders = [_order(name, stmt, task.order) for name, stmt in _STATEMENTS.items()]
        try:
            built = libraries_for(orders, progress=lambda _done, _total, _label: None)
            return tuple(
                self._counted_one(order, _path(built[index]), task, kind)
                for index, order in enumerate(orders)
            )
        except ProfkitError as error:
            _LOG.warning(
                "the control statements were not counted, so instruction counts of this environment cannot "
                "be compared with those of others: %s",
                error,
            )
            return ()

    def _counted_one(self, order: WorkOrder, library: Path, task: Task, kind: ZygoteKind) -> ControlCount:
        found = count(Task(order, library=library, preload=task.preload), kind, self._context)
        return ControlCount(order.label, found.stripped)


def _order(name: str, stmt: str, like: WorkOrder) -> WorkOrder:
    """Return a control in the environment of an order, whose zygote counts it."""
    return WorkOrder(
        label=name, stmt=stmt, global_setup=_FIXED, mode=Mode.CALLGRIND, language=Language.CPP,
        level=Level.FUNCTION, num_threads=like.num_threads, number=10, timeout_s=like.timeout_s,
        source_cmd=like.source_cmd, python=like.python, env=like.env, simulate=like.simulate,
    )  # fmt: skip


def _path(made: Path | MeasuringError) -> Path:
    if isinstance(made, MeasuringError):
        raise made
    return made


def callgrind_kind(task: Task, worker: int) -> ZygoteKind:
    """Return the kind of zygote under Valgrind for a task; it is kept, as it is slow to start."""
    draw = "" if worker == 0 else f"worker-{worker}"
    return kind_of(task.order, Tool.VALGRIND, task.preload, draw)


def count(
    task: Task, kind: ZygoteKind, context: BatchContext, cores: tuple[int, ...] = ()
) -> InstructionCounts:
    """Return the task's counts, from as many processes as it requests; raises MeasuringError."""
    context.progress.at_work(task.order.label)
    counts = [_count_once(task, kind, context, cores)]
    same = replace(task, order=replace(task.order, number=counts[0].number))
    counts += [_count_once(same, kind, context, cores) for _ in range(1, _counting_processes(task.order))]
    return together(counts)


def _counting_processes(order: WorkOrder) -> int:
    """Return how many processes count an order: as many as it requests; one by default or with `runs`."""
    return order.processes or 1 if order.runs is None else 1


def _count_once(
    task: Task, kind: ZygoteKind, context: BatchContext, cores: tuple[int, ...]
) -> InstructionCounts:
    def ask(known: Sequence[Fresh]) -> Reply:
        return context.attempt(kind, callgrind_job(task, cores, known[0]), task.order.retries)

    reply = settled(task.order.label, [first_fresh(task.order)], ask)
    return counts_of(task.order.label, reply)
