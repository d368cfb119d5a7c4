"""Pool: takes jobs and returns futures; starts, keeps, replaces and ends zygotes.

Each kind of zygote has a queue of jobs with its own thread, so jobs of one kind run one after the
other, and those of two kinds side by side. No process here is a child of this one, and none outlives it.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import logging
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import MeasuringError, WorkerError
from profkit.measuring.pool.client import Stopped, Wakeup, Zygote, ZygoteGone
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.exchange import run_job
from profkit.measuring.pool.jobs import Job, Reply
from profkit.measuring.pool.launching import Launcher, leave_signals
from profkit.originals import REAL

_IDLE_S = 300.0
_TRIES = 3
_LOG = logging.getLogger("profkit")


class Pool:
    """Zygotes and their jobs; any thread may use it. Closed at exit, if not before.

    In a forked process it is empty.
    """

    def __init__(self, clock: Clock = SYSTEM_CLOCK, idle_s: float = _IDLE_S) -> None:
        self.clock, self.idle_s = clock, idle_s
        self.serials = itertools.count(1)
        self._begin()
        _POOLS.add(self)

    def _begin(self) -> None:
        self.lock = threading.RLock()  # callbacks of futures that a close cancels may call the pool
        self.launcher = Launcher()
        self.closed = False
        """True if it takes no more jobs."""
        self._queues: dict[ZygoteKind, _JobQueue] = {}
        self._retiring: list[_JobQueue] = []

    def warm(self, kinds: Iterable[ZygoteKind]) -> None:
        """Start zygotes in the background; if they fail, their first jobs raise the error."""
        for kind in kinds:
            with self.lock:
                self._queue(kind).warm()

    def submit(self, kind: ZygoteKind, job: Job) -> Future[Reply]:
        """Queue a job behind the others of its kind; return at once.

        The future raises WorkerFailed, WorkerDied, WorkerTimeout, MemoryExceeded, ZygoteFailed or
        ToolMissing, and CancelledError if the job was dropped or the pool closed. A zygote that dies is
        replaced, and the job repeated.
        """
        queued = _QueuedJob(job)
        with self.lock:
            queue = self._queue(kind)
            queue.add(queued)
        queue.run_waiting()
        return queued.future

    def drop(self, future: Future[Reply]) -> None:
        """Cancel a job, also one that runs; the future is done when all its processes are gone."""
        if not future.cancel():
            with self.lock:
                any(queue.drop(future) for queue in self._open_queues())

    def retire(self, kinds: Iterable[ZygoteKind]) -> None:
        """End zygotes in the background, once they have done their waiting jobs; later jobs get others."""
        with self.lock:
            self._retiring = [queue for queue in self._retiring if queue.open]
            for kind in kinds:
                queue = self._queues.pop(kind, None)
                if queue is not None and queue.open:
                    queue.retire()
                    self._retiring.append(queue)

    def zygotes(self) -> list[Zygote]:
        """Return the zygotes that are ready for jobs."""
        with self.lock:
            zygotes = [queue.zygote for queue in self._queues.values() if queue.open]
        return [zygote for zygote in zygotes if zygote is not None and zygote.pid]

    def close(self) -> None:
        """End all zygotes and wait until they are gone; later calls do nothing."""
        with self.lock:
            self.closed = True
            threads = [queue.thread for queue in (*self._queues.values(), *self._retiring)]
            for queue in self._open_queues():
                queue.close()
        for thread in threads:
            if thread is not None and thread is not threading.current_thread():
                thread.join()
        self.launcher.close()

    def _queue(self, kind: ZygoteKind) -> _JobQueue:
        if self.closed:
            raise RuntimeError("this pool is closed")
        with contextlib.suppress(MeasuringError, OSError):  # the job's future will raise it
            self.launcher.start()
        queue = self._queues.get(kind)
        if queue is None or not queue.open:
            queue = self._queues[kind] = _JobQueue(kind, self)
        return queue

    def _open_queues(self) -> list[_JobQueue]:
        return [queue for queue in (*self._queues.values(), *self._retiring) if queue.open]

    def forget(self) -> None:
        """Reset in a forked process: the zygotes are the parent's."""
        for queue in self._open_queues():
            queue.forget()
        self.launcher.forget()
        self._begin()


@dataclass(slots=True, eq=False)
class _QueuedJob:
    job: Job
    future: Future[Reply] = field(default_factory=Future)
    dropped: bool = False


class _JobQueue:
    """Queue of a zygote, and the thread that runs its jobs.

    Callers of public methods hold the pool's lock, except for `run_waiting`, which runs jobs, and `forget`,
    which runs in a forked process. The other methods are for its own thread.
    """

    def __init__(self, kind: ZygoteKind, pool: Pool) -> None:
        self.kind, self.open = kind, True
        """`open`: a closed queue takes no more tasks; its zygote is gone, or about to be."""
        self.zygote: Zygote | None = None
        self._pool = pool
        self._waiting: deque[_QueuedJob] = deque()
        self._current: _QueuedJob | None = None
        self._warm = self._retiring = self._closing = False
        self._wakeup = Wakeup()
        self.thread = self._start_thread()

    def add(self, queued: _QueuedJob) -> None:
        self._waiting.append(queued)
        self._wakeup.wake()

    def run_waiting(self) -> None:
        """Run waiting jobs in the calling thread, without the pool's lock, if it has no thread of its own."""
        while self.thread is None and self._waiting:
            self._run_queued(self._waiting.popleft())

    def warm(self) -> None:
        """Start a zygote before it is needed."""
        self._warm = True
        self._wakeup.wake()

    def retire(self) -> None:
        """End once no job waits."""
        self._retiring = True
        self._wakeup.wake()
        if self.thread is None:
            self._end()

    def close(self) -> None:
        """End now: cancel waiting jobs, and end a running one."""
        self._closing = True
        for queued in self._waiting:
            queued.future.cancel()
        self._wakeup.wake()
        if self.thread is None and self.open:
            self._end()

    def drop(self, future: Future[Reply]) -> bool:
        """End the job of a future if it is running here; return whether it is."""
        current = self._current
        if current is None or current.future is not future:
            return False
        current.dropped = True
        self._wakeup.wake()
        return True

    def forget(self) -> None:
        """Close the descriptors in a forked process: the queue is the parent's."""
        if self.zygote is not None:
            self.zygote.forget()
        self._wakeup.close()

    def _start_thread(self) -> threading.Thread | None:
        """Start the thread and return it; None if none can start: CPython 3.12 starts none at its end."""
        thread = threading.Thread(
            target=self._run, args=(REAL.get_ident(),), name=f"profkit {self.kind}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:
            return None
        return thread

    def _run(self, starter: int) -> None:
        leave_signals(starter)
        try:
            while (queued := self._next()) is not None:
                self._run_queued(queued)
        finally:
            with self._pool.lock:
                self.close()
                self.open = False
            self._end()

    def _end(self) -> None:
        self.open = False
        self._discard()
        self._wakeup.close()

    def _next(self) -> _QueuedJob | None:
        """Wait for the next task; return None when the queue has closed."""
        while True:
            with self._pool.lock:
                if self._waiting and not self._closing:
                    return self._waiting.popleft()
                if self._closing or self._retiring:
                    self.open = False
                    return None
                warm, self._warm = self._warm, False
            if warm:
                self._start_ahead()
            elif not self._await_event():
                with self._pool.lock:
                    self._retiring = True

    def _start_ahead(self) -> None:
        try:
            self._started(lambda: self._closing)
        except (MeasuringError, Stopped, OSError) as error:
            _LOG.debug("no zygote was started in advance: %s", error)  # the first job will raise it

    def _await_event(self) -> bool:
        """Wait for a request or the zygote's end; return False if neither came within the idle time."""
        if self.zygote is None:
            return self._wakeup.wait(self._pool.idle_s)
        try:
            self.zygote.await_event((), self._pool.clock.monotonic_s() + self._pool.idle_s)
        except TimeoutError:
            return False
        except ZygoteGone as gone:
            _LOG.debug("the zygote %s %s", self.kind, gone)
            self._discard()
        return True

    def _run_queued(self, queued: _QueuedJob) -> None:
        self._current = queued  # before it runs, so that it can be dropped
        try:
            if queued.future.set_running_or_notify_cancel():
                self._reply(queued)
        finally:
            self._current = None

    def _reply(self, queued: _QueuedJob) -> None:
        try:
            reply = self._run_with_retries(queued)
        except Stopped:
            queued.future.set_exception(CancelledError())
        except BaseException as error:  # noqa: BLE001 - the future raises it
            queued.future.set_exception(error)
        else:
            queued.future.set_result(reply)

    def _run_with_retries(self, queued: _QueuedJob) -> Reply:
        def stop() -> bool:
            return self._closing or queued.dropped

        for _ in range(_TRIES):
            zygote = self._started_for_all(stop)
            try:
                return run_job(zygote, queued.job, stop, self._pool.clock)
            except ZygoteGone as gone:
                how_often = f"{_TRIES} times in a row, while it ran {queued.job.label!r}"
                failed = zygote.failed(f"{gone}, {how_often}")
                self._discard()
            except (WorkerError, Stopped):
                if zygote.is_silent:
                    self._discard()
                raise
            except Exception as error:  # unexpected messages, or a silent supervisor
                failed = zygote.failed(f"sent an invalid message, or none ({error!r})")
                self._discard()
                raise failed from error
        raise failed

    def _started_for_all(self, stop: Callable[[], bool]) -> Zygote:
        """Return the zygote, started if necessary; if it cannot start, all waiting jobs fail with it."""
        try:
            return self._started(stop)
        except MeasuringError as error:
            with self._pool.lock:
                others, self._waiting = self._waiting, deque()
            for queued in others:
                if queued.future.set_running_or_notify_cancel():
                    queued.future.set_exception(error)
            raise

    def _started(self, stop: Callable[[], bool]) -> Zygote:
        if self.zygote is not None:
            return self.zygote
        pool = self._pool
        for _ in range(_TRIES):
            zygote = Zygote(self.kind, next(pool.serials), pool.launcher, self._wakeup, pool.clock)
            self.zygote = zygote
            try:
                zygote.await_ready(stop)
                return zygote
            except ZygoteGone as gone:
                failed = zygote.failed(f"did not start: its process {gone}, {_TRIES} times in a row")
                self._discard()
            except BaseException:
                self._discard()
                raise
        raise failed

    def _discard(self) -> None:
        zygote, self.zygote = self.zygote, None
        if zygote is not None:
            zygote.end()


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
