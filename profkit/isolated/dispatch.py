"""Calls that wait, and those that run: at most so many at once, each in the worker of a zygote of its own."""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from functools import partial

from profkit.errors import WorkerDied, WorkerFailed, WorkerTimeout
from profkit.isolated.future import CallFuture
from profkit.isolated.packed import PackedCall
from profkit.isolated.slots import Slots
from profkit.measuring.pool.errors import CannotReturn, ResultUnreadable
from profkit.measuring.pool.jobs import Job, Reply
from profkit.measuring.pool.kinds import ZygoteKind
from profkit.measuring.pool.pool import process_pool
from profkit.measuring.travel.returned import NotPlain, new_result, read_result


@dataclass(slots=True, eq=False)
class Call:
    """A call on its way."""

    future: CallFuture[object]
    kind: ZygoteKind
    packed: PackedCall
    message: Mapping[str, object]
    timeout_s: float
    retries: int
    is_own: bool
    """Whether its worker runs in this process's own environment."""
    tries: int = 0
    cancelled: bool = False
    settled: bool = False
    """Whether it is decided what its future gets."""
    running: Future[Reply] | None = field(default=None, repr=False)


class Dispatcher:
    """Starts calls in the order in which they come; any thread may use it."""

    def __init__(self, workers: int, slots: Slots) -> None:
        self.workers, self._slots = workers, slots
        self.begin()
        _DISPATCHERS.add(self)

    def begin(self) -> None:
        """Start over, as a process that was forked off must: what runs is the other's."""
        self.lock = threading.RLock()  # callbacks of futures may submit and cancel
        self._waiting: deque[Call] = deque()
        self._running = 0
        self._starting = threading.local()

    def submit(self, call: Call) -> None:
        """Have a call done when its turn comes."""
        with self.lock:
            self._waiting.append(call)
        self._start_more()

    def cancel(self, call: Call) -> bool:
        """End a call, waiting or running; False if it is done. Returns at once."""
        with self.lock:
            if call.settled:
                return call.cancelled
            call.cancelled, running = True, call.running
            if call in self._waiting:
                self._waiting.remove(call)
                call.settled = True
        if call.settled:
            _settle(call, None)
        elif running is not None:  # else whoever starts it will see to it
            process_pool().drop(running)
        return True

    def _start_more(self) -> None:
        """Start what may run; a call that ends at once, in this thread, leaves the next one to the loop."""
        if getattr(self._starting, "here", False):
            return
        self._starting.here = True
        try:
            while (call := self._next()) is not None:
                self._start(call)
        finally:
            self._starting.here = False

    def _next(self) -> Call | None:
        with self.lock:
            if not self._waiting or self._running >= self.workers:
                return None
            self._running += 1
            return self._waiting.popleft()

    def _start(self, call: Call) -> None:
        call.tries += 1
        call.future.begin()
        opened: list[int] = []
        slot = self._slots.take(call.kind)
        try:
            opened += [call.packed.open(), new_result()]
            parcel, result = opened
            job = Job(call.future.label, call.message, call.timeout_s, parcel, result, repeatable=False)
            running = process_pool().submit(slot, job)
        except BaseException as error:
            self._ended(call, slot, opened, _failed(error))
            if not isinstance(error, Exception):
                raise
            return
        with self.lock:
            call.running = running
        running.add_done_callback(partial(self._ended, call, slot, opened))
        if call.cancelled:
            process_pool().drop(running)

    def _ended(self, call: Call, slot: ZygoteKind, opened: list[int], running: Future[Reply]) -> None:
        try:
            outcome = _outcome(call, running, opened)
        finally:
            for descriptor in opened:
                os.close(descriptor)
        self._slots.give_back(slot)
        with self.lock:
            closed = outcome.is_cancelled and not call.cancelled
            call.running = None
            self._running -= 1
            if not call.cancelled and call.tries <= call.retries and outcome.is_worth_another:
                self._waiting.appendleft(call)
            else:
                call.settled = True
                call.cancelled |= outcome.is_cancelled
        if closed:  # not the call but the pool, as at the end of the program
            self._cancel_all()
        if call.settled:
            _settle(call, outcome)
        self._start_more()

    def _cancel_all(self) -> None:
        with self.lock:
            waiting, self._waiting = self._waiting, deque()
            for call in waiting:
                call.cancelled = call.settled = True
        for call in waiting:
            _settle(call, None)


@dataclass(frozen=True, slots=True)
class _Outcome:
    result: object = None
    error: BaseException | None = None
    output: str = ""

    @property
    def is_worth_another(self) -> bool:
        return isinstance(self.error, WorkerDied | WorkerTimeout)

    @property
    def is_cancelled(self) -> bool:
        return isinstance(self.error, CancelledError)


def _failed(error: BaseException) -> Future[Reply]:
    future: Future[Reply] = Future()
    future.set_exception(error)
    return future


def _outcome(call: Call, running: Future[Reply], opened: list[int]) -> _Outcome:
    """What came of a try; raises nothing."""
    if running.cancelled():
        return _Outcome(error=CancelledError())
    error = running.exception()
    if error is not None:
        return _Outcome(error=error, output=str(getattr(error, "output", "")))
    reply = running.result()
    try:
        return _read(call, reply, opened[1])
    except Exception as error:  # noqa: BLE001 - reading runs what objects define
        detail = f"{type(error).__name__}: {error}"
        unreadable = ResultUnreadable(call.future.label, detail, reply.output)
        return _Outcome(error=unreadable, output=reply.output)


def _read(call: Call, reply: Reply, result: int) -> _Outcome:
    label, answer, output = call.future.label, reply.message, reply.output
    if answer["ok"]:
        return _returned(call, result, output)
    if "unsendable" in answer:
        detail = str(answer["error"])
        return _Outcome(error=CannotReturn(label, str(answer["unsendable"]), detail, output), output=output)
    failed = WorkerFailed(label, str(answer["trace"]), output)
    if not answer.get("raised"):
        return _Outcome(error=failed, output=output)
    try:
        raised = read_result(result, trusted=call.is_own)
    except Exception:  # noqa: BLE001 - what it is made of is not here, or not allowed: its text is
        return _Outcome(error=failed, output=output)
    if not isinstance(raised, Exception) or isinstance(raised, StopIteration | CancelledError):
        return _Outcome(error=failed, output=output)
    raised.__cause__ = failed
    return _Outcome(error=raised, output=output)


def _returned(call: Call, result: int, output: str) -> _Outcome:
    try:
        return _Outcome(read_result(result, trusted=call.is_own), output=output)
    except NotPlain as error:
        return _Outcome(error=CannotReturn(call.future.label, error.kind, str(error), output), output=output)


def _settle(call: Call, outcome: _Outcome | None) -> None:
    """Give the future what it waits for, and free what the call holds."""
    call.packed.close()
    future = call.future
    if outcome is not None:
        future.output = outcome.output
    if outcome is None or call.cancelled:
        future.end_cancelled()
    elif outcome.error is not None:
        future.set_exception(_counted(outcome.error, call))
    else:
        future.set_result(outcome.result)
    future.release()


def _counted(error: BaseException, call: Call) -> BaseException:
    """The error, and in how many tries."""
    if isinstance(error, WorkerTimeout) and call.tries > 1:
        return WorkerTimeout(error.label, error.timeout_s, call.tries, error.output)
    return error


_DISPATCHERS: weakref.WeakSet[Dispatcher] = weakref.WeakSet()


def begin_all() -> None:
    """Have all dispatchers start over in a process that was forked off."""
    PackedCall.begin()
    for dispatcher in list(_DISPATCHERS):
        dispatcher.begin()
