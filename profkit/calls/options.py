"""Options of `@profile()` and `profiled()`: their checks, and the defaults that hold if none is given.

They are checked before anything starts, and split by the component that needs them. Variables and the
project's file may set other defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from profkit.calls.regions import RegionExtras
from profkit.config import CONFIG, Setting
from profkit.errors import InvalidOption, UnknownOption, UsageError
from profkit.model.region import MEMRAY
from profkit.process.guard import say_once
from profkit.process.locks import IMPORTING
from profkit.samplers.options import (
    OPTION_NAMES,
    SamplerOptions,
    check_choice,
    check_common,
    check_positive,
)
from profkit.session.counters import ON_BUSY, Policy

if TYPE_CHECKING:
    from profkit.calls.keywords import MemoryOptions, ProfilerOptions


MEMORY = "memory"
"""The mode that tracks memory."""
OPTIONS = (
    "stop_at_error", "max_profile_duration_sec", "sample_each", "run_user_name",
    "timeout_wait_for_running_sec", "timeout_wait_for_finished_sec", "recorded_env_variables",
    "sample_tags", "stack_max_len", "async_stack_max_len", "label", "sampler", "rate", "blocking",
    "native", "threads", "idle", "gil", "subprocesses", "async_stacks", "allow_dumpable", "scope",
    "window", "on_busy", "enabled", "every", "on_run",
)  # fmt: skip
"""Names in `ProfilerOptions`, whose types take a millisecond to load, as decorating a function should not."""
_OF_MEMORY = (
    "stop_at_error", "run_user_name", "recorded_env_variables", "sample_tags", "stack_max_len", "label",
    "python_allocators", "enabled", "every", "on_run",
)  # fmt: skip
"""Names in `MemoryOptions`."""


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
    for name in options:
        if name not in OPTIONS:
            raise UnknownOption(name, OPTIONS)
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
    for name in options:
        if name not in _OF_MEMORY and name in OPTIONS:
            raise InvalidOption("mode", MEMORY, f"{name} is an option of mode='samples'")
        if name not in _OF_MEMORY:
            raise UnknownOption(name, _OF_MEMORY, f" with mode={MEMORY!r}")
    common = cast("ProfilerOptions", {name: value for name, value in options.items() if name != _OWN})
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
    with IMPORTING:
        from profkit.calls.keywords import read_default
    read: dict[str, object] = {}
    problems: list[UsageError] = []
    for name, setting in given.items():
        try:
            read[name] = read_default(name, setting)
        except UsageError as error:
            problems.append(error)
    while (problem := _problem(read, given)) is not None:
        problems.append(problem)
    return cast("ProfilerOptions", read), tuple(problems)


def _problem(options: dict[str, object], given: Mapping[str, Setting]) -> UsageError | None:
    """Remove what makes defaults invalid, and return the error about it; None if they are valid."""
    from profkit.calls.keywords import source_of

    try:
        settings(cast("ProfilerOptions", options))
    except InvalidOption as error:
        if error.option in options:
            del options[error.option]
            setting = given[error.option]
            return InvalidOption(source_of(error.option, setting), setting.value, error.fix)
        options.clear()
        return error
    except UsageError as error:
        options.clear()
        return error
    return None


def _sources(given: Mapping[str, Setting]) -> str:
    return ", ".join(dict.fromkeys(setting.source for setting in given.values()))
