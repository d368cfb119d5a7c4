"""Outcomes of the work orders in a batch, and the runs that are kept of them."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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
from profkit.model.run import ID_DIGITS
from profkit.process.manifest import process_info
from profkit.process.procfs import machine_kind
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
    run, batch, process = uuid4().hex[:ID_DIGITS], uuid4().hex[:12], process_info()
    return MeasuredInfo(run, batch, started_ns, duration_s, process, order, machine=machine_kind())


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


class OrderResult:
    """Results of one order of a batch so far, and the time that its processes take."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.counts: InstructionCounts | None = None
        self.timing: Timing | None = None
        self.outcome: Outcome | None = None
        """None while more results are to come."""
        self.started_ns: int | None = None
        """Start of its first process; None before it."""
        self.spent_s = 0.0
        """Wall time of its processes that have ended, without the pauses in between."""
        self.since_s: float | None = None
        """Start of the running process; None if there is none."""


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
        self.orders = tuple(map(OrderResult, tasks))
        self._batch, self._workers, self._clock, self._finished = batch, workers, clock, finished
        self._process = process_info()
        self._lock = threading.Lock()

    def outcomes(self) -> tuple[Outcome, ...]:
        """Return the outcomes so far, in the sequence of the tasks."""
        return tuple(one.outcome for one in self.orders if one.outcome is not None)

    def fail(self, one: OrderResult, error: MeasuringError) -> None:
        """Record why an order has no numbers."""
        self._close(one, failed(self._info(one), error))

    def counted(self, one: OrderResult, counts: InstructionCounts) -> None:
        """Record an order's instruction counts."""
        one.counts = counts
        self._close_if_whole(one)

    def timed(self, one: OrderResult, timing: Timing) -> None:
        """Record an order's times."""
        one.timing = timing
        self._close_if_whole(one)

    @contextmanager
    def working_on(self, group: Sequence[OrderResult]) -> Iterator[None]:
        """Add the body's time to that of these orders; if it raises MeasuringError, they fail with it."""
        for one in group:
            one.started_ns = self._clock.unix_ns() if one.started_ns is None else one.started_ns
            one.since_s = self._clock.monotonic_s()
        try:
            yield
        except MeasuringError as error:
            for one in group:
                self.fail(one, error)
        finally:
            for one in group:
                one.spent_s, one.since_s = self._took_s(one), None

    def _close_if_whole(self, one: OrderResult) -> None:
        order, counts, timing = one.task.order, one.counts, one.timing
        if (counts is None) == order.mode.counts or (timing is None) == order.mode.times:
            return
        warnings = () if timing is None else timing_warnings(order, timing, self._workers)
        warnings += () if counts is None else count_warnings(counts)
        self._close(one, Outcome(run_of(self._info(one), timing, counts, warnings)))

    def _close(self, one: OrderResult, outcome: Outcome) -> None:
        with self._lock:
            one.outcome = outcome
            self._finished(outcome)

    def _took_s(self, one: OrderResult) -> float:
        return one.spent_s + (0.0 if one.since_s is None else self._clock.monotonic_s() - one.since_s)

    def _info(self, one: OrderResult) -> MeasuredInfo:
        now_ns, tree, process = self._clock.unix_ns(), one.task.order.tree, self._process
        return MeasuredInfo(
            id=uuid4().hex[:ID_DIGITS],
            batch=self._batch,
            started_ns=now_ns if one.started_ns is None else one.started_ns,
            duration_s=self._took_s(one),
            process=process if tree is None else replace(process, git_commit=tree.commit),
            order=order_info(one.task),
            ended_ns=now_ns,
            machine=machine_kind(),
        )
