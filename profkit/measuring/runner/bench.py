"""The bench on which a batch of orders is measured: its pool, its progress, how a process is tried again."""

from __future__ import annotations

from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager, nullcontext
from uuid import uuid4

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import WorkerTimeout
from profkit.measuring.pool.jobs import Job, Reply
from profkit.measuring.pool.kinds import ZygoteKind
from profkit.measuring.pool.pool import Pool
from profkit.measuring.runner.cores import CorePool
from profkit.measuring.runner.progress import Progress
from profkit.model.measurement import Manner


class Bench:
    """What all orders of a batch share."""

    def __init__(
        self,
        pool: Pool,
        progress: Progress,
        workers: int = 1,
        clock: Clock = SYSTEM_CLOCK,
        manner: Manner = Manner.APART,
    ) -> None:
        self.pool, self.progress, self.workers, self.clock = pool, progress, workers, clock
        self.manner, self.batch = manner, manner.batch(uuid4().hex[:12])
        self._cores = CorePool()
        self._running: set[Future[Reply]] = set()

    def cores(self, count: int) -> AbstractContextManager[tuple[int, ...]]:
        """Cores to bind a worker to. A single one is left to the scheduler, which knows the busy ones."""
        return nullcontext(()) if self.workers == 1 else self._cores.lend(count)

    def attempt(self, kind: ZygoteKind, job: Job, retries: int) -> Reply:
        """A job's reply; tried again where it ran out of time, and only there. Raises MeasuringError.

        An interrupt ends the job, with everything that it started, before it goes on.
        """
        for tries in range(1, retries + 2):
            try:
                return self._once(kind, job)
            except WorkerTimeout as late:
                last = WorkerTimeout(job.label, job.timeout_s, tries, late.output)
        raise last

    def stop(self) -> None:
        """End what is running; the threads that wait for it are interrupted."""
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
