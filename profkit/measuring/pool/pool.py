"""Pool: takes jobs and returns futures; starts, keeps, replaces and ends zygotes.

Each kind of zygote has a queue of jobs with its own thread, so jobs of one kind run one after the
other, and those of two kinds side by side. No process here is a child of this one, and none outlives it.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import threading
import weakref
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import MeasuringError
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.jobs import Job, Reply, ZygoteFacts
from profkit.measuring.pool.launching import Launcher
from profkit.measuring.pool.queue import JobQueue, PoolResources, QueuedJob

_IDLE_S = 300.0


@dataclass(frozen=True, slots=True)
class ReadyZygote:
    """A zygote that is ready for jobs."""

    kind: ZygoteKind
    pid: int
    facts: ZygoteFacts


class Pool:
    """Zygotes and their jobs; any thread may use it. Closed at exit, if not before.

    In a forked process it is empty.
    """

    def __init__(self, clock: Clock = SYSTEM_CLOCK, idle_s: float = _IDLE_S) -> None:
        self._clock, self._idle_s = clock, idle_s
        self._serials = itertools.count(1)
        self._begin()
        _POOLS.add(self)

    def _begin(self) -> None:
        self._lock = threading.RLock()  # callbacks of futures that a close cancels may call the pool
        self._closed = False
        self._queues: dict[ZygoteKind, JobQueue] = {}
        self._retiring: list[JobQueue] = []
        self._resources = PoolResources(
            self._lock, Launcher(), self._clock, self._idle_s, lambda: next(self._serials)
        )

    def warm(self, kinds: Iterable[ZygoteKind]) -> None:
        """Start zygotes in the background; if they fail, their first jobs raise the error."""
        for kind in kinds:
            with self._lock:
                self._queue(kind).warm()

    def submit(self, kind: ZygoteKind, job: Job) -> Future[Reply]:
        """Queue a job behind the others of its kind; return at once.

        The future raises WorkerFailed, WorkerDied, WorkerTimeout, MemoryExceeded, ZygoteFailed or
        ToolMissing, and CancelledError if the job was dropped or the pool closed. A zygote that dies is
        replaced, and the job repeated.
        """
        queued = QueuedJob(job)
        with self._lock:
            queue = self._queue(kind)
            queue.add(queued)
        queue.run_waiting()
        return queued.future

    def drop(self, future: Future[Reply]) -> None:
        """Cancel a job, also one that runs; the future is done when all its processes are gone."""
        if not future.cancel():
            with self._lock:
                any(queue.drop(future) for queue in self._open_queues())

    def retire(self, kinds: Iterable[ZygoteKind]) -> None:
        """End zygotes in the background, once they have done their waiting jobs; later jobs get others."""
        with self._lock:
            self._retiring = [queue for queue in self._retiring if queue.open]
            for kind in kinds:
                queue = self._queues.pop(kind, None)
                if queue is not None and queue.open:
                    queue.retire()
                    self._retiring.append(queue)

    def zygotes(self) -> tuple[ReadyZygote, ...]:
        """Return the zygotes that are ready for jobs."""
        with self._lock:
            serving = [(queue.kind, queue.zygote) for queue in self._queues.values() if queue.open]
        return tuple(
            ReadyZygote(kind, zygote.pid, zygote.facts)
            for kind, zygote in serving
            if zygote is not None and zygote.pid
        )

    def close(self) -> None:
        """End all zygotes and wait until they are gone; later calls do nothing."""
        with self._lock:
            self._closed = True
            threads = [queue.thread for queue in (*self._queues.values(), *self._retiring)]
            for queue in self._open_queues():
                queue.close()
        for thread in threads:
            if thread is not None and thread is not threading.current_thread():
                thread.join()
        self._resources.launcher.close()

    @property
    def closed(self) -> bool:
        """True if it takes no more jobs."""
        return self._closed

    def _queue(self, kind: ZygoteKind) -> JobQueue:
        if self._closed:
            raise RuntimeError("this pool is closed")
        with contextlib.suppress(MeasuringError, OSError):  # the job's future will raise it
            self._resources.launcher.start()
        queue = self._queues.get(kind)
        if queue is None or not queue.open:
            queue = self._queues[kind] = JobQueue(kind, self._resources)
        return queue

    def _open_queues(self) -> list[JobQueue]:
        return [queue for queue in (*self._queues.values(), *self._retiring) if queue.open]

    def forget(self) -> None:
        """Reset in a forked process: the zygotes are the parent's."""
        for queue in self._open_queues():
            queue.forget()
        self._resources.launcher.forget()
        self._begin()


_POOLS: weakref.WeakSet[Pool] = weakref.WeakSet()
_LOCK = threading.Lock()
_process_pool: Pool | None = None


def process_pool() -> Pool:
    """Return the pool of this process; make one at first use or after its close. Closed at exit."""
    global _process_pool
    with _LOCK:
        if _process_pool is None or _process_pool.closed:
            _process_pool = Pool()
        return _process_pool


def close_all() -> None:
    """Close every pool of this process."""
    for pool in list(_POOLS):
        pool.close()


def _after_fork() -> None:
    global _LOCK
    _LOCK = threading.Lock()
    for pool in list(_POOLS):
        pool.forget()


# At import, so that functions registered later, which may wait for jobs, run before it.
atexit.register(close_all)
os.register_at_fork(after_in_child=_after_fork)
