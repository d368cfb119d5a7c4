"""Queue of isolated calls: at most a given number at once, in workers of own zygotes, with retries."""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import NamedTuple

from profkit.errors import WorkerDied, WorkerFailed, WorkerTimeout
from profkit.isolated.future import CallFuture
from profkit.measuring.errors import CannotReturn, ResultUnreadable
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.jobs import Job, Reply
from profkit.measuring.pool.pool import process_pool
from profkit.measuring.transfer.payload import NotPlain, Payload, new_result, read_result
from profkit.measuring.worker.protocol import content_of, file_of


class Slots:
    """Kinds of zygotes, each with its own draw, so that workers of equal kinds run side by side.

    If there are more than `most`, those that have been idle the longest are retired.
    """

    def __init__(self, most: int, retire: Callable[[Iterable[ZygoteKind]], None]) -> None:
        self._most, self._retire = most, retire
        self.begin()

    def begin(self) -> None:
        """Reset to no slots, as needed after a fork."""
        self._lock = threading.RLock()
        self._idle: OrderedDict[ZygoteKind, ZygoteKind] = OrderedDict()
        self._busy: dict[ZygoteKind, ZygoteKind] = {}

    def take(self, kind: ZygoteKind) -> ZygoteKind:
        """Return the slot of this kind that was used last, or a new one."""
        with self._lock:
            retired: list[ZygoteKind] = []
            slot = next((slot for slot in reversed(self._idle) if self._idle[slot] == kind), None)
            if slot is not None:
                del self._idle[slot]
            else:
                retired = self._make_room(1)
                slot = self._new(kind)
            self._busy[slot] = kind
        self._end(retired)
        return slot

    def give_back(self, slot: ZygoteKind) -> None:
        """Make a slot available again."""
        with self._lock:
            kind = self._busy.pop(slot, None)
            if kind is not None:  # None after a fork in between
                self._idle[slot] = kind
            retired = self._make_room(0)
        self._end(retired)

    def keep_ready(self, kind: ZygoteKind, number: int) -> list[ZygoteKind]:
        """Return this number of idle slots of this kind, or as many as `most` allows."""
        with self._lock:
            known = [slot for slot in self._idle if self._idle[slot] == kind][:number]
            missing = max(0, min(number, self._most - len(self._busy)) - len(known))
            for slot in known:
                self._idle.move_to_end(slot)
            retired = self._make_room(missing, kept=len(known))
            for _ in range(missing):
                slot = self._new(kind)
                self._idle[slot] = kind
                known.append(slot)
        self._end(retired)
        return known

    def _end(self, retired: list[ZygoteKind]) -> None:
        """Retire zygotes; call it outside the lock, since it may take a moment."""
        if retired:
            self._retire(retired)

    def _make_room(self, number: int, kept: int = 0) -> list[ZygoteKind]:
        retired = []
        while len(self._idle) > kept and len(self._idle) + len(self._busy) + number > self._most:
            retired.append(self._idle.popitem(last=False)[0])
        return retired

    def _new(self, kind: ZygoteKind) -> ZygoteKind:
        slots = (replace(kind, draw=f"call-{number}") for number in count())
        return next(slot for slot in slots if slot not in self._idle and slot not in self._busy)


_SMALL_BYTES = 1 << 20
_MAX_FILES = 64


class PackedCall:
    """A function with its arguments as they were when it was packed; `open` returns a descriptor.

    Small calls, and all but 64 large ones, wait without a descriptor of their own.
    """

    _files = threading.Semaphore(_MAX_FILES)

    def __init__(self, payload: Payload) -> None:
        self.coroutine, self.packages = payload.coroutine, payload.packages
        self._payload: Payload | None = None
        self._bytes = b""
        if os.fstat(payload.fd).st_size > _SMALL_BYTES and self._files.acquire(blocking=False):
            self._payload = payload
        else:
            self._bytes = bytes(content_of(payload.fd))
            payload.close()

    def open(self) -> int:
        """Return a descriptor that the caller closes."""
        if self._payload is not None:
            return os.dup(self._payload.fd)
        return file_of(self._bytes)

    def close(self) -> None:
        """Free the packed call."""
        self._bytes = b""
        if self._payload is not None:
            self._payload.close()
            self._payload = None
            self._files.release()

    @classmethod
    def begin(cls) -> None:
        """Replace the semaphore in a forked process: another thread may have held its lock."""
        cls._files = threading.Semaphore(_MAX_FILES)


@dataclass(slots=True, eq=False)
class Call:
    """A submitted call and its state."""

    future: CallFuture[object]
    kind: ZygoteKind
    packed: PackedCall
    message: Mapping[str, object]
    timeout_s: float
    retries: int
    is_own: bool
    """True if its worker runs in this process's own environment."""
    tries: int = 0
    cancelled: bool = False
    settled: bool = False
    """True once the outcome of its future is decided."""
    running: Future[Reply] | None = field(default=None, repr=False)


class Dispatcher:
    """A queue that starts calls in the order of submission; thread-safe."""

    def __init__(self, workers: int, slots: Slots) -> None:
        self.workers, self._slots = workers, slots
        self.begin()
        _DISPATCHERS.add(self)

    def begin(self) -> None:
        """Reset to no calls, as needed after a fork: running calls belong to the parent."""
        self.lock = threading.RLock()  # callbacks of futures may submit and cancel
        self._waiting: deque[Call] = deque()
        self._running = 0
        self._starting = threading.local()
        self.pending: set[CallFuture[object]] = set()
        """Futures of an executor's calls that are not done."""

    def submit(self, call: Call) -> None:
        """Queue a call."""
        with self.lock:
            self._waiting.append(call)
        self._start_more()

    def cancel(self, call: Call) -> bool:
        """End a waiting or running call; return at once, False if it is done."""
        with self.lock:
            if call.settled:
                return call.cancelled
            call.cancelled, running = True, call.running
            if call in self._waiting:
                self._waiting.remove(call)
                call.settled = True
        if call.settled:
            _settle(call, None)
        elif running is not None:  # otherwise the starting thread drops it
            process_pool().drop(running)
        return True

    def _start_more(self) -> None:
        """Start as many calls as allowed; do nothing if this thread's loop already does."""
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
            payload, result = opened
            job = Job(call.future.label, call.message, call.timeout_s, payload, result, repeatable=False)
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
            ended_with_pool = isinstance(outcome.error, CancelledError) and not call.cancelled
            call.running = None
            self._running -= 1
            may_succeed = isinstance(outcome.error, WorkerDied | WorkerTimeout)
            if may_succeed and not call.cancelled and call.tries <= call.retries:
                self._waiting.appendleft(call)
            else:
                call.settled = True
                call.cancelled |= ended_with_pool
        if ended_with_pool:  # it closed, as at the end of the program
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


class _Outcome(NamedTuple):
    result: object = None
    error: BaseException | None = None
    output: str = ""


def _failed(error: BaseException) -> Future[Reply]:
    future: Future[Reply] = Future()
    future.set_exception(error)
    return future


def _outcome(call: Call, running: Future[Reply], opened: list[int]) -> _Outcome:
    """Return the outcome of a try; never raises."""
    error = CancelledError() if running.cancelled() else running.exception()
    if error is not None:
        return _Outcome(error=error, output=str(getattr(error, "output", "")))
    reply = running.result()
    try:
        return _read_reply(call, reply, opened[1])
    except Exception as error:  # noqa: BLE001 - unpickling runs code of objects
        detail = f"{type(error).__name__}: {error}"
        unreadable = ResultUnreadable(call.future.label, detail, reply.output)
        return _Outcome(error=unreadable, output=reply.output)


def _read_reply(call: Call, reply: Reply, file: int) -> _Outcome:
    label, message, output = call.future.label, reply.message, reply.output
    if message["ok"]:
        try:
            return _Outcome(read_result(file, trusted=call.is_own), output=output)
        except NotPlain as error:
            return _Outcome(None, CannotReturn(label, error.kind, str(error), output), output)
    if "unsendable" in message:
        kind, detail = str(message["unsendable"]), str(message["error"])
        return _Outcome(None, CannotReturn(label, kind, detail, output), output)
    failed = WorkerFailed(label, str(message["trace"]), output)
    raised = _exception_in(file, call) if message.get("raised") else None
    if raised is None:
        return _Outcome(None, failed, output)
    raised.__cause__ = failed
    return _Outcome(None, raised, output)


def _exception_in(file: int, call: Call) -> Exception | None:
    """Return the function's exception, if this process can raise it."""
    try:
        raised = read_result(file, trusted=call.is_own)
    except Exception:  # noqa: BLE001 - a type is missing or not allowed
        return None
    usable = isinstance(raised, Exception) and not isinstance(raised, StopIteration | CancelledError)
    return raised if usable else None


def _settle(call: Call, outcome: _Outcome | None) -> None:
    """Set the future's result or error, and free the call's resources."""
    call.packed.close()
    future = call.future
    if outcome is not None:
        future.output = outcome.output
    if outcome is None or call.cancelled:
        future.end_cancelled()
    elif isinstance(error := outcome.error, WorkerTimeout) and call.tries > 1:
        future.set_exception(WorkerTimeout(error.label, error.timeout_s, call.tries, error.output))
    elif error is not None:
        future.set_exception(error)
    else:
        future.set_result(outcome.result)
    future.release()


_DISPATCHERS: weakref.WeakSet[Dispatcher] = weakref.WeakSet()


def begin_all() -> None:
    """Reset all dispatchers after a fork."""
    PackedCall.begin()
    for dispatcher in list(_DISPATCHERS):
        dispatcher.begin()
