"""What became of an order, as the run that is kept of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from profkit.errors import MeasuringError
from profkit.measuring.orders import identity
from profkit.measuring.quality import count_doubts, timing_doubts
from profkit.measuring.runner.jobs import Task
from profkit.measuring.travel.parcel import what_of
from profkit.measuring.worker.unpack import plain
from profkit.model.measurement import (
    InstructionCounts,
    MeasuredInfo,
    MeasuredRun,
    Measurement,
    OrderInfo,
    Timing,
)
from profkit.model.region import code_of
from profkit.model.session import ProcessInfo
from profkit.process.redaction import secret_rule


@dataclass(frozen=True, slots=True)
class Outcome:
    """An order's run, and the error where it has no numbers."""

    run: MeasuredRun
    error: MeasuringError | None = None


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Under what an order was measured."""

    batch: str
    started_ns: int
    duration_s: float
    process: ProcessInfo
    workers: int = 1
    notes: tuple[str, ...] = ()
    ended_ns: int = 0


def measured(
    task: Task, around: Circumstances, timing: Timing | None, counts: InstructionCounts | None
) -> Outcome:
    """The outcome of an order that gave its numbers."""
    order = order_info(task)
    doubts = () if timing is None else timing_doubts(task.order, timing, around.workers)
    doubts += () if counts is None else count_doubts(counts)
    found = Measurement(order, timing, counts, doubts)
    info = replace(
        _info(task, order, around),
        min_s=found.min_s,
        median_s=found.median_s,
        instructions=None if counts is None else counts.stripped,
        doubts=doubts,
    )
    return Outcome(MeasuredRun(info, found))


def failed(task: Task, around: Circumstances, error: MeasuringError) -> Outcome:
    """The outcome of an order that gave none."""
    info = replace(_info(task, order_info(task), around), error=str(error))
    return Outcome(MeasuredRun(info), error)


def _info(task: Task, order: OrderInfo, around: Circumstances) -> MeasuredInfo:
    tree = task.order.tree
    return MeasuredInfo(
        id=uuid4().hex[:10],
        batch=around.batch,
        started_ns=around.started_ns,
        duration_s=around.duration_s,
        process=around.process if tree is None else replace(around.process, git_commit=tree.commit),
        order=order,
        notes=around.notes,
        ended_ns=around.ended_ns,
    )


def order_info(task: Task) -> OrderInfo:
    """What is kept of an order: everything but what cannot be written down."""
    order = task.order
    what, file, line = _what_and_where(task)
    rule = secret_rule()
    return OrderInfo(
        label=order.label,
        what=what,
        setup=order.setup,
        global_setup=order.global_setup,
        mode=order.mode,
        language=order.language,
        level=order.level,
        num_threads=order.num_threads,
        quick=order.quick,
        labels=order.labels,
        source_cmd=rule.argv(order.source_cmd),
        env=rule.variables(order.env),
        file=file,
        line=line,
        python=order.python or "",
    )


def _what_and_where(task: Task) -> tuple[str, str, int]:
    """The statement; or the call, and the file and line of its function."""
    order, parcel = task.order, task.parcel
    if parcel is not None:
        return parcel.what, parcel.file, parcel.line
    if order.function is None:
        return order.stmt or "", "", 0
    code = code_of(plain(order.function))
    what = what_of(order.function, order.args, order.kwargs)
    return (what, code.co_filename, code.co_firstlineno) if code else (what, "", 0)


def duplicates(tasks: Sequence[Task]) -> tuple[str, ...]:
    """Labels of orders that nothing tells apart: their results could not be told apart either."""
    seen: set[object] = set()
    twice = []
    for task in tasks:
        key = identity(task.order)
        if key in seen:
            twice.append(task.order.label)
        seen.add(key)
    return tuple(dict.fromkeys(twice))
