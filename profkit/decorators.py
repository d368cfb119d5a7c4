"""What a user writes: `@profile()` above a function, `with profiled():` around a block."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar, Unpack, cast, overload

from profkit.errors import UsageError
from profkit.profiler import FunctionProfiler
from profkit.session.block import Block
from profkit.session.options import ProfilerOptions
from profkit.session.wrapper import wrapper_of
from profkit.tracing import trace_instead

if TYPE_CHECKING:
    from profkit.model.run import Run

_P = ParamSpec("_P")
_Rest = ParamSpec("_Rest")
_R = TypeVar("_R", covariant=True)
_T = TypeVar("_T")


class ProfiledFunction(Protocol[_P, _R]):
    """A decorated function as type checkers see it; at run time it is a wrapt proxy of the function."""

    @property
    def last_run(self) -> Run | None:
        """The newest of `runs`, None before the first profiled call."""

    @property
    def runs(self) -> tuple[Run, ...]:
        """This process's runs, oldest first; asking may end a sampler's segment."""

    @property
    def __wrapped__(self) -> Callable[_P, _R]:
        """The function as it was written."""

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Call the function; the call is profiled."""

    @overload
    def __get__(self, instance: None, owner: type) -> ProfiledFunction[_P, _R]: ...

    @overload
    def __get__(
        self: ProfiledFunction[Concatenate[_T, _Rest], _R], instance: _T, owner: type
    ) -> ProfiledFunction[_Rest, _R]: ...


@overload
def profile(
    function: Callable[_P, _R], /, **options: Unpack[ProfilerOptions]
) -> ProfiledFunction[_P, _R]: ...


@overload
def profile(
    function: None = None, /, **options: Unpack[ProfilerOptions]
) -> Callable[[Callable[_P, _R]], ProfiledFunction[_P, _R]]: ...


def profile(
    function: Callable[_P, _R] | None = None, /, **options: Unpack[ProfilerOptions]
) -> ProfiledFunction[_P, _R] | Callable[[Callable[_P, _R]], ProfiledFunction[_P, _R]]:
    """Profile every call of a function, with or without parentheses: `@profile`, `@profile(rate=50)`.

    The function runs exactly once per call; its value or exception passes through. With
    `enabled=False` or PROFKIT_DISABLE=1 the function itself is returned. The options are those of
    `FunctionProfiler`. Raises `UsageError` for options that make no sense, when decorating.
    """
    profiler = FunctionProfiler(**options)
    return _decorator(profiler) if function is None else _decorator(profiler)(function)


def _decorator(profiler: FunctionProfiler) -> Callable[[Callable[_P, _R]], ProfiledFunction[_P, _R]]:
    def decorate(function: Callable[_P, _R]) -> ProfiledFunction[_P, _R]:
        if isinstance(function, type):  # pickle finds classes by their names, and would find the wrapper
            raise UsageError(f"{function!r} is a class", "decorate its methods, such as __init__")
        account = profiler.account(function)
        if not profiler.active:
            return cast(ProfiledFunction[_P, _R], function)
        return cast(
            ProfiledFunction[_P, _R],
            wrapper_of(function, profiler.marker(function, account), account),
        )

    return decorate


class profiled(Block):
    """Profile a block: `with profiled("loading") as session: …`, then `session.run`.

    Also a decorator: `@profiled("loading")` is `@profile(label="loading")`. Make one for each `with`
    statement, or keep one and enter it again; it cannot be entered while it is.
    """

    __slots__ = ("_options",)

    def __init__(self, label: str | None = None, /, **options: Unpack[ProfilerOptions]) -> None:
        if label is not None:
            if callable(label):
                raise UsageError("@profiled needs parentheses", "write @profiled() or @profile")
            options["label"] = label
        super().__init__(_profiler_for(options))
        self._options = options

    def __call__(self, function: Callable[_P, _R]) -> ProfiledFunction[_P, _R]:
        """Decorate a function, as `profile` with these options does."""
        return profile(function, **self._options)


_PROFILERS: dict[tuple[tuple[str, object], ...], FunctionProfiler] = {}
"""Profilers of `profiled()` by their options, so that a block in a loop makes none."""


def _profiler_for(options: ProfilerOptions) -> FunctionProfiler:
    key = tuple(options.items())
    try:
        known = _PROFILERS.get(key)
    except TypeError:  # a list among the options: no key, and a profiler of its own
        return FunctionProfiler(**options)
    if known is None:
        known = _PROFILERS[key] = FunctionProfiler(**options)
    return known


def _traced_init(self: object, *args: object, **options: object) -> None: ...


def _traced_enter(self: object) -> object:
    return self


def _traced_exit(self: object, *error: object) -> None: ...


trace_instead(profiled.__init__, _traced_init)
trace_instead(profiled.__enter__, _traced_enter)
trace_instead(profiled.__exit__, _traced_exit)
