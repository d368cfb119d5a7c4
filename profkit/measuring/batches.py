"""Batches of orders: preparing them, measuring one at a time, and the thread for those in background."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from typing import TextIO, TypeVar

from profkit.errors import InvalidOption, UsageError
from profkit.measuring.orders import check
from profkit.measuring.packed_orders import with_payload
from profkit.measuring.pool.pool import Pool, process_pool
from profkit.measuring.runner.context import BatchContext, with_libraries
from profkit.measuring.runner.jobs import Task
from profkit.measuring.runner.outcomes import Outcome, duplicates
from profkit.measuring.runner.placement import preload_of
from profkit.measuring.runner.progress import Progress, ProgressLine
from profkit.measuring.runner.run import run_tasks
from profkit.model.measurement import Design, MeasuredRun

_T = TypeVar("_T")


class Background:
    """Daemon thread that does submitted work in order; it starts with the first item."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start over without a thread, as needed in a forked child."""
        self.turn = threading.Lock()
        """Held by the batch that is being measured: two batches would disturb each other's times."""
        self._items: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, work: Callable[[], _T]) -> Future[_T]:
        """Return the future of `work()`; run it at once in the caller if no thread can start any more."""
        future: Future[_T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 - the future carries it
                future.set_exception(error)

        if self._started():
            self._items.put(run)
        else:
            run()
        return future

    def _started(self) -> bool:
        with self._lock:
            if self._thread is None:
                thread = threading.Thread(target=self._serve, name="profkit-measure", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # the interpreter is ending, or the system has no threads left
                    return False
                self._thread = thread
            return True

    def _serve(self) -> None:
        while True:
            self._items.get()()


BACKGROUND = Background()
os.register_at_fork(after_in_child=BACKGROUND.begin)


def progress_display(given: TextIO | Progress | None) -> Progress:
    """Return a given Progress, or a progress line for a stream; it shows nothing for None."""
    return given if isinstance(given, Progress) else ProgressLine(given)


def measured(
    given: Sequence[Task],
    workers: int = 1,
    design: Design = Design.SEPARATE,
    progress: TextIO | Progress | None = None,
    keep: Callable[[MeasuredRun], None] | None = None,
    pool: Pool | None = None,
) -> tuple[Outcome, ...]:
    """Measure a batch after those before it; then close its payloads. By default in this process's pool.

    Raises `UsageError` before anything starts.
    """
    with ExitStack() as stack:
        tasks = prepared(given, workers, design, stack)
        stack.enter_context(BACKGROUND.turn)
        context = BatchContext(pool or process_pool(), progress_display(progress), workers, design=design)
        tasks = with_libraries(tasks, context)
        return run_tasks(tasks, context, lambda outcome: keep(outcome.run) if keep else None)


def prepared(given: Sequence[Task], workers: int, design: Design, stack: ExitStack) -> list[Task]:
    """Return the tasks with their payloads, which `stack` closes; raise `UsageError` for an invalid batch."""
    if workers < 1:
        raise InvalidOption("workers", workers, "give 1 or more")
    tasks = [_prepared(task, stack) for task in given]
    if twice := duplicates([task for task in tasks if task.error is None]):
        named = ", ".join(map(repr, twice))
        raise UsageError(f"these orders occur twice: {named}", "give them different labels")
    if design is Design.INTERLEAVED and sum(task.payload is not None for task in tasks) > 1:
        raise UsageError("two callables cannot be interleaved", "measure statements that import them")
    return tasks


def _prepared(task: Task, stack: ExitStack) -> Task:
    if task.error is not None:
        return task
    check(task.order)
    task = with_payload(task)
    if task.payload is not None:
        stack.callback(task.payload.close)
    return replace(task, preload=preload_of(task.order, task.payload))
