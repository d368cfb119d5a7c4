"""Carriers: frames with a region's marker around work that it gave to other tasks and threads.

A sampler sees the stack of a task or a thread, but not who waits for it. A carrier marks that stack; the
calls of the region are counted where it began, by its marker.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from profkit.calls.importlib_bootstrap.markers import Unstarted, renamed
from profkit.model.region import Region

_T = TypeVar("_T")


class Carrier:
    """Runs functions and coroutines under a region's marker, in any thread or task."""

    __slots__ = ("_run", "call")

    def __init__(self, region: Region) -> None:
        def call(function: Callable[..., _T], /, *args: Any, **kwargs: Any) -> _T:
            return function(*args, **kwargs)

        async def run(unstarted: Unstarted) -> Any:
            return await unstarted.take()

        self.call = renamed(call, region.marker)
        """Call a function with arguments, and return its value."""
        self._run = renamed(run, region.marker)

    def coroutine(self, carried: Coroutine[Any, Any, _T]) -> Coroutine[Any, Any, _T]:
        """Return a coroutine that awaits another, and has its name."""
        run: Coroutine[Any, Any, _T] = self._run(Unstarted(carried))
        for name in ("__name__", "__qualname__"):
            setattr(run, name, getattr(carried, name, getattr(run, name)))
        return run
