"""Keyword arguments of `profile()` and `profiled()`: their types, and how defaults that are set are read.

Loaded only if a default is set: `import profkit` and decorating a function are hot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict, get_args

from profkit.config import PREFIX, PROFILE, Setting
from profkit.errors import InvalidOption, UnknownOption
from profkit.project_file import as_text, as_words
from profkit.samplers.options import Blocking, Scope
from profkit.session.counters import OnBusy
from profkit.units import parse_duration

if TYPE_CHECKING:
    from profkit.model.run import Run


class ProfilerOptions(TypedDict, total=False):
    """Keyword arguments of `FunctionProfiler`, `profile` and `profiled`; explained in docs/options.md."""

    stop_at_error: bool
    max_profile_duration_sec: float
    sample_each: float | None
    run_user_name: str
    timeout_wait_for_running_sec: float
    timeout_wait_for_finished_sec: float | None
    recorded_env_variables: Sequence[str] | None
    sample_tags: Iterable[str | None] | None
    stack_max_len: int | None
    async_stack_max_len: int | None
    label: str | None
    sampler: str
    rate: float | None
    blocking: Blocking
    native: bool
    threads: bool
    idle: bool
    gil: bool
    subprocesses: bool
    async_stacks: bool
    allow_dumpable: bool
    scope: Scope
    window: float | None
    on_busy: OnBusy
    enabled: bool
    every: int
    on_run: Callable[[Run], object] | None


class MemoryOptions(TypedDict, total=False):
    """Keyword arguments of `profile` and `profiled` with `mode="memory"`; explained in docs/memory.md."""

    stop_at_error: bool
    run_user_name: str
    recorded_env_variables: Sequence[str] | None
    sample_tags: Iterable[str | None] | None
    stack_max_len: int | None
    label: str | None
    python_allocators: bool
    enabled: bool
    every: int
    on_run: Callable[[Run], object] | None


def read_default(name: str, setting: Setting) -> object:
    """Return the value of a default that is set; raises `UsageError` if it is not valid."""
    reader = _READERS.get(name)
    if reader is None:
        raise UnknownOption(name, _READERS, f" that {setting.source} could set for profile()")
    value = reader(setting.value)
    if value is None:
        raise InvalidOption(source_of(name, setting), setting.value, f"give {_WANTED[reader]}")
    return value


def source_of(name: str, setting: Setting) -> str:
    """Return where a default is set, with the option's name; a variable's name has it."""
    return setting.source if setting.source.startswith(PREFIX) else f"{setting.source}: {PROFILE}.{name}"


_SWITCHES: Mapping[str, bool] = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


def _switch(value: object) -> bool | None:
    return _SWITCHES.get((as_text(value) or "").lower())


def _number(value: object) -> float | None:
    try:
        return None if isinstance(value, bool) else float(as_text(value) or "")
    except ValueError:
        return None


def _whole(value: object) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number.is_integer() else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _blocking(value: object) -> bool | str | None:
    return "auto" if value == "auto" else _switch(value)


def _scope(value: object) -> object:
    return value if value in get_args(Scope) else None


def _on_busy(value: object) -> object:
    return value if value in get_args(OnBusy) else None


def _duration(value: object) -> float | None:
    try:
        return None if isinstance(value, bool) else parse_duration(as_text(value) or "")
    except ValueError:
        return None


_Reader = Callable[[object], object]
_READERS: Mapping[str, _Reader] = {
    "stop_at_error": _switch, "max_profile_duration_sec": _number, "sample_each": _number,
    "run_user_name": _text, "timeout_wait_for_running_sec": _number, "timeout_wait_for_finished_sec": _number,
    "recorded_env_variables": as_words, "sample_tags": as_words, "stack_max_len": _whole,
    "async_stack_max_len": _whole, "sampler": _text, "rate": _number, "blocking": _blocking,
    "native": _switch, "threads": _switch, "idle": _switch, "gil": _switch, "subprocesses": _switch,
    "async_stacks": _switch, "allow_dumpable": _switch, "scope": _scope, "on_busy": _on_busy,
    "every": _whole, "window": _duration,
}  # fmt: skip
"""How each option is read. A label is of one function, and `disable` turns all off."""
_WANTED: Mapping[_Reader, str] = {
    _switch: "true or false", _number: "a number", _whole: "a whole number", _text: "a text",
    as_words: "a list of words", _duration: "a duration such as 60s", _blocking: "true, false or 'auto'",
    _scope: " or ".join(map(repr, get_args(Scope))), _on_busy: ", ".join(map(repr, get_args(OnBusy))),
}  # fmt: skip
