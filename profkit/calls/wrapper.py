"""Wrappers of decorated functions: wrapt proxies with their region's runs.

Calling the proxy of a plain function calls the marker, which is the `__call__` of its own type; bound, it
is an ordinary method. That takes half the time of wrapt's own calls, which other callables use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from types import CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex

import wrapt

from profkit import calls, session
from profkit.calls.importlib_bootstrap.markers import WraptMarker, by_wrapt, distinguish_greenlets
from profkit.calls.slow_path import note_traced, results_of
from profkit.session.counters import Counters
from profkit.torch_tracing import Note, Sightings, StandIn, seen_function, seen_through, skip_frames_of

if TYPE_CHECKING:
    from profkit.calls.importlib_bootstrap.markers import Marker
    from profkit.model.measurement import MeasuredRun
    from profkit.model.run import Run

Runs = Callable[[], "Iterator[Run | MeasuredRun]"]
"""Source of a function's runs, newest first."""

# No annotations in the bodies of these classes: they would hide those of the function.


class _Region:
    """Common base of bound and unbound wrappers; wrapt keeps state in names with `_self_`."""

    _profkit_decorated = True  # measuring sends the plain function to workers

    @property
    def runs(self) -> tuple[Run, ...] | tuple[MeasuredRun, ...]:
        """Runs of the function in this process, oldest first.

        Reading may end a sampler's segment, or wait until calls are measured.
        """
        return tuple(self._self_runs())[::-1]  # type: ignore[attr-defined]

    @property
    def last_run(self) -> Run | MeasuredRun | None:
        """Newest of `runs`, None before the first profiled call."""
        return next(self._self_runs(), None)  # type: ignore[attr-defined]

    def __copy__(self) -> _Region:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> _Region:
        return self


class BoundRegionWrapper(_Region, wrapt.BoundFunctionWrapper):  # type: ignore[type-arg]
    """A decorated method that is bound; plain functions are bound as `MethodType` instead."""

    @property
    def __func__(self) -> object:
        """Decorated function that is bound, as it is in the class."""
        getattr(self.__wrapped__, "__func__")  # noqa: B009 - an AttributeError if nothing is bound
        return self._self_parent

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Callable[..., Any], tuple[object, str]]:
        owner = self._self_owner if self._self_instance is None else self._self_instance
        return getattr, (owner, self.__wrapped__.__name__)


class RegionWrapper(_Region, wrapt.FunctionWrapper):  # type: ignore[type-arg]
    """A decorated function; pickles by name, as functions do."""

    __bound_function_wrapper__ = BoundRegionWrapper

    def __init__(self, wrapped: Callable[..., Any], marker: WraptMarker, runs: Runs) -> None:
        super().__init__(wrapped, marker)
        self._self_runs = runs

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    @property
    def __dict__(self) -> dict[str, object]:
        """Attributes of the function, which functools.wraps copies."""
        return self.__wrapped__.__dict__

    @__dict__.setter
    def __dict__(self, attributes: dict[str, object]) -> None:
        self.__wrapped__.__dict__ = attributes

    def __reduce_ex__(self, protocol: SupportsIndex) -> str:
        return str(self.__wrapped__.__qualname__)


class ClassMethodWrapper(_Region, classmethod):  # type: ignore[type-arg]
    """A class method of a decorated function; cloudpickle sends it with its class."""

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[type, tuple[object]]:
        return classmethod, (self.__func__,)


class StaticMethodWrapper(_Region, staticmethod):  # type: ignore[type-arg]
    """A static method of a decorated function; cloudpickle sends it with its class."""

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[type, tuple[object]]:
        return staticmethod, (self.__func__,)


class RegionSource(Protocol):
    """Factory of regions for functions: a profiler."""

    def counters(self, function: Callable[..., object]) -> Counters:
        """Return the counters of a function."""

    def marker(self, function: Callable[..., object], counters: Counters) -> Marker:
        """Return a marker that runs the function as the region of `counters`."""


def wrapper_of(function: Callable[..., Any], source: RegionSource) -> Callable[..., Any]:
    """Return a wrapper of `function` as a sampled region; a static or class method stays one."""
    if isinstance(function, staticmethod | classmethod) and type(function.__func__) is FunctionType:
        method = ClassMethodWrapper if isinstance(function, classmethod) else StaticMethodWrapper
        inner: Any = wrapper_of(function.__func__, source)
        outer: Any = method(inner)
        outer._self_runs, outer._self_counters = inner._self_runs, inner._self_counters
        return outer  # type: ignore[no-any-return]
    counters = source.counters(function)
    marker, note = source.marker(function, counters), partial(note_traced, counters)
    runs = partial(results_of, counters)
    if type(function) is FunctionType:
        own = {"__call__": MethodType(marker, function), "__get__": _bind, "__code__": _CODE}
        wrapper: Any = _wrapper_type(function, Sightings(note), own)(function, by_wrapt(marker), runs)
        wrapper._self_source = source
    else:
        wrapper = decorated(function, by_wrapt(marker), runs, note)
    wrapper._self_counters = counters
    return wrapper  # type: ignore[no-any-return]


def _code_of(wrapper: RegionWrapper) -> CodeType:
    return wrapper.__wrapped__.__code__


def _change_code(wrapper: RegionWrapper, code: CodeType) -> None:
    """Replace the function's code, as IPython's autoreload does: a new version of its region."""
    function, source = wrapper.__wrapped__, wrapper._self_source
    function.__code__ = code
    counters = source.counters(function)
    type(wrapper).__call__ = MethodType(source.marker(function, counters), function)  # type: ignore[method-assign]
    earlier = wrapper._self_runs
    wrapper._self_runs = lambda: chain(results_of(counters), earlier())
    wrapper._self_counters = counters  # type: ignore[attr-defined]


_CODE = property(_code_of, _change_code)


def decorated(function: Callable[..., Any], marker: WraptMarker, runs: Runs, note: Note) -> RegionWrapper:
    """Return a wrapper of `function`, with its own type, which calls it by `marker`.

    `note` is called once for each compilation that uses the function in its place.
    """
    return _wrapper_type(function, Sightings(note), {})(function, marker, runs)


def _wrapper_type(function: object, sightings: Sightings, own: dict[str, object]) -> type[RegionWrapper]:
    """Return a new type for each function, because tracers look at the type (see profkit.torch_tracing)."""
    common = seen_through(sightings)
    if isinstance(function, FunctionType):
        common["_torchdynamo_inline"] = StandIn(function, sightings)
    bound = type(BoundRegionWrapper.__name__, (BoundRegionWrapper,), common)
    common["__bound_function_wrapper__"] = bound
    if isinstance(function, staticmethod | classmethod):
        common["__func__"] = seen_function(sightings)
    if getattr(function, "__name__", None) == "__call__":
        common["__get__"] = _get
    return type(RegionWrapper.__name__, (RegionWrapper,), {**own, **common})


def _bind(self: RegionWrapper, instance: object, owner: type | None = None) -> object:
    return self if instance is None else MethodType(self, instance)


def _get(self: RegionWrapper, instance: object, owner: type | None = None) -> object:
    """Return the same object for the class: TorchDynamo guards on the identity of `type(x).__call__`."""
    return self if instance is None else RegionWrapper.__get__(self, instance, owner)


skip_frames_of(session.__name__, calls.__name__)
wrapt.register_post_import_hook(distinguish_greenlets, "greenlet")
