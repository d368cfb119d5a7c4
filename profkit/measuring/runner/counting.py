"""Count instructions of work orders and controls: in how many processes, and also by Python function."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from weakref import WeakKeyDictionary

from profkit.comparing.instructions import MIN_DELTA, MIN_EFFECT
from profkit.errors import MeasuringError, ProfkitError
from profkit.measuring.cpp.building import libraries_for
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.jobs import Reply
from profkit.measuring.pool.pool import Pool
from profkit.measuring.results import counts_of, python_counts_of, together
from profkit.measuring.runner.context import BatchContext
from profkit.measuring.runner.jobs import (
    HAS_TRAMPOLINE,
    Task,
    counting_job,
    counts_python,
    first_fresh,
    settled,
)
from profkit.measuring.runner.placement import kind_of
from profkit.measuring.worker.protocol import UNDECIDED, Fresh, content_of
from profkit.model.function_counts import PythonCounts
from profkit.model.measurement import ControlCount, InstructionCounts, Tool
from profkit.model.workorder import Language, Level, Mode, WorkOrder

_PROCESSES = 4
"""Number of processes that count an order if the counts of two differ."""
_LONG = 50_000_000
"""Instructions of a repeat, about a second under Valgrind, above which only one process counts."""
_SHORT = 2_500_000
"""Maximum instructions of a statement that is executed `_WARM` times before it is counted by function."""
_WARM, _WARM_IF_LONG = 20, 1


def counted(task: Task, kind: ZygoteKind, context: BatchContext, cores: tuple[int, ...]) -> InstructionCounts:
    """Return a task's counts; check against a second process whether they depend on its input.

    The second process is an earlier one of this pool, if one has counted the same job. If the counts differ,
    four processes count. One does if the order sets the number, limits its executions, or takes long.
    """
    order, first = task.order, count(task, kind, context, cores)
    if order.processes is not None or order.runs is not None or max(first.raw, default=0) > _LONG:
        return first
    known, key = _AGREED.setdefault(context.pool, {}), _fingerprint(task, kind)
    if key in known and _agree(_result(first), known[key]):
        return first
    once = replace(task, order=replace(order, number=first.number, processes=1))
    second = count(once, kind, context, cores)
    if _agree(_result(first), _result(second)):
        if key is not None:
            known[key] = _result(first)
        if len(known) > _MAX_KNOWN:
            known.pop(next(iter(known)), None)
        return first
    known.pop(key, None)
    more = (count(once, kind, context, cores) for _ in range(2, _PROCESSES))
    return together([first, second, *more])


_Result = tuple[int, float]
"""Executions in each repeat, and instructions of one without allocators."""


def _result(counts: InstructionCounts) -> _Result:
    return counts.number, counts.stripped


def _agree(one: _Result, other: _Result) -> bool:
    low, high = sorted((one[1], other[1]))
    return one[0] == other[0] and (high <= low * (1 + MIN_EFFECT) or high - low < MIN_DELTA)


_AGREED: WeakKeyDictionary[Pool, dict[bytes | None, _Result]] = WeakKeyDictionary()
"""By pool and job: the results on which two processes agreed."""
_MAX_KNOWN = 10_000
"""Number of jobs of a pool whose results are known; more displace the oldest."""
_MAX_KNOWN_BYTES = 1 << 20
"""Maximum size of a payload that is compared with earlier ones."""


def _fingerprint(task: Task, kind: ZygoteKind) -> bytes | None:
    """Return a digest of all that a worker is sent for a task, except its cores; None if that is large."""
    payload, digest = task.payload, blake2b()
    if payload is not None:
        if payload.size_bytes > _MAX_KNOWN_BYTES:
            return None
        digest.update(content_of(payload.fd))
    message = counting_job(task, first_fresh(task.order)).message
    digest.update(repr((replace(kind, draw=""), message)).encode("utf-8", "surrogateescape"))
    return digest.digest()


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
            return tuple(self._counted_one(order, built[n], task, kind) for n, order in enumerate(orders))
        except ProfkitError as error:
            _LOG.warning(
                "the control statements were not counted, so instruction counts of this environment cannot "
                "be compared with those of others: %s",
                error,
            )
            return ()

    def _counted_one(
        self, order: WorkOrder, library: Path | MeasuringError, task: Task, kind: ZygoteKind
    ) -> ControlCount:
        if isinstance(library, MeasuringError):
            raise library
        found = count(Task(order, library=library, preload=task.preload), kind, self._context)
        return ControlCount(order.label, found.stripped)


def _order(name: str, stmt: str, like: WorkOrder) -> WorkOrder:
    """Return a control in the environment of an order, whose zygote counts it."""
    return WorkOrder(
        label=name, stmt=stmt, global_setup=_FIXED, mode=Mode.CALLGRIND, language=Language.CPP,
        level=Level.FUNCTION, num_threads=like.num_threads, number=10, timeout_s=like.timeout_s,
        source_cmd=like.source_cmd, python=like.python, env=like.env, simulate=like.simulate,
    )  # fmt: skip


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
    processes = 1 if task.order.runs is not None else task.order.processes or 1
    counts += [_count_once(same, kind, context, cores) for _ in range(1, processes)]
    return together(counts)


def _count_once(
    task: Task, kind: ZygoteKind, context: BatchContext, cores: tuple[int, ...]
) -> InstructionCounts:
    def ask(known: Sequence[Fresh]) -> Reply:
        return context.attempt(kind, counting_job(task, known[0], cores), task.order.retries)

    reply = settled(task.order.label, [first_fresh(task.order)], ask)
    return counts_of(task.order.label, reply)


def with_python_functions(
    counts: InstructionCounts,
    task: Task,
    kind: ZygoteKind,
    context: BatchContext,
    cores: tuple[int, ...] = (),
) -> InstructionCounts:
    """Return the counts with those by Python function, or with the reason why there are none.

    `kind` is that of the zygote that counted the instructions. A failure here does not fail the order.
    """
    if not counts_python(task.order):
        return counts
    if missing := too_old(counts.measured_in.python):
        return replace(counts, python=missing)
    warm = _WARM if counts.net <= _SHORT else _WARM_IF_LONG
    freshness = counts.freshness  # executions get their state as they did when they were counted
    fresh: Fresh = {**UNDECIDED, "decided": freshness.fresh, "changes": list(freshness.changes)}
    same = replace(task, order=replace(task.order, number=counts.number))
    job = counting_job(same, fresh, cores, warm=warm, by_function=True)
    try:
        reply = context.attempt(replace(kind, by_function=True, simulate=()), job, task.order.retries)
        return replace(counts, python=python_counts_of(task.order.label, reply))
    except MeasuringError as error:
        return replace(counts, python=PythonCounts(missing=str(error).partition("\n")[0]))


def too_old(python: str) -> PythonCounts | None:
    """Return why a version of Python cannot be counted by Python function; None if it can."""
    if tuple(int(part) for part in python.split(".")[:2]) >= HAS_TRAMPOLINE:
        return None
    return PythonCounts(missing=f"this needs Python {'.'.join(map(str, HAS_TRAMPOLINE))} or later")
