"""Isolated calls for those who use `concurrent.futures`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent import futures
from typing import ParamSpec, TypeVar, Unpack, cast

from profkit.errors import InvalidOption
from profkit.isolated.calls import new_dispatcher, start, usable_cores, warm_pool
from profkit.isolated.future import CallFuture
from profkit.isolated.options import CallOptions, WorkerOptions, settings_of

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Executor(futures.Executor):
    """An executor each of whose calls has a clean worker process of its own.

    `max_workers` calls run side by side, by default one for each core. The options are those of `submit`, for
    all calls; keyword arguments of `submit` go to the function. Zygotes are shared with other executors.
    """

    def __init__(self, max_workers: int | None = None, /, **options: Unpack[WorkerOptions]) -> None:
        if max_workers is not None and max_workers < 1:
            raise InvalidOption("max_workers", max_workers, "give 1 or more, or None")
        settings_of(Executor, options)
        self._options = options
        self._workers = max_workers or usable_cores()
        self._dispatcher = new_dispatcher(self._workers)
        self._pending: set[CallFuture[object]] = set()
        self._closed = False

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> CallFuture[_T]:
        """Call `fn` in a clean worker process, and return the future of its result."""
        with self._dispatcher.lock:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
        options = cast("CallOptions", {**self._options, "kwargs": kwargs})
        future = start(self._dispatcher, fn, args, options)
        with self._dispatcher.lock:
            self._pending.add(cast("CallFuture[object]", future))
        future.add_done_callback(self._done)
        return future

    def warm(self) -> None:
        """Start zygotes in the background for all workers; return at once."""
        warm_pool(self._workers, **self._options)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls; `cancel_futures` cancels those that wait, and lets those go on that run."""
        with self._dispatcher.lock:
            self._closed = True
            pending = tuple(self._pending)
        for future in pending if cancel_futures else ():
            if not future.running():
                future.cancel()
        if wait:
            futures.wait(pending)

    def _done(self, future: futures.Future[_T]) -> None:
        with self._dispatcher.lock:
            self._pending.discard(cast("CallFuture[object]", future))
