"""Markers: wrappers that count calls, and time each or one in `every`; stacks show their region's name.

The frame directly above a marker is the user's function. Frames of this package are profkit's own, and
reports omit them. Every line here runs in every profiled call: measure before adding one.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from inspect import CO_ITERABLE_COROUTINE
from types import FrameType, FunctionType, ModuleType
from typing import Any, Protocol, TypeVar, cast

from profkit.calls.importlib_bootstrap.stepping import Steps, awaited, first_step
from profkit.calls.slow_path import enter, enter_off_loop, leave, leave_off_loop
from profkit.model.region import RegionKind, code_of
from profkit.originals import REAL
from profkit.session import activity
from profkit.session.activity import is_within, remember_marker
from profkit.session.awaits import Awaits
from profkit.session.counters import Counters

Call = Callable[..., Any]
"""A user's callable; its arguments and its value are passed on unchanged."""

current_caller = activity.current_caller
"""See `activity.current_caller`; a global here, too, because each call needs it."""

_F = TypeVar("_F", bound=Call)


class Marker(Protocol):
    """Function that calls another as a region: `marker(function, *args, **kwargs)`."""

    def __call__(self, called: Call, /, *args: Any, **kwargs: Any) -> Any:
        """Call `called` with its arguments."""


def make_marker(counters: Counters, function: Call, every: int = 1, kind: RegionKind | None = None) -> Marker:
    """Return a marker of the region's kind, or of another, for `function` or others with its code.

    It profiles the first of each `every` calls; the others run unprofiled and are counted as skipped.
    """
    makers: dict[RegionKind, Callable[[Counters, Call], Marker]] = {
        RegionKind.COROUTINE: _coroutine,
        RegionKind.GENERATOR: _generator,
        RegionKind.ASYNC_GENERATOR: _async_generator,
    }
    marker = makers.get(kind or counters.region.kind, _function)(counters, function)
    return marker if every == 1 else _some(counters, marker, every)


WraptMarker = Callable[[Call, object, tuple[Any, ...], dict[str, Any]], Any]
"""Function that calls another, in wrapt's form: `marker(bound function, instance, args, kwargs)`."""


def by_wrapt(marker: Marker) -> WraptMarker:
    """Return a marker in wrapt's form."""

    def call(wrapped: Call, _instance: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        return marker(wrapped, *args, **kwargs)

    return call


def distinguish_greenlets(greenlets: ModuleType) -> None:
    """Identify callers by their greenlet from now on; `greenlets` is the package greenlet."""
    global current_caller
    current_caller = activity.current_caller = greenlets.getcurrent


def _named(function: _F, counters: Counters, public: Call | None = None) -> _F:
    """Return the same function as a marker; its generators and coroutines have the name of `public`."""
    marker = counters.region.marker
    # As of `types.coroutine`: its generators can be awaited.
    named = renamed(function, marker, getattr(code_of(public), "co_flags", 0) & CO_ITERABLE_COROUTINE)
    remember_marker(named.__code__, counters)
    named.__name__ = getattr(public, "__name__", marker)
    named.__qualname__ = getattr(public, "__qualname__", marker)
    return cast(_F, named)


def renamed(function: Call, name: str, flags: int = 0) -> FunctionType:
    """Return the same function with a code object that has another name, and these flags besides its own."""
    source = cast(FunctionType, function)
    code = source.__code__.replace(co_name=name, co_qualname=name, co_flags=source.__code__.co_flags | flags)
    return FunctionType(code, source.__globals__, name, source.__defaults__, source.__closure__)


def _function(counters: Counters, function: Call) -> Marker:
    now, callers, owns_segments = REAL.perf_counter_ns, counters.callers, counters.owns_segments
    record, nested, raised = counters.durations.append, counters.nested.append, counters.raised.append

    def marker(called: Call, /, *args: Any, **kwargs: Any) -> Any:
        caller = current_caller()
        if caller in callers:
            if counters.live or counters.ranged:
                nested(None)
            return called(*args, **kwargs)
        callers[caller] = None  # no interrupt can occur between this and `try`: there is no call
        try:
            if not counters.live and not enter(counters, sys._getframe()):
                return called(*args, **kwargs)
            try:
                start = now()
                try:
                    if kwargs:
                        return called(*args, **kwargs)
                    return called(*args)
                except BaseException:
                    raised(None)
                    raise
                finally:
                    record(now() - start)
            finally:
                if owns_segments or counters.leaves:
                    leave(counters)
        finally:
            del callers[caller]

    return _named(marker, counters)


def _some(counters: Counters, marker: Marker, every: int) -> Marker:
    turn, skipped = itertools.count(), counters.skipped.append

    def choose(called: Call, /, *args: Any, **kwargs: Any) -> Any:
        if next(turn) % every:
            skipped(None)
            return called(*args, **kwargs)
        return marker(called, *args, **kwargs)

    return choose


class Unstarted:
    """Holder of a coroutine until its wrapper starts; closes it if that never happens.

    A coroutine that is never awaited then causes one warning, with the user's name, and not two. A task that
    is cancelled before its first step closes its coroutine without a warning.
    """

    __slots__ = ("coroutine",)

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self.coroutine: Coroutine[Any, Any, Any] | None = coroutine

    def take(self) -> Coroutine[Any, Any, Any]:
        """Return the coroutine, which the caller awaits."""
        coroutine, self.coroutine = self.coroutine, None
        assert coroutine is not None, "a coroutine starts once"
        return coroutine

    def __del__(self) -> None:
        if self.coroutine is not None:
            self.coroutine.close()


def _coroutine(counters: Counters, function: Call) -> Marker:
    now, runs = REAL.perf_counter_ns, counters.open_runs
    # A sampler that reads tasks follows what a coroutine awaits, but not what it runs in steps.
    in_steps = not counters.options.async_stacks

    async def run(unstarted: Unstarted) -> Any:
        start = now()  # at the recursion limit this raises, before anything is counted
        nested = bool(runs) and _is_nested(sys._getframe())
        try:
            runs.append(None)
            if not counters.live:
                if not await enter_off_loop(counters, sys._getframe()):
                    return await unstarted.take()
                start = now()  # without the start of a sampler
            coroutine = unstarted.take()
            steps = Steps(coroutine, None if nested else counters.looks)
            try:
                return await (awaited(steps) if in_steps else coroutine)
            except BaseException as error:
                _count_raised(counters, error)
                raise
            finally:
                duration = now() - start
                _record(counters, nested, duration, steps.active_ns if in_steps else duration, steps.awaits)
        finally:
            if runs:
                runs.pop()

    run = _named(run, counters, function)

    def call(called: Call, /, *args: Any, **kwargs: Any) -> Any:
        return run(Unstarted(called(*args, **kwargs)))

    return call


def _generator(counters: Counters, function: Call) -> Marker:
    now, runs = REAL.perf_counter_ns, counters.open_runs

    # Not `yield from`, which handles GeneratorExit itself: the user's generator must handle it.
    def run(generator: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        start = now()
        nested = bool(runs) and _is_nested(sys._getframe())
        try:
            runs.append(None)
            joined = counters.live
            if not joined:
                joined, start = enter(counters, sys._getframe()), now()  # without the start of a sampler
            steps = Steps(generator)
            try:
                while True:
                    try:
                        steps.send((yield steps.step()))
                    except BaseException as error:
                        if steps.waiting:
                            steps.throw(error)
                        elif isinstance(error, StopIteration):
                            return error.value
                        else:
                            raise
            except BaseException as error:
                _count_raised(counters, error)
                raise
            finally:
                if joined:
                    _record(counters, nested, now() - start, steps.active_ns)
        finally:
            if runs:
                runs.pop()

    run = _named(run, counters, function)

    def call(called: Call, /, *args: Any, **kwargs: Any) -> Any:
        return run(called(*args, **kwargs))

    return call


def _async_generator(counters: Counters, function: Call) -> Marker:
    now, runs = REAL.perf_counter_ns, counters.open_runs

    async def run(generator: AsyncGenerator[Any, Any]) -> AsyncGenerator[Any, Any]:
        start, active_ns = now(), 0
        nested = bool(runs) and _is_nested(sys._getframe())
        try:
            runs.append(None)
            joined = counters.live
            if not joined:
                joined, start = await enter_off_loop(counters, sys._getframe()), now()
            looks, awaits = None if nested else counters.looks, Awaits()
            steps = Steps(first_step(generator), looks, awaits, generator)
            try:
                while True:
                    try:
                        following = generator.asend((yield await awaited(steps)))
                    except BaseException as error:
                        if steps.returned:
                            following = generator.athrow(error)
                        elif isinstance(error, StopAsyncIteration):
                            return
                        else:
                            raise
                    active_ns, steps = active_ns + steps.active_ns, Steps(following, looks, awaits, generator)
            except BaseException as error:
                _count_raised(counters, error)
                raise
            finally:
                if joined:
                    _record(counters, nested, now() - start, active_ns + steps.active_ns, awaits)
        finally:
            if runs:
                runs.pop()

    run = _named(run, counters, function)

    def call(called: Call, /, *args: Any, **kwargs: Any) -> Any:
        return run(called(*args, **kwargs))

    return call


def _is_nested(frame: FrameType) -> bool:
    """Return whether the run in `frame` was reached from another run of its region."""
    return is_within(frame.f_code, frame.f_back)


def _count_raised(counters: Counters, error: BaseException) -> None:
    """Count a run that failed; closing a generator early is no failure."""
    if not isinstance(error, GeneratorExit):
        counters.raised.append(None)


def _record(
    counters: Counters, nested: bool, wall_ns: int, active_ns: int, awaits: Awaits | None = None
) -> None:
    if nested:
        counters.nested.append(None)
    else:
        counters.durations.append(wall_ns)
        counters.suspended.append(wall_ns - active_ns)
        if awaits:
            counters.awaits.append(awaits)
    if counters.owns_segments:
        leave_off_loop(counters)
