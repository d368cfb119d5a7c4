"""Markers: the wrappers whose code objects bear a region's name, so that stacks say where they belong.

What stands directly above a marker is the user's function. Frames of this package are profkit's own,
and reports leave them out. Every line here runs in every profiled call: measure before adding one.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from time import perf_counter_ns
from types import FunctionType
from typing import Any, Protocol, TypeVar, cast

from profkit.model.region import RegionKind
from profkit.session.account import Account
from profkit.session.activity import ACTIVE, own_calls, remember_marker
from profkit.session.entry import enter, enter_off_loop, leave, leave_off_loop
from profkit.session.steps import Steps, awaited, first_step

Call = Callable[..., Any]
"""A user's callable: profkit passes its arguments and its value on untouched."""

_F = TypeVar("_F", bound=Call)


class Marker(Protocol):
    """What wrapt calls in place of the user's function."""

    def __call__(
        self, wrapped: Call, instance: object, args: tuple[Any, ...], kwargs: dict[str, Any], /
    ) -> Any:
        """Call `wrapped`, bound to `instance`, with its arguments."""


def make_marker(account: Account, function: Call, every: int = 1) -> Marker:
    """The wrapper of `function` for a region, of the region's kind.

    Of `every` calls the first is profiled; the others run bare and are counted as skipped.
    """
    makers: dict[RegionKind, Callable[[Account, Call], Marker]] = {
        RegionKind.COROUTINE: _coroutine,
        RegionKind.GENERATOR: _generator,
        RegionKind.ASYNC_GENERATOR: _async_generator,
    }
    marker = makers.get(account.region.kind, _function)(account, function)
    return marker if every == 1 else _some(account, marker, every)


def _named(function: _F, account: Account, public: Call | None = None) -> _F:
    """The same function under a code object that bears the region's marker.

    Generators and coroutines take their `__name__` from the function: that of `public`.
    """
    marker = account.region.marker
    source = cast(FunctionType, function)
    code = source.__code__.replace(co_name=marker, co_qualname=marker)
    remember_marker(code)
    named = FunctionType(code, source.__globals__, marker, source.__defaults__, source.__closure__)
    named.__name__ = getattr(public, "__name__", marker)
    named.__qualname__ = getattr(public, "__qualname__", marker)
    return cast(_F, named)


def _function(account: Account, function: Call) -> Marker:
    begin, end, now = ACTIVE.append, ACTIVE.pop, perf_counter_ns
    record, raised, covers = account.durations.append, account.raised.append, account.covers

    def marker(wrapped: Call, instance: object, args: tuple[Any, ...], kwargs: dict[str, Any], /) -> Any:
        # `begin` stands inside: an interrupt that comes with its return still meets `end`.
        try:
            begin(None)
            if not account.live and not enter(account, own_calls(sys._getframe())):
                return wrapped(*args, **kwargs)
            start = now()
            try:
                return wrapped(*args, **kwargs)
            except BaseException:
                raised(None)
                raise
            finally:
                record(now() - start)
                if covers:
                    leave(account)
        finally:
            end()

    return _named(marker, account)


def _some(account: Account, marker: Marker, every: int) -> Marker:
    turn, skipped = itertools.count(), account.skipped.append

    def choose(wrapped: Call, instance: object, args: tuple[Any, ...], kwargs: dict[str, Any], /) -> Any:
        if next(turn) % every:
            skipped(None)
            return wrapped(*args, **kwargs)
        return marker(wrapped, instance, args, kwargs)

    return choose


class _Unstarted:
    """Holds a user's coroutine until its wrapper starts; closes it where that never happens.

    A coroutine that nobody awaits is then warned about once, under the user's name, and not twice.
    """

    __slots__ = ("coroutine",)

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self.coroutine: Coroutine[Any, Any, Any] | None = coroutine

    def take(self) -> Coroutine[Any, Any, Any]:
        coroutine, self.coroutine = self.coroutine, None
        assert coroutine is not None, "a coroutine starts once"
        return coroutine

    def __del__(self) -> None:
        if self.coroutine is not None:
            self.coroutine.close()


def _coroutine(account: Account, function: Call) -> Marker:
    begin, end, now = ACTIVE.append, ACTIVE.pop, perf_counter_ns

    async def run(unstarted: _Unstarted) -> Any:
        try:
            begin(None)
            if not account.live and not await enter_off_loop(account, own_calls(sys._getframe())):
                return await unstarted.take()
            steps, start = Steps(unstarted.take()), now()
            try:
                return await awaited(steps)
            except BaseException as error:
                _count_raised(account, error)
                raise
            finally:
                _record(account, now() - start, steps.active_ns)
        finally:
            end()

    run = _named(run, account, function)

    def call(wrapped: Call, instance: object, args: tuple[Any, ...], kwargs: dict[str, Any], /) -> Any:
        return run(_Unstarted(wrapped(*args, **kwargs)))

    return call


def _generator(account: Account, function: Call) -> Marker:
    begin, end, now = ACTIVE.append, ACTIVE.pop, perf_counter_ns

    # Not `yield from`, which answers GeneratorExit itself: the user's generator is to answer it.
    def run(generator: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        try:
            begin(None)
            joined = account.live or enter(account, own_calls(sys._getframe()))
            steps, start = Steps(generator), now()
            try:
                while steps.next():
                    try:
                        steps.send((yield steps.item))
                    except BaseException as thrown:  # noqa: BLE001 - forwarded
                        steps.throw(thrown)
                return steps.item
            except BaseException as error:
                _count_raised(account, error)
                raise
            finally:
                if joined:
                    _record(account, now() - start, steps.active_ns)
        finally:
            end()

    run = _named(run, account, function)

    def call(wrapped: Call, instance: object, args: tuple[Any, ...], kwargs: dict[str, Any], /) -> Any:
        return run(wrapped(*args, **kwargs))

    return call


def _async_generator(account: Account, function: Call) -> Marker:
    begin, end, now = ACTIVE.append, ACTIVE.pop, perf_counter_ns

    async def run(generator: AsyncGenerator[Any, Any]) -> AsyncGenerator[Any, Any]:
        try:
            begin(None)
            joined = account.live or await enter_off_loop(account, own_calls(sys._getframe()))
            steps, start, active_ns = Steps(first_step(generator)), now(), 0
            try:
                while True:
                    try:
                        await awaited(steps)
                    except StopAsyncIteration:
                        return
                    finally:
                        active_ns += steps.active_ns
                    try:
                        steps = Steps(generator.asend((yield steps.item)))
                    except BaseException as thrown:  # noqa: BLE001 - forwarded
                        steps = Steps(generator.athrow(thrown))
            except BaseException as error:
                _count_raised(account, error)
                raise
            finally:
                if joined:
                    _record(account, now() - start, active_ns)
        finally:
            end()

    run = _named(run, account, function)

    def call(wrapped: Call, instance: object, args: tuple[Any, ...], kwargs: dict[str, Any], /) -> Any:
        return run(wrapped(*args, **kwargs))

    return call


def _count_raised(account: Account, error: BaseException) -> None:
    """Closing a generator early is no failure of it."""
    if not isinstance(error, GeneratorExit):
        account.raised.append(None)


def _record(account: Account, wall_ns: int, active_ns: int) -> None:
    account.durations.append(wall_ns)
    account.suspended.append(wall_ns - active_ns)
    if account.covers:
        leave_off_loop(account)
