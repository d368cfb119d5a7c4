"""Parsing and checking of `measure()`'s arguments into work orders, before anything starts."""

from __future__ import annotations

import math
import os
import shlex
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, TypedDict, TypeVar, Unpack

from profkit.errors import InvalidOption, UnknownOption, UsageError
from profkit.model.workorder import Language, Level, Mode, Simulation, WorkOrder

_LONGEST_LABEL = 60
_PRELOADED = ("torch", "numpy")
_LATER: ContextVar[bool] = ContextVar("_LATER", default=False)
_E = TypeVar("_E", Mode, Language, Level)


class CommonOptions(TypedDict, total=False):
    """Options of `measure` that `profile` has, too."""

    label: str | None
    num_threads: int
    quick: bool
    runs: int | None
    timeout_s: float
    min_run_time_s: float
    retries: int
    env: Mapping[str, str]
    imports: Sequence[str] | None


class MeasureOptions(CommonOptions, total=False):
    """Keyword arguments of `measure` and `work_order`; explained in docs/measuring.md."""

    args: Sequence[object]
    kwargs: Mapping[str, object]
    setup: str
    global_setup: str
    mode: str | Mode
    language: str | Language
    level: str | Level
    labels: Mapping[str, str]
    number: int | None
    repeats: int
    processes: int | None
    source_cmd: str | Sequence[str] | None
    python: str | os.PathLike[str] | None
    simulate: Sequence[str | Simulation]
    python_functions: bool
    memory_limit_bytes: int | None
    fresh: bool | None


def work_order(stmt: str | Callable[..., object], /, **options: Unpack[MeasureOptions]) -> WorkOrder:
    """Return the order for `measure`'s arguments; raise `UsageError` for invalid ones."""
    try:
        order = _unchecked(stmt, options)
        check(order)
        return order
    except UsageError as error:
        if not _LATER.get():
            raise
        given = options.get("label")
        label = given if isinstance(given, str) and given else label_of(stmt)
        return RefusedOrder(label, stmt if isinstance(stmt, str) else repr(stmt), error=error)


@dataclass(frozen=True, slots=True)
class RefusedOrder(WorkOrder):
    """Invalid order among others; `check` raises its error."""

    error: UsageError | None = None


@contextmanager
def refusing_later() -> Iterator[None]:
    """Let `work_order` return a RefusedOrder instead of raising, so that the calling file goes on."""
    token = _LATER.set(True)
    try:
        yield
    finally:
        _LATER.reset(token)


def with_options(order: WorkOrder, options: MeasureOptions) -> WorkOrder:
    """Return the order with other options but its own label; raise `UsageError` if they do not fit.

    Environment variables are added to the order's own.
    """
    fields = _fields(options)
    env = {**dict(order.env), **dict(fields.get("env", ()))}
    changed = replace(order, **{**fields, "label": order.label, "env": tuple(sorted(env.items()))})
    check(changed)
    return changed


def dedented(text: str) -> str:
    """Return a text without its common indentation, as `torch.utils.benchmark.Timer` reads it."""
    return textwrap.dedent(text).removeprefix("\n").rstrip()


def mode_of(options: MeasureOptions) -> Mode:
    """Return the mode among options."""
    return _one_of("mode", options.get("mode", Mode.TIMER), Mode)


def language_of(name: str | Language) -> Language:
    """Return the language for a name; "cpp" and "cxx" mean C++. Raise `UsageError` for other names."""
    is_cpp = isinstance(name, str) and name.lower() in ("c++", "cpp", "cxx")
    return Language.CPP if is_cpp else _one_of("language", name, Language)


def _unchecked(stmt: str | Callable[..., object], options: MeasureOptions) -> WorkOrder:
    fields = {"label": label_of(stmt), **_fields(options)}
    if options.get("runs") is not None:
        fields.setdefault("retries", 0)
    if isinstance(stmt, str):
        return WorkOrder(stmt=dedented(stmt), **fields)
    if not callable(stmt):
        raise UsageError(f"{stmt!r} cannot be measured", "give a statement as text, or a callable")
    return WorkOrder(function=stmt, **fields)


def _fields(options: MeasureOptions) -> dict[str, Any]:
    """Return the fields of work orders that these options set; raise `UsageError` for invalid ones."""
    for name in options:
        if name not in MeasureOptions.__annotations__:
            raise UnknownOption(name, MeasureOptions.__annotations__)
    _check_numbers(options)
    read: dict[str, Callable[[Any], object]] = {
        "args": tuple,
        "kwargs": lambda given: dict(given or {}),
        "setup": dedented,
        "global_setup": dedented,
        "mode": lambda given: _one_of("mode", given, Mode),
        "language": language_of,
        "level": lambda given: _one_of("level", given, Level),
        "labels": lambda given: tuple((str(name), str(value)) for name, value in given.items()),
        "source_cmd": words_of,
        "python": lambda given: None if given is None else os.fspath(given),
        "env": lambda given: tuple(sorted(given.items())),
        "imports": _imports,
        "simulate": simulations,
    }
    given = {name: value for name, value in options.items() if name != "label" or value}
    return {name: read[name](value) if name in read else value for name, value in given.items()}


def identity(order: WorkOrder) -> tuple[object, ...]:
    """Return the key that identifies an order within its batch."""
    return (
        order.label, order.labels, order.mode, order.language, order.level, order.num_threads,
        order.source_cmd, order.python, order.env, order.tree,
    )  # fmt: skip


def label_of(stmt: str | Callable[..., object]) -> str:
    """Return the default label: the statement on one line, or the callable's name."""
    if not isinstance(stmt, str):
        named = stmt if hasattr(stmt, "__qualname__") else type(stmt)
        return str(named.__qualname__).replace("<locals>.", "")
    text = " ".join(stmt.split())
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"


def words_of(source_cmd: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the words to put before the interpreter; split text as a POSIX shell would, without a shell."""
    if source_cmd is None:
        return ()
    try:
        words = shlex.split(source_cmd) if isinstance(source_cmd, str) else list(source_cmd)
    except ValueError as error:
        raise InvalidOption("source_cmd", source_cmd, f"close its quotes ({error})") from error
    for word in words:
        if word in ("&&", "||", ";", "|", ">", "<", "&", "source", "."):
            raise InvalidOption(
                "source_cmd",
                source_cmd,
                f"it does not run in a shell, so {word!r} has no effect: give a program that runs the words "
                "after it, such as 'conda run -n other', or set python='/path/of/other/bin/python'",
            )
    return tuple(words)


def check(order: WorkOrder) -> None:
    """Raise `UsageError` if an order's fields do not fit together."""
    if isinstance(order, RefusedOrder) and order.error is not None:
        raise order.error
    if order.stmt is not None and (order.args or order.kwargs):
        raise UsageError("a statement takes no args and kwargs", "define its values in setup")
    if order.stmt is not None and order.language is Language.PYTHON:
        _check_syntax(order)
    if order.function is not None and order.language is Language.CPP:
        raise UsageError("a Python callable is not C++", "give a statement, or language='python'")
    if order.mode.counts and order.num_threads > 1:
        raise InvalidOption(
            "num_threads", order.num_threads,
            "Callgrind counts one thread only: use 1, or mode='timer'",
        )  # fmt: skip
    if order.runs == 1 and order.mode is Mode.BOTH:
        raise InvalidOption(
            "runs", 1, "timing and counting execute it once each: give 2 or more, or one of the two modes"
        )
    if order.simulate and not order.mode.counts:
        raise InvalidOption(
            "simulate", [s.value for s in order.simulate], "set mode='callgrind', or leave it out"
        )
    if order.fresh and order.language is Language.CPP:
        raise InvalidOption(
            "fresh", order.fresh,
            "leave it out: only Python callables and statements can get fresh state",
        )  # fmt: skip
    if order.python and order.source_cmd:
        raise UsageError("python and source_cmd both choose the interpreter", "give only one of them")


def _check_syntax(order: WorkOrder) -> None:
    """Raise `UsageError` for invalid Python, before a zygote starts."""
    for name, text in (("setup", order.setup), ("global_setup", order.global_setup), ("stmt", order.stmt)):
        try:
            compile(text or "", f"<{name}>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            problem = f"{name} of {order.label!r} is not valid Python: {error}"
            raise UsageError(problem, "fix its text") from error


def _check_numbers(options: MeasureOptions) -> None:
    for name in ("num_threads", "repeats"):
        check_positive(name, options.get(name, 1))
    for name in ("number", "runs", "processes", "memory_limit_bytes"):
        if options.get(name) is not None:
            check_positive(name, options.get(name))
    for name in ("min_run_time_s", "timeout_s"):
        check_positive(name, options.get(name, 1.0), whole=False)
    retries = options.get("retries", 0)
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        raise InvalidOption("retries", retries, "give a whole number, 0 or more")


def check_positive(name: str, value: object, *, whole: bool = True) -> None:
    """Raise InvalidOption for a value that is no number above 0, whole or not."""
    kind = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kind) or not 0 < value < math.inf:
        raise InvalidOption(name, value, f"give a {'whole ' if whole else ''}number above 0")


def _one_of(name: str, value: str | _E, kind: type[_E]) -> _E:
    try:
        return kind(value)
    except ValueError:
        choices = ", ".join(repr(member.value) for member in kind)
        raise InvalidOption(name, value, f"give one of {choices}") from None


def _imports(value: Sequence[str] | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    for name in value:
        if name not in _PRELOADED:
            raise InvalidOption(
                "imports", value, f"give {' or '.join(map(repr, _PRELOADED))}, or () for neither"
            )
    return tuple(value)


def simulations(value: Sequence[str | Simulation]) -> tuple[Simulation, ...]:
    """Return simulations by their names, sorted; raises InvalidOption."""
    try:
        return tuple(sorted({Simulation(item) for item in value}, key=lambda item: item.value))
    except ValueError:
        raise InvalidOption("simulate", value, "give a list of 'cache' and 'branch'") from None
