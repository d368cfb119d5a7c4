"""Carriers: frames with a region's marker around work that it gave to other tasks and threads.

A sampler sees the stack of a task or a thread, but not who waits for it. A carrier marks that stack; the
calls of the region are counted where it began, by its marker.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from types import FunctionType
from typing import Any, TypeVar, cast

from profkit.model.region import Region

_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., object])


class Unstarted:
    """Holder of a coroutine until its carrier starts; closes it if that never happens.

    A task that is cancelled before its first step closes its coroutine without a warning. So must this.
    """

    __slots__ = ("_coroutine",)

    def __init__(self, coroutine: Coroutine[Any, Any, _T]) -> None:
        self._coroutine: Coroutine[Any, Any, Any] | None = coroutine

    def take(self) -> Coroutine[Any, Any, Any]:
        """Return the coroutine, which the caller awaits."""
        coroutine, self._coroutine = self._coroutine, None
        assert coroutine is not None, "a coroutine starts once"
        return coroutine

    def __del__(self) -> None:
        if self._coroutine is not None:
            self._coroutine.close()


class Carrier:
    """Runs functions and coroutines under a region's marker, in any thread or task."""

    __slots__ = ("_run", "call")

    def __init__(self, region: Region) -> None:
        def call(function: Callable[..., _T], /, *args: Any, **kwargs: Any) -> _T:
            return function(*args, **kwargs)

        async def run(unstarted: Unstarted) -> Any:
            return await unstarted.take()

        self.call = _named(call, region.marker)
        """Call a function with arguments, and return its value."""
        self._run = _named(run, region.marker)

    def coroutine(self, carried: Coroutine[Any, Any, _T]) -> Coroutine[Any, Any, _T]:
        """Return a coroutine that awaits another, and has its name."""
        run = self._run(Unstarted(carried))
        for name in ("__name__", "__qualname__"):
            setattr(run, name, getattr(carried, name, getattr(run, name)))
        return run


def _named(function: _F, marker: str) -> _F:
    """Return the same function with a code object that has the name of a region's marker."""
    source = cast(FunctionType, function)
    code = source.__code__.replace(co_name=marker, co_qualname=marker)
    named = FunctionType(code, source.__globals__, marker, source.__defaults__, source.__closure__)
    return cast(_F, named)
