"""The future of an isolated call."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import TypeVar

_T = TypeVar("_T")


class CallFuture(Future[_T]):
    """A future that can also be cancelled while its call runs, and awaited in asyncio.

    It is done when nothing is left of the call: no worker, and no process that the function has started.
    """

    label: str
    """What errors call it."""
    output: str
    """The last 64 KiB that the call printed to stdout and stderr, once the future is done."""

    def __init__(self, label: str, drop: Callable[[CallFuture[_T]], bool]) -> None:
        super().__init__()
        self.label, self.output = label, ""
        self._drop, self._runs = drop, False

    def cancel(self) -> bool:
        """End the call, waiting or running, with everything that it has started; return at once.

        Returns False if it is too late: the result is there. `done()` is true when everything is gone.
        """
        return self._drop(self)

    def running(self) -> bool:
        """Return whether a worker is at it."""
        return self._runs and not self.done()

    def __await__(self) -> Generator[object, None, _T]:
        """Wait in asyncio. If the task is cancelled the call is, and the task ends when all of it is gone."""
        return _awaited(self).__await__()

    def __repr__(self) -> str:
        state = "waiting"
        if self.done():
            state = "cancelled" if self.cancelled() else "failed" if self.exception() else "done"
        elif self._runs:
            state = "running"
        return f"<CallFuture {self.label!r} {state}>"

    def begin(self) -> None:
        """Note that a worker is at it."""
        self._runs = True

    def release(self) -> None:
        """Let go of the call: from now on it is too late to cancel it."""
        self._drop = _too_late

    def end_cancelled(self) -> None:
        """Let all who wait know that the call was cancelled."""
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
