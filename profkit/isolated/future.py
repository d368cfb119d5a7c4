"""Future of an isolated call, which can be cancelled while it runs, and awaited in asyncio."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import TypeVar

_T = TypeVar("_T")


class CallFuture(Future[_T]):
    """A future that can also be cancelled while its call runs, and awaited in asyncio.

    It is done when the worker and all processes that the function started are gone.
    """

    label: str
    """Name of the call in errors."""
    output: str
    """The last 64 KiB that the call printed to stdout and stderr, once the future is done."""

    def __init__(self, label: str, drop: Callable[[CallFuture[_T]], bool]) -> None:
        super().__init__()
        self.label, self.output = label, ""
        self._drop, self._runs = drop, False

    def cancel(self) -> bool:
        """End the call, waiting or running, with every process that it started; return at once.

        Returns False if the result is already there. `done()` is true when all of these processes are gone.
        """
        return self._drop(self)

    def running(self) -> bool:
        """Return whether a worker runs the call."""
        return self._runs and not self.done()

    def __await__(self) -> Generator[object, None, _T]:
        """Wait in asyncio. If the task is cancelled, so is the call, and the task ends after it."""
        return _awaited(self).__await__()

    def __repr__(self) -> str:
        state = "waiting"
        if self.done():
            state = "cancelled" if self.cancelled() else "failed" if self.exception() else "done"
        elif self._runs:
            state = "running"
        return f"<CallFuture {self.label!r} {state}>"

    def begin(self) -> None:
        """Mark the call as running."""
        self._runs = True

    def release(self) -> None:
        """Drop the reference to the call, which can no longer be cancelled."""
        self._drop = _too_late

    def end_cancelled(self) -> None:
        """Mark the future as cancelled, and notify waiters."""
        if super().cancel():
            self.set_running_or_notify_cancel()


def _too_late(future: CallFuture[_T]) -> bool:
    return future.cancelled()


async def _awaited(future: CallFuture[_T]) -> _T:
    import asyncio

    try:
        return await asyncio.shield(asyncio.wrap_future(future))
    except asyncio.CancelledError:
        if not future.done():
            future.cancel()
            await asyncio.wait([asyncio.wrap_future(future)])
        raise
