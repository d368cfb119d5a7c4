"""Public `@profile()` and `with profiled():`: their modes, and how many labels blocks may have."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
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

from profkit import disabled
from profkit.calls.blocks import Block
from profkit.calls.options import OPTIONS
from profkit.calls.regions import check_callable
from profkit.calls.wrapper import decorated, wrapper_of
from profkit.config import CONFIG
from profkit.errors import InvalidOption, ProfkitError, UsageError
from profkit.process.guard import ignore, say_once
from profkit.profiler import FunctionProfiler, labelled
from profkit.samplers.options import check_positive
from profkit.session.activity import is_spawned
from profkit.torch_tracing import trace_instead

if TYPE_CHECKING:
    from profkit.calls.keywords import MemoryOptions, ProfilerOptions
    from profkit.measuring.decorated.options import MeasuredMode, MeasuredOptions
    from profkit.model.measurement import MeasuredRun
    from profkit.model.region import Region
    from profkit.model.run import Run
    from profkit.pytorch.recorder import TraceOptions
    from profkit.session.counters import Tracer

_P = ParamSpec("_P")
_Rest = ParamSpec("_Rest")
_R = TypeVar("_R", covariant=True)
_T = TypeVar("_T")


class ProfiledFunction(Protocol[_P, _R]):
    """Type of a decorated function for type checkers; at run time it is a wrapt proxy of the function."""

    @property
    def last_run(self) -> Run | None:
        """Newest of `runs`, None before the first profiled call."""

    @property
    def runs(self) -> tuple[Run, ...]:
        """Runs in this process, oldest first; reading may end a sampler's segment."""

    @property
    def __wrapped__(self) -> Callable[_P, _R]:
        """Undecorated function."""

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Call the function and profile the call."""

    @overload
    def __get__(self, instance: None, owner: type) -> ProfiledFunction[_P, _R]: ...

    @overload
    def __get__(
        self: ProfiledFunction[Concatenate[_T, _Rest], _R], instance: _T, owner: type
    ) -> ProfiledFunction[_Rest, _R]: ...


class MeasuredFunction(Protocol[_P, _R]):
    """Type of a function that is decorated with a measuring mode, for type checkers."""

    @property
    def last_run(self) -> MeasuredRun | None:
        """Newest of `runs`, None before the first call that returned."""

    @property
    def runs(self) -> tuple[MeasuredRun, ...]:
        """Runs in this process, oldest first; reading waits for pending measurements."""

    @property
    def __wrapped__(self) -> Callable[_P, _R]:
        """Undecorated function."""

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Call the function; the first call of each signature is measured later."""

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
    function: Callable[_P, _R], /, *, mode: Literal["trace"], **options: Unpack[TraceOptions]
) -> ProfiledFunction[_P, _R]: ...


@overload
def profile(
    function: None = None, /, *, mode: Literal["trace"], **options: Unpack[TraceOptions]
) -> Callable[[Callable[_P, _R]], ProfiledFunction[_P, _R]]: ...


@overload
def profile(
    function: Callable[_P, _R], /, *, mode: MeasuredMode, **options: Unpack[MeasuredOptions]
) -> MeasuredFunction[_P, _R]: ...


@overload
def profile(
    function: None = None, /, *, mode: MeasuredMode, **options: Unpack[MeasuredOptions]
) -> Callable[[Callable[_P, _R]], MeasuredFunction[_P, _R]]: ...


@overload
def profile(
    function: Callable[_P, _R], /, *, mode: Literal["memory"], **options: Unpack[MemoryOptions]
) -> ProfiledFunction[_P, _R]: ...


@overload
def profile(
    function: None = None, /, *, mode: Literal["memory"], **options: Unpack[MemoryOptions]
) -> Callable[[Callable[_P, _R]], ProfiledFunction[_P, _R]]: ...


def profile(
    function: Callable[..., Any] | None = None, /, *, mode: str = "samples", **options: Any
) -> Callable[..., Any]:
    """Profile every call of a function, with or without parentheses: `@profile`, `@profile(rate=50)`.

    With `mode="trace"`, torch.profiler also records the operators of the first calls (`TraceOptions`). With
    `mode="memory"`, memray tracks the memory that each call allocates (`MemoryOptions`).

    With `mode="timer"`, "callgrind" or "timer+callgrind", calls are measured in isolated processes instead.
    Only the first call of each signature is measured, later, in the background or when the program ends,
    with its original arguments. That runs the function many more times, with the files, networks and
    databases that it uses.

    In the program the function runs exactly once per call; its value or exception passes through. With
    `enabled=False` or PROFKIT_DISABLE=1 the function itself is returned. The options are those of
    `FunctionProfiler`, or of `MeasuredOptions`. Raises `UsageError` for invalid options when decorating.
    """
    try:
        decorator = _in_place(mode, options) if mode in _IN_PLACE else _measured(mode, options)
    except BaseException as error:  # noqa: BLE001 - raised if it is a usage error or the program's
        _check_use(error)
        return disabled.profile(function)
    return _guarded(decorator) if function is None else _guarded(decorator)(function)


def _guarded(decorate: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[..., Any]:
    def decorated_or_plain(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return decorate(function)
        except BaseException as error:  # noqa: BLE001 - raised if it is a usage error or the program's
            _check_use(error)
            return function

    return decorated_or_plain


def _check_use(error: BaseException) -> None:
    """Raise a user's error; log an error of profkit."""
    if isinstance(error, ProfkitError):
        raise error
    ignore(error, "decorating a function")


def _in_place(mode: str, options: Mapping[str, Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    if mode == "samples" and not options.keys() <= set(OPTIONS):
        from profkit.measuring.decorated.options import refuse_with_samples

        refuse_with_samples(options, OPTIONS)
    return _decorator(_IN_PLACE[mode](options))


class _TracingProfiler(FunctionProfiler):
    """Profiler with mode="trace": torch.profiler records the first calls of each region."""

    def __init__(self, **options: Unpack[TraceOptions]) -> None:
        from profkit.pytorch.recorder import TRACE_CALLS

        self._calls = options.pop("trace_calls", TRACE_CALLS)
        check_positive("trace_calls", self._calls, whole=True)
        super().__init__(**cast("ProfilerOptions", options))

    def _tracer(self, region: Region) -> Tracer:
        from profkit.pytorch.recorder import TorchTracer

        return TorchTracer(region, self._calls)


_IN_PLACE: Mapping[str, Callable[[Mapping[str, Any]], FunctionProfiler]] = {
    "samples": lambda options: FunctionProfiler(**options),
    "memory": lambda options: FunctionProfiler.of_memory(cast("MemoryOptions", options)),
    "trace": lambda options: _TracingProfiler(**options),
}
"""Modes that profile calls and blocks in place, by their profilers."""


def _measured(mode: str, options: Mapping[str, Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    from profkit.measuring.decorated.options import check, plan_of

    check(mode, options, OPTIONS)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        _refuse_class(function)
        check_callable(function)
        function = _as_in_class(function)
        plan = plan_of(function, mode, options)
        if not options.get("enabled", True) or CONFIG.disabled or is_spawned():
            return function
        from profkit.measuring.decorated.importlib_bootstrap.markers import marker_of
        from profkit.measuring.decorated.program import watch_of

        watch = watch_of(plan)
        return decorated(function, marker_of(watch, function), watch.runs, watch.note_traced)

    return decorate


def _refuse_class(function: object) -> None:
    """Raise UsageError for a class: pickle finds classes by name, and would find the wrapper."""
    if isinstance(function, type):
        raise UsageError(f"{function!r} is a class", "decorate its methods, such as __init__")


def _as_in_class(function: Callable[..., Any]) -> Callable[..., Any]:
    """Convert `__new__`, `__init_subclass__` and `__class_getitem__` to static or class methods.

    Python does that for plain functions in a class, but not for wrappers.
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
            profiler.counters(function)  # raises if the function cannot be decorated
            return cast(ProfiledFunction[_P, _R], function)
        return cast(ProfiledFunction[_P, _R], wrapper_of(_as_in_class(function), profiler))

    return decorate


class profiled(Block):
    """Profiled block: `with profiled("loading") as session: …`, then `session.run`.

    Also a decorator: `@profiled("loading")` is `@profile(label="loading")`. Create one for each `with`
    statement, or reuse one; it cannot be entered while it is active. Its mode is "samples", "memory" or
    "trace", as of `profile`; other modes measure calls of functions, and blocks do not have them.
    """

    __slots__ = ("_options",)

    @overload
    def __init__(
        self,
        label: str | None = None,
        /,
        *,
        mode: Literal["samples"] = ...,
        **options: Unpack[ProfilerOptions],
    ) -> None: ...

    @overload
    def __init__(
        self, label: str | None = None, /, *, mode: Literal["trace"], **options: Unpack[TraceOptions]
    ) -> None: ...

    @overload
    def __init__(
        self, label: str | None = None, /, *, mode: Literal["memory"], **options: Unpack[MemoryOptions]
    ) -> None: ...

    def __init__(self, label: str | None = None, /, **options: Any) -> None:
        if label is not None:
            if callable(label):
                raise UsageError("@profiled needs parentheses", "write @profiled() or @profile")
            options["label"] = label
        super().__init__(_profiler_for(options))
        self._options = options

    def __call__(self, function: Callable[_P, _R]) -> ProfiledFunction[_P, _R]:
        """Decorate a function as `profile` with these options does."""
        return cast("ProfiledFunction[_P, _R]", profile(function, **self._options))


_PROFILERS: dict[Hashable, FunctionProfiler] = {}
"""Profilers of `profiled()` by their mode and options, so that a block in a loop reuses one."""
_UNLABELLED: dict[Hashable, FunctionProfiler] = {}
"""Profilers without a label, from which those with one are made: their options are checked once."""
_MOST_PROFILERS = 1000
OTHER_LABELS = "other labels"
"""Label of blocks after so many kinds of options: labels that are made from data would never end."""


def _profiler_for(options: Mapping[str, Any]) -> FunctionProfiler:
    try:
        known = _PROFILERS.get(tuple(options.items()))
    except TypeError:  # an unhashable option, such as a list
        known = None
    return _known_or_new(options) if known is None else known


def _known_or_new(options: Mapping[str, Any]) -> FunctionProfiler:
    """Return a profiler for options that are as good as these: functions made in a loop are alike."""
    key = _key(options)
    known = _PROFILERS.get(key)
    if known is None and len(_PROFILERS) >= _MOST_PROFILERS and options.get("label") != OTHER_LABELS:
        say_once(
            f"blocks have more than {_MOST_PROFILERS} different labels or options: further ones are kept as "
            f"{OTHER_LABELS!r}; give labels that name code, and no data"
        )
        return _known_or_new({**options, "label": OTHER_LABELS, "sample_tags": None, "run_user_name": ""})
    if known is None:
        known = _PROFILERS[key] = _new_profiler(options)
    return known


def _key(value: object) -> Hashable:
    """Return a hashable value that is equal for equal options, and for callbacks with the same code."""
    if isinstance(value, Mapping):
        return tuple((name, _key(one)) for name, one in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_key, value))
    if isinstance(value, set | frozenset):
        return frozenset(map(_key, value))
    if isinstance(value, FunctionType):
        return value.__code__
    return value if isinstance(value, Hashable) else repr(value)


def _new_profiler(options: Mapping[str, Any]) -> FunctionProfiler:
    label = options.get("label")
    if not isinstance(label, str):
        return _checked_profiler(**options)
    unlabelled = {name: value for name, value in options.items() if name != "label"}
    key = _key(unlabelled)
    if key not in _UNLABELLED:
        _UNLABELLED[key] = _checked_profiler(**unlabelled)
    return labelled(_UNLABELLED[key], label)


def _checked_profiler(mode: str = "samples", **options: Any) -> FunctionProfiler:
    if mode not in _IN_PLACE:
        raise InvalidOption("mode", mode, f"a block has one of {', '.join(map(repr, _IN_PLACE))}")
    return _IN_PLACE[mode](options)


def _traced_init(self: object, *args: object, **options: object) -> None: ...


def _traced_enter(self: object) -> object:
    return self


def _traced_exit(self: object, *error: object) -> None: ...


trace_instead(profiled.__init__, _traced_init)
trace_instead(profiled.__enter__, _traced_enter)
trace_instead(profiled.__exit__, _traced_exit)
