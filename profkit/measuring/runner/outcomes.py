"""Outcomes of the work orders in a batch, and the runs that are kept of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import uuid4

from profkit.clock import Clock
from profkit.errors import MeasuringError
from profkit.measuring.orders import identity
from profkit.measuring.runner.jobs import Task
from profkit.measuring.transfer.payload import what_of
from profkit.measuring.warnings import count_warnings, timing_warnings
from profkit.measuring.worker.unpack import plain
from profkit.model.measurement import (
    InstructionCounts,
    MeasuredInfo,
    MeasuredRun,
    Measurement,
    OrderInfo,
    Timing,
)
from profkit.model.notes import Note
from profkit.model.region import code_of
from profkit.model.session import ProcessInfo
from profkit.process.manifest import process_info
from profkit.process.redaction import secret_rule


@dataclass(frozen=True, slots=True)
class Outcome:
    """An order's run, and the error if it has no numbers."""

    run: MeasuredRun
    error: MeasuringError | None = None


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Circumstances of an order's measurement."""

    batch: str
    started_ns: int
    duration_s: float
    process: ProcessInfo
    workers: int = 1
    notes: tuple[Note, ...] = ()
    ended_ns: int = 0


def measured(
    task: Task, around: Circumstances, timing: Timing | None, counts: InstructionCounts | None
) -> Outcome:
    """Return the outcome of an order that was measured."""
    order = order_info(task)
    warnings = () if timing is None else timing_warnings(task.order, timing, around.workers)
    warnings += () if counts is None else count_warnings(counts)
    found = Measurement(order, timing, counts, warnings)
    info = replace(
        _info(task, order, around),
        min_s=found.min_s,
        median_s=found.median_s,
        instructions=None if counts is None else counts.stripped,
        warnings=warnings,
    )
    return Outcome(MeasuredRun(info, found))


def failed(task: Task, around: Circumstances, error: MeasuringError) -> Outcome:
    """Return the outcome of an order that failed."""
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
    """Return the parts of an order that can be stored."""
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
    """Return the statement; or the call, and the file and line of its function."""
    order, payload = task.order, task.payload
    if order.stmt is not None:
        return order.stmt, "", 0
    if payload is not None:
        return payload.what, payload.file, payload.line
    if order.function is None:  # it could not be sent here to be measured
        return "", "", 0
    code = code_of(plain(order.function))
    what = what_of(order.function, order.args, order.kwargs)
    return (what, code.co_filename, code.co_firstlineno) if code else (what, "", 0)


def duplicates(tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return labels of orders that are identical, so that their results could not be distinguished."""
    seen: set[object] = set()
    twice = []
    for task in tasks:
        key = identity(task.order)
        if key in seen:
            twice.append(task.order.label)
        seen.add(key)
    return tuple(dict.fromkeys(twice))


class BatchResults:
    """Results of a batch so far; `finished` is called with each outcome as soon as it is complete.

    Any thread may write; `finished` is called by one at a time.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        batch: str,
        workers: int,
        clock: Clock,
        finished: Callable[[Outcome], None],
    ) -> None:
        self.tasks = tuple(tasks)
        self._batch, self._workers, self._clock, self._finished = batch, workers, clock, finished
        self._process = process_info()
        self._lock = threading.Lock()
        self._spans: dict[int, _Span] = {}
        self._counts: dict[int, InstructionCounts] = {}
        self._timings: dict[int, Timing] = {}
        self._outcomes: dict[int, Outcome] = {}

    def outcomes(self) -> tuple[Outcome, ...]:
        """Return the outcomes so far, in the sequence of the tasks."""
        return tuple(self._outcomes[index] for index in sorted(self._outcomes))

    def open_indexes(self) -> tuple[int, ...]:
        """Return the places of orders without an outcome."""
        return tuple(index for index in range(len(self.tasks)) if index not in self._outcomes)

    def fail(self, index: int, error: MeasuringError) -> None:
        """Record why an order has no numbers."""
        self._close(index, failed(self.tasks[index], self._around(index), error))

    def counted(self, index: int, counts: InstructionCounts) -> None:
        """Record an order's instruction counts."""
        self._counts[index] = counts
        self._close_if_whole(index)

    def timed(self, index: int, timing: Timing) -> None:
        """Record an order's times."""
        self._timings[index] = timing
        self._close_if_whole(index)

    @contextmanager
    def working_on(self, indexes: Iterable[int]) -> Iterator[None]:
        """Add the body's time to that of these orders; if it raises MeasuringError, they fail with it."""
        group = tuple(indexes)
        for index in group:
            self._spans.setdefault(index, _Span(self._clock)).begin()
        try:
            yield
        except MeasuringError as error:
            for index in group:
                self.fail(index, error)
        finally:
            for index in group:
                self._spans[index].end()

    def _close_if_whole(self, index: int) -> None:
        mode = self.tasks[index].order.mode
        counts, timing = self._counts.get(index), self._timings.get(index)
        if (counts is None) == (not mode.counts) and (timing is None) == (not mode.times):
            self._close(index, measured(self.tasks[index], self._around(index), timing, counts))

    def _close(self, index: int, outcome: Outcome) -> None:
        with self._lock:
            self._outcomes[index] = outcome
            self._finished(outcome)

    def _around(self, index: int) -> Circumstances:
        span = self._spans.get(index) or _Span(self._clock)
        return Circumstances(
            batch=self._batch,
            started_ns=span.started_ns,
            duration_s=span.duration_s,
            process=self._process,
            workers=self._workers,
            ended_ns=self._clock.unix_ns(),
        )


class _Span:
    """Start of an order's processes, and their total time without the pauses in between."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self.started_ns = clock, clock.unix_ns()
        self._spent_s = 0.0
        self._since_s: float | None = None

    @property
    def duration_s(self) -> float:
        """Wall time of the order's processes so far, including running ones."""
        under_way_s = 0.0 if self._since_s is None else self._clock.monotonic_s() - self._since_s
        return self._spent_s + under_way_s

    def begin(self) -> None:
        """Record that processes of the order begin."""
        self._since_s = self._clock.monotonic_s()

    def end(self) -> None:
        """Record that they ended."""
        self._spent_s, self._since_s = self.duration_s, None
