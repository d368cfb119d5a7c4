"""Queue of jobs for one zygote, and the thread that runs them one at a time."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field

from profkit.clock import Clock
from profkit.errors import MeasuringError, WorkerError
from profkit.measuring.green import leave_signals
from profkit.measuring.pool.client import Stopped, Wakeup, Zygote, ZygoteGone
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.exchange import run_job
from profkit.measuring.pool.jobs import Job, Reply
from profkit.measuring.pool.launching import Launcher
from profkit.originals import REAL

_TRIES = 3
_LOG = logging.getLogger("profkit")


@dataclass(slots=True, eq=False)
class QueuedJob:
    """A job and its future."""

    job: Job
    future: Future[Reply] = field(default_factory=Future)
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class PoolResources:
    """Resources that all queues of a pool share."""

    lock: threading.RLock
    launcher: Launcher
    clock: Clock
    idle_s: float
    next_serial: Callable[[], int]


class JobQueue:
    """Queue of a zygote, and the thread that runs its jobs.

    Callers of public methods hold the pool's lock, except for `run_waiting`, which runs jobs, and `forget`,
    which runs in a forked process. The other methods are for its own thread.
    """

    def __init__(self, kind: ZygoteKind, resources: PoolResources) -> None:
        self.kind, self.open = kind, True
        """`open`: a closed queue takes no more tasks; its zygote is gone, or about to be."""
        self.zygote: Zygote | None = None
        self._resources = resources
        self._waiting: deque[QueuedJob] = deque()
        self._current: QueuedJob | None = None
        self._warm = self._retiring = self._closing = False
        self._wakeup = Wakeup()
        self.thread = self._start_thread()

    def add(self, queued: QueuedJob) -> None:
        """Queue a job behind those that wait already."""
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
            self._end_here()

    def close(self) -> None:
        """End now: cancel waiting jobs, and end a running one."""
        self._closing = True
        for queued in self._waiting:
            queued.future.cancel()
        self._wakeup.wake()
        if self.thread is None and self.open:
            self._end_here()

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

    def _end_here(self) -> None:
        self.open = False
        self._discard()
        self._wakeup.close()

    def _run(self, starter: int) -> None:
        leave_signals(starter)
        try:
            while (queued := self._next()) is not None:
                self._run_queued(queued)
        finally:
            with self._resources.lock:
                self.close()
                self.open = False
            self._discard()
            self._wakeup.close()

    def _next(self) -> QueuedJob | None:
        """Wait for the next task; return None when the queue has closed."""
        while True:
            with self._resources.lock:
                if self._waiting and not self._closing:
                    return self._waiting.popleft()
                if self._closing or self._retiring:
                    self.open = False
                    return None
                warm, self._warm = self._warm, False
            if warm:
                self._start_ahead()
            elif not self._await_event():
                with self._resources.lock:
                    self._retiring = True

    def _start_ahead(self) -> None:
        try:
            self._started(self._is_closing)
        except (MeasuringError, Stopped, OSError) as error:
            _LOG.debug("no zygote was started in advance: %s", error)  # the first job will raise it

    def _is_closing(self) -> bool:
        return self._closing

    def _await_event(self) -> bool:
        """Wait for a request or the zygote's end; return False if neither came within the idle time."""
        if self.zygote is None:
            return self._wakeup.wait(self._resources.idle_s)
        try:
            self.zygote.await_event((), self._resources.clock.monotonic_s() + self._resources.idle_s)
        except TimeoutError:
            return False
        except ZygoteGone as gone:
            _LOG.debug("the zygote %s %s", self.kind, gone)
            self._discard()
        return True

    def _run_queued(self, queued: QueuedJob) -> None:
        self._current = queued  # before it runs, so that it can be dropped
        try:
            if queued.future.set_running_or_notify_cancel():
                self._reply(queued)
        finally:
            self._current = None

    def _reply(self, queued: QueuedJob) -> None:
        try:
            reply = self._run_with_retries(queued)
        except Stopped:
            queued.future.set_exception(CancelledError())
        except BaseException as error:  # noqa: BLE001 - the future raises it
            queued.future.set_exception(error)
        else:
            queued.future.set_result(reply)

    def _run_with_retries(self, queued: QueuedJob) -> Reply:
        def stop() -> bool:
            return self._closing or queued.dropped

        for _ in range(_TRIES):
            zygote = self._started_for_all(stop)
            try:
                return self._run_job(zygote, queued.job, stop)
            except ZygoteGone as gone:
                how, output = str(gone), zygote.output.text()
                self._discard()
            except (WorkerError, Stopped):
                raise
            except Exception as error:  # unexpected messages, or a silent supervisor
                failed = zygote.failed(f"sent an invalid message, or none ({error!r})", zygote.output.text())
                self._discard()
                raise failed from error
        raise zygote.failed(f"{how}, {_TRIES} times in a row, while it ran {queued.job.label!r}", output)

    def _run_job(self, zygote: Zygote, job: Job, stop: Callable[[], bool]) -> Reply:
        try:
            return run_job(zygote, job, stop, self._resources.clock)
        finally:
            if zygote.is_silent:
                self._discard()

    def _started_for_all(self, stop: Callable[[], bool]) -> Zygote:
        """Return the zygote, started if necessary; if it cannot start, all waiting jobs fail with it."""
        try:
            return self._started(stop)
        except MeasuringError as error:
            with self._resources.lock:
                others, self._waiting = self._waiting, deque()
            for queued in others:
                if queued.future.set_running_or_notify_cancel():
                    queued.future.set_exception(error)
            raise

    def _started(self, stop: Callable[[], bool]) -> Zygote:
        resources, tries = self._resources, 0
        while self.zygote is None:
            tries += 1
            zygote = Zygote(
                self.kind, resources.next_serial(), resources.launcher, self._wakeup, resources.clock
            )
            self.zygote = zygote
            try:
                zygote.await_ready(stop)
            except ZygoteGone as gone:
                output = zygote.output.text()
                self._discard()
                if tries == _TRIES:
                    how = f"did not start: its process {gone}, {_TRIES} times in a row"
                    raise zygote.failed(how, output) from None
            except BaseException:
                self._discard()
                raise
        return self.zygote

    def _discard(self) -> None:
        zygote, self.zygote = self.zygote, None
        if zygote is not None:
            zygote.end()
