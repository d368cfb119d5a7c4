"""Outcomes of the work orders in a batch, and the runs that are kept of them."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import uuid4

from profkit.clock import Clock
from profkit.errors import MeasuringError
from profkit.measuring.orders import identity
from profkit.measuring.runner.jobs import Task
from profkit.measuring.transfer.payload import what_and_where
from profkit.measuring.warnings import count_warnings, timing_warnings
from profkit.model.measurement import (
    InstructionCounts,
    MeasuredIn,
    MeasuredInfo,
    MeasuredRun,
    Measurement,
    MeasurementWarning,
    OrderInfo,
    Preload,
    Timing,
    Tool,
)
from profkit.process.manifest import process_info
from profkit.process.redaction import secret_rule

HERE = MeasuredIn(Tool.NONE, Preload.NOTHING, sys.version.split()[0], isolated=False)
"""Environment of times that are taken in this process."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """An order's run, and the error if it has no numbers."""

    run: MeasuredRun
    error: MeasuringError | None = None


def run_info(order: OrderInfo, started_ns: int, duration_s: float) -> MeasuredInfo:
    """Return the info of a run that this process measured alone, without its figures."""
    return MeasuredInfo(uuid4().hex[:10], uuid4().hex[:12], started_ns, duration_s, process_info(), order)


def run_of(
    info: MeasuredInfo,
    timing: Timing | None,
    counts: InstructionCounts | None,
    warnings: tuple[MeasurementWarning, ...],
) -> MeasuredRun:
    """Return the run with these figures."""
    found = Measurement(info.order, timing, counts, warnings)
    figures = replace(
        info,
        min_s=found.min_s,
        median_s=found.median_s,
        instructions=None if counts is None else counts.stripped,
        warnings=warnings,
    )
    return MeasuredRun(figures, found)


def failed(info: MeasuredInfo, error: MeasuringError) -> Outcome:
    """Return the outcome of an order that failed."""
    return Outcome(MeasuredRun(replace(info, error=str(error))), error)


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
    return what_and_where(order.function, order.args, order.kwargs)


def duplicates(tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return labels of orders that are identical, so that their results could not be distinguished."""
    times = Counter(identity(task.order) for task in tasks)
    return tuple(dict.fromkeys(task.order.label for task in tasks if times[identity(task.order)] > 1))


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
        self._close(index, failed(self._info(index), error))

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
        order = self.tasks[index].order
        counts, timing = self._counts.get(index), self._timings.get(index)
        if (counts is None) == order.mode.counts or (timing is None) == order.mode.times:
            return
        warnings = () if timing is None else timing_warnings(order, timing, self._workers)
        warnings += () if counts is None else count_warnings(counts)
        self._close(index, Outcome(run_of(self._info(index), timing, counts, warnings)))

    def _close(self, index: int, outcome: Outcome) -> None:
        with self._lock:
            self._outcomes[index] = outcome
            self._finished(outcome)

    def _info(self, index: int) -> MeasuredInfo:
        task, span = self.tasks[index], self._spans.get(index) or _Span(self._clock)
        tree, process = task.order.tree, self._process
        return MeasuredInfo(
            id=uuid4().hex[:10],
            batch=self._batch,
            started_ns=span.started_ns,
            duration_s=span.duration_s,
            process=process if tree is None else replace(process, git_commit=tree.commit),
            order=order_info(task),
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
        under_way_s = 0.0 if self._since_s is None else self._clock.monotonic_s() - self._since_s
        return self._spent_s + under_way_s

    def begin(self) -> None:
        self._since_s = self._clock.monotonic_s()

    def end(self) -> None:
        self._spent_s, self._since_s = self.duration_s, None
