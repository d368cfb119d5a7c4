"""Names, defaults and checks of the options of `@profile()` and `profiled()`.

They are checked before anything starts, and split by the component that needs them. Variables and the
project's file may set other defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, cast, get_args

from profkit.calls.regions import RegionExtras
from profkit.config import CONFIG, PREFIX, PROFILE, Setting
from profkit.errors import InvalidOption, UnknownOption, UsageError
from profkit.model.region import MEMRAY
from profkit.process.guard import say_once
from profkit.process.locks import IMPORTING
from profkit.project_file import as_text, as_words
from profkit.samplers.options import (
    OPTION_NAMES,
    Blocking,
    SamplerOptions,
    Scope,
    check_choice,
    check_common,
    check_positive,
)
from profkit.session.counters import ON_BUSY, OnBusy, Policy
from profkit.units import parse_duration

if TYPE_CHECKING:
    from profkit.model.run import Run


MEMORY = "memory"
"""The mode that tracks memory."""


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


@dataclass(frozen=True, slots=True)
class Settings:
    """Checked options, by the component that needs them."""

    sampler: SamplerOptions
    policy: Policy
    extras: RegionExtras
    label: str | None
    enabled: bool
    every: int


def settings(options: ProfilerOptions) -> Settings:
    """Return the settings for options; raises `UsageError` for invalid ones."""
    known = ProfilerOptions.__annotations__
    for name in options:
        if name not in known:
            raise UnknownOption(name, known)
    _check_values(options)
    given: Mapping[str, Any] = {**options, "sample_tags": _tags(options)}
    sampler = SamplerOptions(**{one: given[name] for one, name in OPTION_NAMES.items() if name in given})
    check_common(sampler)
    if sampler != SamplerOptions():
        with IMPORTING:
            from profkit.samplers import registry

            registry.check(sampler)
    return _settings(options, sampler)


_OWN = "python_allocators"
"""The option of memory that samples do not have."""


def memory_settings(options: MemoryOptions) -> Settings:
    """Return the settings for options of `mode="memory"`; raises `UsageError` for invalid ones."""
    known = MemoryOptions.__annotations__
    for name in options:
        if name not in known and name in ProfilerOptions.__annotations__:
            raise InvalidOption("mode", MEMORY, f"{name} is an option of mode='samples'")
        if name not in known:
            raise UnknownOption(name, known, f" with mode={MEMORY!r}")
    common = cast(ProfilerOptions, {name: value for name, value in options.items() if name != _OWN})
    _check_values(common)
    python_allocators = options.get("python_allocators", False)
    check_choice("python_allocators", python_allocators, (True, False))
    return _settings(common, SamplerOptions(MEMRAY, scope="process", python_allocators=python_allocators))


def _settings(options: ProfilerOptions, sampler: SamplerOptions) -> Settings:
    stack_max_len, async_max_len = options.get("stack_max_len"), options.get("async_stack_max_len")
    return Settings(
        sampler=sampler,
        policy=Policy(
            on_busy=options.get("on_busy", "share"),
            strict=options.get("stop_at_error", False),
            running_timeout_s=options.get("timeout_wait_for_running_sec", 60.0),
            finished_timeout_s=options.get("timeout_wait_for_finished_sec"),
            on_run=options.get("on_run"),
        ),
        extras=RegionExtras(
            all_threads=options.get("threads", False) or sampler.scope == "process",
            stack_max_len=stack_max_len or 0,
            async_stack_max_len=(stack_max_len if async_max_len is None else async_max_len) or 0,
            tags=_tags(options),
            user=options.get("run_user_name", ""),
            env_names=tuple(options.get("recorded_env_variables") or ()),
        ),
        label=options.get("label"),
        enabled=options.get("enabled", True),
        every=options.get("every", 1),
    )


def _tags(options: ProfilerOptions) -> tuple[str, ...]:
    """Return the tags in a fixed order: torch's compile hook passes a set, which may contain None."""
    given = options.get("sample_tags") or ()
    if isinstance(given, str):
        raise InvalidOption("sample_tags", given, "give a list of words, not one string")
    return tuple(sorted({str(tag) for tag in given if tag is not None}))


def _check_values(options: ProfilerOptions) -> None:
    check_positive("timeout_wait_for_running_sec", options.get("timeout_wait_for_running_sec", 60.0))
    check_positive("every", options.get("every", 1), whole=True)
    if options.get("timeout_wait_for_finished_sec") is not None:
        check_positive("timeout_wait_for_finished_sec", options.get("timeout_wait_for_finished_sec"))
    for name in ("stack_max_len", "async_stack_max_len"):
        if options.get(name) is not None:
            check_positive(name, options.get(name), whole=True)
    for name in ("stop_at_error", "threads", "enabled"):
        check_choice(name, options.get(name, False), (True, False))
    check_choice("on_busy", options.get("on_busy", "share"), ON_BUSY)
    if options.get("on_busy") == "raise" and not options.get("stop_at_error"):
        raise InvalidOption("on_busy", "raise", "it needs stop_at_error=True, which raises errors")
    if options.get("on_run") is not None and not callable(options["on_run"]):
        raise InvalidOption("on_run", options["on_run"], "give a function that takes a run")
    for name in ("label", "run_user_name", "sampler"):
        value = options.get(name)
        if value is not None and not isinstance(value, str):
            raise InvalidOption(name, value, "give a string")


_SWITCHES: Mapping[str, bool] = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


def settings_over_defaults(options: ProfilerOptions) -> Settings:
    """Return the settings for options, over the defaults of this process; raises `UsageError`.

    A default that is not valid is left out, and so are all that do not go with the options. Each reason is
    logged once.
    """
    if not CONFIG.profile and not CONFIG.problems:
        return settings(options)
    defaults, problems = default_options(CONFIG.profile)
    for problem in (*CONFIG.problems, *problems):
        say_once(f"{problem}; it is ignored")
    try:
        return settings({**defaults, **options})
    except UsageError as error:
        own = settings(options)
        say_once(f"the defaults of {_sources(CONFIG.profile)} are ignored where they do not fit: {error}")
        return own


def default_options(given: Mapping[str, Setting]) -> tuple[ProfilerOptions, tuple[UsageError, ...]]:
    """Return the valid ones of defaults, and the errors of the others."""
    read: dict[str, object] = {}
    problems: list[UsageError] = []
    for name, setting in given.items():
        try:
            read[name] = _read(name, setting)
        except UsageError as error:
            problems.append(error)
    while (problem := _problem(read, given)) is not None:
        problems.append(problem)
    return cast(ProfilerOptions, read), tuple(problems)


def _read(name: str, setting: Setting) -> object:
    reader = _READERS.get(name)
    if reader is None:
        raise UnknownOption(name, _READERS, f" that {setting.source} could set for profile()")
    value = reader(setting.value)
    if value is None:
        raise InvalidOption(_named(name, setting), setting.value, f"give {_WANTED[reader]}")
    return value


def _problem(options: dict[str, object], given: Mapping[str, Setting]) -> UsageError | None:
    """Remove what makes defaults invalid, and return the error about it; None if they are valid."""
    try:
        settings(cast(ProfilerOptions, options))
    except InvalidOption as error:
        if error.option in options:
            del options[error.option]
            setting = given[error.option]
            return InvalidOption(_named(error.option, setting), setting.value, error.fix)
        options.clear()
        return error
    except UsageError as error:
        options.clear()
        return error
    return None


def _named(name: str, setting: Setting) -> str:
    """Return an option's name as where it is set; a variable's name has the option's."""
    return setting.source if setting.source.startswith(PREFIX) else f"{setting.source}: {PROFILE}.{name}"


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


def _sources(given: Mapping[str, Setting]) -> str:
    return ", ".join(dict.fromkeys(setting.source for setting in given.values()))
