"""Public functions: `submit`, `call`, `acall`, `warm_pool`, the `Executor`; how many calls run at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent import futures
from typing import ParamSpec, TypeVar, Unpack, cast

from profkit.errors import CannotTravel, InvalidOption
from profkit.isolated.dispatch import Call, Dispatcher, PackedCall, Slots, begin_all
from profkit.isolated.future import CallFuture
from profkit.isolated.options import CallOptions, WorkerOptions, settings_of
from profkit.measuring.pool.pool import process_pool
from profkit.measuring.transfer.payload import Payload, pack
from profkit.process.procfs import usable_processors

_T = TypeVar("_T")
_SPARE = 4
"""Number of zygotes kept beyond those that can be busy: for other environments."""


def _usable_cores() -> int:
    return max(1, int(min(len(os.sched_getaffinity(0)), usable_processors())))


_SLOTS = Slots(_usable_cores() + _SPARE, lambda kinds: process_pool().retire(kinds))
_DISPATCHER = Dispatcher(_usable_cores(), _SLOTS)
"""Dispatcher of calls outside executors."""


def _start_over() -> None:
    _SLOTS.begin()
    begin_all()


os.register_at_fork(after_in_child=_start_over)


def submit(
    function: Callable[..., _T], /, *args: object, **options: Unpack[CallOptions]
) -> CallFuture[_T]:  # fmt: skip
    """Call a function in a clean worker process, and return the future of its result.

    The function and its arguments are packed as they are now. `kwargs` holds keyword arguments of the
    function; the other options are explained in docs/isolated.md. Raises `UsageError` and `CannotTravel` at
    once. The future raises the function's exceptions, and a `MeasuringError` if there is no result.
    """
    return _start(_DISPATCHER, function, args, options)


def call(function: Callable[..., _T], /, *args: object, **options: Unpack[CallOptions]) -> _T:
    """Call a function in a clean worker process, and return its result.

    Takes the arguments of `submit`. If the wait is interrupted, for example by Ctrl-C, the call is ended.
    """
    future = submit(function, *args, **options)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def acall(function: Callable[..., _T], /, *args: object, **options: Unpack[CallOptions]) -> _T:
    """Call a function in a clean worker process, and wait for its result in asyncio.

    Takes the arguments of `submit`. If the task is cancelled the call is ended, then the task ends.
    """
    return await submit(function, *args, **options)


def warm_pool(number: int = 1, /, **options: Unpack[WorkerOptions]) -> None:
    """Start zygotes in the background for `number` concurrent calls with these options; return at once."""
    if number < 1:
        raise InvalidOption("number", number, "give 1 or more")
    kind = settings_of(warm_pool, options).kind(())
    process_pool().warm(_SLOTS.keep_ready(kind, number))


def _start(
    dispatcher: Dispatcher, function: Callable[..., _T], args: tuple[object, ...], options: CallOptions
) -> CallFuture[_T]:
    others = {name: value for name, value in options.items() if name not in ("kwargs", "label")}
    settings = settings_of(function, cast("WorkerOptions", others), options.get("label"))
    packed = PackedCall(_packed(function, args, options.get("kwargs")))
    future: CallFuture[_T] = CallFuture(settings.order.label, lambda _: dispatcher.cancel(submitted))
    submitted = Call(
        future=cast("CallFuture[object]", future),
        kind=settings.kind(packed.packages),
        packed=packed,
        message={**settings.surroundings(), "mode": "call", "coroutine": packed.coroutine},
        timeout_s=settings.timeout_s,
        retries=settings.order.retries,
        is_own=settings.is_own,
    )
    dispatcher.submit(submitted)
    return future


def _packed(
    function: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object] | None
) -> Payload:
    try:
        return pack(function, args, kwargs)
    except CannotTravel as error:
        fix = "create it in the function, from objects that can be sent"
        raise CannotTravel(error.what, error.detail, fix) from error


_P = ParamSpec("_P")


class Executor(futures.Executor):
    """An executor that runs each call in its own clean worker process.

    `max_workers` calls run concurrently, by default one for each core. The options are those of `submit`, for
    all calls; keyword arguments of `submit` go to the function. Zygotes are shared with other executors.
    """

    def __init__(self, max_workers: int | None = None, /, **options: Unpack[WorkerOptions]) -> None:
        if max_workers is not None and max_workers < 1:
            raise InvalidOption("max_workers", max_workers, "give 1 or more, or None")
        settings_of(Executor, options)
        self._options = options
        self._workers = max_workers or _usable_cores()
        self._dispatcher = Dispatcher(self._workers, _SLOTS)
        self._closed = False

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> CallFuture[_T]:
        """Call `fn` in a clean worker process, and return the future of its result."""
        with self._dispatcher.lock:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
        options = cast("CallOptions", {**self._options, "kwargs": kwargs})
        future = _start(self._dispatcher, fn, args, options)
        with self._dispatcher.lock:
            self._dispatcher.pending.add(cast("CallFuture[object]", future))
        future.add_done_callback(self._done)
        return future

    def warm(self) -> None:
        """Start zygotes in the background for all workers; return at once."""
        warm_pool(self._workers, **self._options)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Reject new calls; `cancel_futures` cancels waiting calls, but not running ones."""
        with self._dispatcher.lock:
            self._closed = True
            pending = tuple(self._dispatcher.pending)
        for future in pending if cancel_futures else ():
            if not future.running():
                future.cancel()
        if wait:
            futures.wait(pending)

    def _done(self, future: futures.Future[_T]) -> None:
        with self._dispatcher.lock:
            self._dispatcher.pending.discard(cast("CallFuture[object]", future))
