"""What a user writes: `@profile()` above a function, `with profiled():` around a block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    Protocol,
    TypeVar,
    Unpack,
    cast,
    overload,
)  # fmt: skip

from profkit import inert
from profkit.calls.blocks import Block
from profkit.calls.options import ProfilerOptions
from profkit.calls.regions import check_callable
from profkit.calls.wrapper import decorated, wrapper_of
from profkit.config import CONFIG
from profkit.errors import ProfkitError, UsageError
from profkit.process.guard import ignore
from profkit.profiler import FunctionProfiler
from profkit.session.activity import is_spawned
from profkit.tracing import trace_instead

if TYPE_CHECKING:
    from profkit.measuring.decorated.options import MeasuredMode, MeasuredOptions
    from profkit.model.measurement import MeasuredRun
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


class MeasuredFunction(Protocol[_P, _R]):
    """A function decorated with a measuring mode, as type checkers see it."""

    @property
    def last_run(self) -> MeasuredRun | None:
        """The newest of `runs`, None before the first call that returned."""

    @property
    def runs(self) -> tuple[MeasuredRun, ...]:
        """This process's runs, oldest first; asking measures what is still to be measured, and waits."""

    @property
    def __wrapped__(self) -> Callable[_P, _R]:
        """The function as it was written."""

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Call the function; the first call of its signature is measured later."""

    @overload
    def __get__(self, instance: None, owner: type) -> MeasuredFunction[_P, _R]: ...

    @overload
    def __get__(
        self: MeasuredFunction[Concatenate[_T, _Rest], _R], instance: _T, owner: type
    ) -> MeasuredFunction[_Rest, _R]: ...


@overload
def profile(
    function: Callable[_P, _R], /, *, mode: Literal["samples"] = ..., **options: Unpack[ProfilerOptions]
) -> ProfiledFunction[_P, _R]: ...


@overload
def profile(
    function: None = None, /, *, mode: Literal["samples"] = ..., **options: Unpack[ProfilerOptions]
) -> Callable[[Callable[_P, _R]], ProfiledFunction[_P, _R]]: ...


@overload
def profile(
    function: Callable[_P, _R], /, *, mode: MeasuredMode, **options: Unpack[MeasuredOptions]
) -> MeasuredFunction[_P, _R]: ...


@overload
def profile(
    function: None = None, /, *, mode: MeasuredMode, **options: Unpack[MeasuredOptions]
) -> Callable[[Callable[_P, _R]], MeasuredFunction[_P, _R]]: ...


def profile(
    function: Callable[..., Any] | None = None, /, *, mode: str = "samples", **options: Any
) -> Callable[..., Any]:
    """Profile every call of a function, with or without parentheses: `@profile`, `@profile(rate=50)`.

    With `mode="timer"`, "callgrind" or "timer+callgrind" calls are measured in isolated processes
    instead: the first of each signature, later, in the background or when the program ends, on its
    arguments as they were. That runs the function many more times, on whatever files, networks and
    databases it uses.

    Here the function runs exactly once per call; its value or exception passes through. With
    `enabled=False` or PROFKIT_DISABLE=1 the function itself is returned. The options are those of
    `FunctionProfiler`, or of `MeasuredOptions`. Raises `UsageError` for options that make no sense, when
    decorating.
    """
    try:
        decorator = _sampled(options) if mode == "samples" else _measured(mode, options)
    except BaseException as error:  # noqa: BLE001 - raised if it is wrong use, or the program's
        _check_use(error)
        return inert.profile(function)
    return _guarded(decorator) if function is None else _guarded(decorator)(function)


def _guarded(decorate: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[..., Any]:
    def decorated_or_plain(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return decorate(function)
        except BaseException as error:  # noqa: BLE001 - raised if it is wrong use, or the program's
            _check_use(error)
            return function

    return decorated_or_plain


def _check_use(error: BaseException) -> None:
    """Raise what a user did wrong; log what profkit did."""
    if isinstance(error, ProfkitError):
        raise error
    ignore(error, "decorating a function")


def _sampled(options: Mapping[str, Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    if not options.keys() <= ProfilerOptions.__annotations__.keys():
        from profkit.measuring.decorated.options import refuse_with_samples

        refuse_with_samples(options, ProfilerOptions.__annotations__)
    return _decorator(FunctionProfiler(**options))


def _measured(mode: str, options: Mapping[str, Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    from profkit.measuring.decorated.options import check, plan_of

    check(mode, options, ProfilerOptions.__annotations__)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        _refuse_class(function)
        check_callable(function)
        function = _as_in_class(function)
        plan = plan_of(function, mode, options)
        if not options.get("enabled", True) or CONFIG.disabled or is_spawned():
            return function
        from profkit.measuring.decorated.program import watch_of
        from profkit.measuring.decorated.wrapper import marker_of

        watch = watch_of(plan)
        return decorated(function, marker_of(watch, function), watch.runs, watch.note_traced)

    return decorate


def _refuse_class(function: object) -> None:
    """Pickle finds classes by their names, and would find the wrapper."""
    if isinstance(function, type):
        raise UsageError(f"{function!r} is a class", "decorate its methods, such as __init__")


def _as_in_class(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the class or static method that Python makes of a plain function of this name in a class.

    It would not do so with a wrapper.
    """
    name, owner = getattr(function, "__name__", ""), getattr(function, "__qualname__", "").rpartition(".")[0]
    if type(function) is not FunctionType or not owner or owner.endswith("<locals>"):
        return function
    if name in ("__init_subclass__", "__class_getitem__"):
        return classmethod(function)  # type: ignore[return-value]
    return staticmethod(function) if name == "__new__" else function


def _decorator(profiler: FunctionProfiler) -> Callable[[Callable[_P, _R]], ProfiledFunction[_P, _R]]:
    def decorate(function: Callable[_P, _R]) -> ProfiledFunction[_P, _R]:
        _refuse_class(function)
        if not profiler.active:
            profiler.account(function)  # raises for what cannot be decorated
            return cast(ProfiledFunction[_P, _R], function)
        return cast(ProfiledFunction[_P, _R], wrapper_of(_as_in_class(function), profiler))

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
