"""Public functions: `measure`, `measure_all`, `submit`, `wait`, `warm_pool`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import TextIO, TypeVar, Unpack

from profkit.config import CONFIG
from profkit.measuring.batches import BACKGROUND, measured, progress_display
from profkit.measuring.fleet.executor import measure_on
from profkit.measuring.orders import MeasureOptions, check, work_order
from profkit.measuring.pool.pool import process_pool
from profkit.measuring.runner.counting import callgrind_kind
from profkit.measuring.runner.in_process import check_here, run_here
from profkit.measuring.runner.jobs import Task
from profkit.measuring.runner.outcomes import Outcome
from profkit.measuring.runner.placement import preload_of
from profkit.measuring.runner.progress import Progress
from profkit.measuring.runner.run import timer_kinds
from profkit.measuring.transfer.payload import Payload
from profkit.model.measurement import Design, MeasuredRun, Measurement
from profkit.model.workorder import WorkOrder
from profkit.store.measured import keep_measured

_T = TypeVar("_T")


def wait(
    scope: MutableMapping[str, object] | Iterable[Future[_T]], progress: TextIO | Progress | None = None
) -> tuple[_T, ...]:
    """Wait for futures and return their results; those in a mapping are replaced by their results.

    `progress` is a stream, such as `sys.stderr`, for a line that shows how many are done, or a Progress that
    is called for each future with its key or number. When all are done, raises the first future's error.
    """
    display = progress_display(progress)
    named: list[tuple[str, Future[_T]]]
    if isinstance(scope, MutableMapping):
        named = [(name, value) for name, value in scope.items() if isinstance(value, Future)]
    else:
        named = [(str(number), future) for number, future in enumerate(scope, 1)]
    display.begin(len(named))
    try:
        for name, future in named:
            display.at_work(name)
            future.exception()
            display.done(name)
    finally:
        display.end()
    results = tuple(future.result() for _, future in named)
    if isinstance(scope, MutableMapping):
        scope.update({name: result for (name, _), result in zip(named, results, strict=True)})
    return results


_LOG = logging.getLogger("profkit")


def measure(
    stmt: str | Callable[..., object],
    /,
    *,
    keep: bool = True,
    isolated: bool = True,
    **options: Unpack[MeasureOptions],
) -> Measurement:
    """Time a statement or a callable, or count its instructions, in separate processes.

    The options are those of `work_order`. The result is kept as a run, unless `keep=False`. With
    `isolated=False` it is timed in this process, and the measurement says so. Raises `UsageError` before
    anything starts, and `MeasuringError` if there is no result.
    """
    order, kept = work_order(stmt, **options), keeper(CONFIG.spool) if keep else None
    outcome = measured([Task(order)], keep=kept)[0] if isolated else _measured_here(order, kept)
    if outcome.error is not None:
        raise outcome.error
    assert outcome.run.measurement is not None
    return outcome.run.measurement


def measure_all(
    orders: Iterable[WorkOrder],
    *,
    workers: int = 1,
    interleaved: bool = False,
    progress: TextIO | Progress | None = None,
    keep: bool = True,
    spool: Path = CONFIG.spool,
    executor: Executor | None = None,
) -> tuple[MeasuredRun, ...]:
    """Measure orders, one after the other, and return their runs in the same order.

    An order that fails has a run with an error; the others go on. `workers` orders are measured at once,
    each on its own cores: faster, but less exact. `interleaved` times orders that share an environment in
    the same processes, block by block in random order: use it to compare. `progress` is a stream for a
    progress line. Runs are kept in `spool`. With an `executor`, its workers measure: one job at a time on
    each machine, and orders of one label on one machine. Raises `UsageError` before anything starts.
    """
    tasks, kept = [Task(order) for order in orders], keeper(spool) if keep else None
    design = Design.INTERLEAVED if interleaved else Design.SEPARATE
    return measure_packed(
        tasks, workers=workers, design=design, progress=progress, keep=kept, executor=executor
    )


def measure_packed(
    tasks: Sequence[Task],
    *,
    workers: int = 1,
    design: Design = Design.SEPARATE,
    progress: TextIO | Progress | None = None,
    keep: Callable[[MeasuredRun], None] | None = None,
    executor: Executor | None = None,
) -> tuple[MeasuredRun, ...]:
    """Measure orders as `measure_all` does; close the payloads when all is done.

    A function without a payload is packed now. `keep` is called with each run as soon as it is measured.
    """
    if executor is not None:
        return measure_on(executor, tasks, workers, design, progress, keep)
    return tuple(outcome.run for outcome in measured(tasks, workers, design, progress, keep))


def measure_here(
    order: WorkOrder,
    names: dict[str, object] | None = None,
    *,
    keep: Callable[[MeasuredRun], None] | None = None,
) -> MeasuredRun:
    """Time an order in this thread and return its run; an error of the order is in it.

    `names` are those that its statement reads. A function gets its own arguments, without copies. Raises
    `UsageError` for options that need a process of its own.
    """
    return _measured_here(order, keep, names).run


def submit(order: WorkOrder, payload: Payload | None = None, *, keep: bool = True) -> Future[MeasuredRun]:
    """Measure an order in the background and return its run's future; then close `payload`.

    `payload` replaces the order's function and arguments with those packed in it. Errors of the order are in
    its run; the future fails only for other errors.
    """
    check(order)
    task, kept = Task(order, payload), keeper(CONFIG.spool) if keep else None
    return BACKGROUND.submit(lambda: measured([task], keep=kept)[0].run)


def warm_pool(*stmts: str | Callable[..., object], **options: Unpack[MeasureOptions]) -> None:
    """Start the zygotes that statements like these need in the background, and return at once."""
    for stmt in stmts or ("pass",):
        order = work_order(stmt, **options)
        task = Task(order, preload=preload_of(order))
        counting = [callgrind_kind(task, 0)] if order.mode.counts else []
        process_pool().warm([*counting, *(timer_kinds(task, 0) if order.mode.times else ())])


def _measured_here(
    order: WorkOrder, keep: Callable[[MeasuredRun], None] | None, names: dict[str, object] | None = None
) -> Outcome:
    check_here(order)
    with BACKGROUND.turn:
        outcome = run_here(order, names)
        if keep is not None:
            keep(outcome.run)
        return outcome


def keeper(spool: Path) -> Callable[[MeasuredRun], None]:
    """Return a function that keeps runs in a spool, and logs a warning for one that it cannot keep."""

    def kept(run: MeasuredRun) -> None:
        try:
            keep_measured(spool, run)
        except OSError as error:  # the caller still gets the measurement
            _LOG.warning("the run of %r was not kept: %s", run.info.label, error)

    return kept
