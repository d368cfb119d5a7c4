"""Wrapper around a measured function, called by wrapt: it calls the function once, and notes the call.

Arguments are packed before the call, so that they are measured as they were. Frames of this package do
nothing else around the call.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextvars import Token
from types import TracebackType
from typing import Any

from profkit import measuring, torch_tracing
from profkit.measuring.decorated.calls import Moment, now
from profkit.measuring.decorated.watch import UNDER_WAY, Chosen, Watch
from profkit.process.guard import ignore

Marker = Callable[[Callable[..., Any], object, tuple[Any, ...], dict[str, Any]], Any]


def marker_of(watch: Watch, function: Callable[..., Any]) -> Marker:
    """Return a wrapper for `function`: a coroutine if the watch's plan says so, else a function."""
    return _coroutine(watch, function) if watch.plan.coroutine else _function(watch)


class _Call:
    """One call from its start to its end; its exceptions propagate."""

    __slots__ = ("_begun", "_chosen", "_coroutine", "_start", "_token", "_watch")

    def __init__(self, watch: Watch, chosen: Chosen | None) -> None:
        self._watch, self._chosen = watch, chosen
        self._begun = False
        self._start: Moment | None = None
        self._token: Token[tuple[object, ...]] | None = None
        self._coroutine: Coroutine[Any, Any, Any] | None = None

    def __enter__(self) -> None:
        try:
            self._watch.begin()
            self._begun = True
            self._token = UNDER_WAY.set((*UNDER_WAY.get(), self._watch))
            if self._chosen is not None:
                self._start = now()
        except BaseException as error:  # noqa: BLE001 - raised again if it is the program's
            self.__exit__(type(error), error, None)
            ignore(error, "starting a measured call")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._leave(error)
        except BaseException as failure:  # noqa: BLE001 - as above
            self._abandon()
            ignore(failure, "ending a measured call")

    def _leave(self, error: BaseException | None) -> None:
        token, self._token = self._token, None
        if token is not None:
            try:  # noqa: SIM105 - suppress() takes longer
                UNDER_WAY.reset(token)
            except ValueError:
                pass  # a coroutine that is closed in another context than it began in
        # Otherwise this may be a child that was forked during the call.
        if self._begun and self._watch.backlog.open:
            self._begun = False
            self._watch.end()
            if self._chosen is not None and self._start is not None and error is None:
                torch_tracing.unseen(self._watch.enqueue, self._chosen, self._start)
                self._chosen = None
        if self._chosen is not None:
            self._abandon()

    def _abandon(self) -> None:
        """Close the payload of a call that will not be measured."""
        chosen, self._chosen = self._chosen, None
        if chosen is None:
            return
        try:
            self._watch.abandon(chosen)
        except BaseException as error:  # noqa: BLE001 - raised again if it is the program's
            ignore(error, "dropping a call")

    def hold(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Keep the user's coroutine until it is awaited; close it if that never happens.

        The caller then gets a "never awaited" warning for the wrapper only, which has the same name.
        """
        self._coroutine = coroutine

    def take(self) -> Coroutine[Any, Any, Any]:
        """Return the user's coroutine, to be awaited now."""
        coroutine, self._coroutine = self._coroutine, None
        assert coroutine is not None, "a coroutine starts once"
        return coroutine

    def __del__(self) -> None:
        if self._coroutine is not None:
            self._coroutine.close()
        if self._chosen is not None:  # the call never began
            self._abandon()


def _followed(watch: Watch, wrapped: Callable[..., Any], instance: object, args: tuple[Any, ...],
               kwargs: dict[str, Any]) -> _Call | None:  # fmt: skip
    """Return a call to follow; None if it is ignored, or choosing fails."""
    try:
        return _Call(watch, watch.choose(wrapped, instance, args, kwargs)) if watch.is_measurable() else None
    except RecursionError:
        # The call itself raises one, too, which should not have this one in its chain.
        return None
    except BaseException as error:  # noqa: BLE001 - as above
        ignore(error, "choosing a call to measure")
        return None


def _function(watch: Watch) -> Marker:
    def marker(
        wrapped: Callable[..., Any], instance: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        call = _followed(watch, wrapped, instance, args, kwargs)
        if call is None:
            return wrapped(*args, **kwargs)
        with call:
            return wrapped(*args, **kwargs)

    return marker


def _coroutine(watch: Watch, function: Callable[..., Any]) -> Marker:
    async def run(call: _Call) -> Any:
        with call:
            return await call.take()

    run.__name__ = getattr(function, "__name__", run.__name__)
    run.__qualname__ = getattr(function, "__qualname__", run.__qualname__)

    def marker(
        wrapped: Callable[..., Any], instance: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        call = _followed(watch, wrapped, instance, args, kwargs)
        if call is None:
            return wrapped(*args, **kwargs)
        call.hold(wrapped(*args, **kwargs))
        return run(call)

    return marker


torch_tracing.skip_frames_of(measuring.__name__)
