"""Context that the steps of a batch share: pool, cores, progress, C++ libraries, parallel work."""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TypeVar
from uuid import uuid4

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import MeasuringError, WorkerTimeout
from profkit.measuring.cpp.building import libraries_for
from profkit.measuring.cpp.source import needs_torch
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.jobs import Job, Reply
from profkit.measuring.pool.pool import Pool
from profkit.measuring.runner.jobs import Task
from profkit.measuring.runner.placement import CorePool, preload_of
from profkit.measuring.runner.progress import COMPILING, Progress
from profkit.model.measurement import Design
from profkit.model.workorder import Language

_T = TypeVar("_T")


def spread(
    items: Sequence[_T], workers: int, work: Callable[[_T, int], None], stop: Callable[[], None]
) -> None:
    """Call `work(item, worker)` for each item, with the number of a free worker.

    An exception of a call is raised here after `stop`, which must make the running calls end soon.
    """
    if min(workers, len(items)) <= 1:
        for item in items:
            work(item, 0)
        return
    free: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(workers):
        free.put(number)

    def one(item: _T) -> None:
        number = free.get()
        try:
            work(item, number)
        finally:
            free.put(number)

    with ThreadPoolExecutor(workers, thread_name_prefix="profkit-measure") as threads:
        futures = [threads.submit(one, item) for item in items]
        try:
            for future in futures:
                future.result()
        except BaseException:
            for future in futures:
                future.cancel()
            stop()
            raise


class BatchContext:
    """Resources and settings that all orders of a batch share."""

    def __init__(
        self,
        pool: Pool,
        progress: Progress,
        workers: int = 1,
        clock: Clock = SYSTEM_CLOCK,
        design: Design = Design.SEPARATE,
    ) -> None:
        self.pool, self.progress, self.workers, self.clock = pool, progress, workers, clock
        self.design, self.batch = design, design.batch(uuid4().hex[:12])
        self._cores = CorePool()
        self._running: set[Future[Reply]] = set()

    def cores(self, count: int) -> AbstractContextManager[tuple[int, ...]]:
        """Lend cores for a worker; none to a single worker: the scheduler knows the busy ones."""
        return nullcontext(()) if self.workers == 1 else self._cores.lend(count)

    def attempt(self, kind: ZygoteKind, job: Job, retries: int) -> Reply:
        """Run a job and return its reply; retry only if it ran out of time. Raises MeasuringError.

        An interrupt ends the job, with everything that it started, before it propagates.
        """
        for tries in range(1, retries + 2):
            try:
                return self._once(kind, job)
            except WorkerTimeout as timeout:
                last = WorkerTimeout(job.label, job.timeout_s, tries, timeout.output)
        raise last

    def stop(self) -> None:
        """End running jobs; the threads that wait for them are interrupted."""
        for future in tuple(self._running):
            self.pool.drop(future)

    def _once(self, kind: ZygoteKind, job: Job) -> Reply:
        future = self.pool.submit(kind, job)
        self._running.add(future)
        try:
            return future.result()
        except CancelledError as dropped:
            raise KeyboardInterrupt from dropped
        except KeyboardInterrupt:
            self.pool.drop(future)
            raise
        finally:
            self._running.discard(future)


def with_libraries(tasks: Sequence[Task], context: BatchContext) -> list[Task]:
    """Return the tasks, those in C++ with their shared objects, or with the errors of compiling them."""
    indexes = [
        index
        for index, task in enumerate(tasks)
        if task.order.language is Language.CPP and task.error is None
    ]
    if not indexes:
        return list(tasks)
    shown_total = shown_done = 0

    def show(done: int, total: int, label: str) -> None:
        nonlocal shown_total, shown_done
        context.progress.begin(total - shown_total, COMPILING)
        for _ in range(done - shown_done):
            context.progress.done(f"compiling {label}", COMPILING)
        shown_total, shown_done = total, done
        context.progress.at_work(f"compiling {label}")

    built = libraries_for([tasks[index].order for index in indexes], progress=show)
    compiled = list(tasks)
    for n, index in enumerate(indexes):
        task, library = tasks[index], built[n]
        if isinstance(library, MeasuringError):
            compiled[index] = replace(task, error=library)
        else:
            preload = preload_of(task.order, torch_library=needs_torch(task.order))
            compiled[index] = replace(task, library=library, preload=preload)
    return compiled
