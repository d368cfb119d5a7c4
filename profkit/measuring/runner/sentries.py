"""Sentries: three fixed C++ statements, counted beside orders that name an environment.

They use nothing of Python or torch, so that all environments of a machine count the same for them. Where two
do not, processor, C library or Valgrind differ, and nothing else that is counted there compares either.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from profkit.errors import MeasuringError, ProfkitError
from profkit.measuring.cpp.building import libraries_for
from profkit.measuring.pool.kinds import ZygoteKind
from profkit.measuring.runner.bench import Bench
from profkit.measuring.runner.counting import count
from profkit.measuring.runner.jobs import Task
from profkit.model.measurement import InstructionCounts, SentryCount
from profkit.model.workorder import Language, Level, Mode, WorkOrder

_LOG = logging.getLogger("profkit")
_FIXED = "static char from[4096], to[4096]; static int values[256];"
_STATEMENTS = {
    "arithmetic": "std::uint64_t x = 1; for (int i = 0; i < 1000; ++i) { x = x * 5 + i; profkit::keep(x); }",
    "copying": "std::copy_n(from, 4096, to); profkit::keep(to[0]); profkit::keep(from[0]);",
    "sorting": "unsigned x = 1; for (int &value : values) value = (x = x * 1103515245u + 12345u) >> 16;"
    " std::sort(values, values + 256); profkit::keep(values[0]);",
}
"""The processor's own work, the C library's choice of code for this processor, and the compiler's."""


class Sentries:
    """The sentries of a batch: compiled once, and counted once by each zygote."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._counted: dict[ZygoteKind, tuple[SentryCount, ...]] = {}

    def beside(self, counts: InstructionCounts, task: Task, kind: ZygoteKind) -> InstructionCounts:
        """The counts with those of the sentries, where the task's order names an environment.

        Without a compiler there are none, which is logged.
        """
        if not (task.order.source_cmd or task.order.python):
            return counts
        if kind not in self._counted:
            self._counted[kind] = self._count(task, kind)
        return replace(counts, sentries=self._counted[kind])

    def _count(self, task: Task, kind: ZygoteKind) -> tuple[SentryCount, ...]:
        orders = [_order(name, stmt, task.order) for name, stmt in _STATEMENTS.items()]
        try:
            built = libraries_for(orders, progress=lambda _done, _total, _label: None)
            return tuple(
                self._counted_one(order, _path(built[place]), task, kind)
                for place, order in enumerate(orders)
            )
        except ProfkitError as error:
            _LOG.warning(
                "whether its instructions compare with another environment's is not known: %s", error
            )
            return ()

    def _counted_one(self, order: WorkOrder, library: Path, task: Task, kind: ZygoteKind) -> SentryCount:
        found = count(Task(order, library=library, preload=task.preload), kind, self._bench)
        return SentryCount(order.label, found.stripped)


def _order(name: str, stmt: str, like: WorkOrder) -> WorkOrder:
    """The sentry in the environment of an order, whose zygote counts it."""
    return WorkOrder(
        label=name, stmt=stmt, global_setup=_FIXED, mode=Mode.CALLGRIND, language=Language.CPP,
        level=Level.FUNCTION, num_threads=like.num_threads, number=10, timeout_s=like.timeout_s,
        source_cmd=like.source_cmd, python=like.python, env=like.env, simulate=like.simulate,
    )  # fmt: skip


def _path(made: Path | MeasuringError) -> Path:
    if isinstance(made, MeasuringError):
        raise made
    return made
