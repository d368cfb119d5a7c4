"""Names, defaults and checks of the options of `@profile()` and `profiled()`.

They are checked before anything starts, and split by the component that needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, cast

from profkit.calls.regions import RegionExtras
from profkit.errors import InvalidOption, UnknownOption
from profkit.model.region import MEMRAY
from profkit.process.locks import IMPORTING
from profkit.samplers.options import (
    UNLIMITED_S,
    Blocking,
    SamplerOptions,
    Scope,
    check_choice,
    check_common,
    check_positive,
)
from profkit.session.counters import ON_BUSY, OnBusy, Policy

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
    sampler = SamplerOptions(
        sampler=options.get("sampler", "auto"),
        rate_hz=options.get("rate"),
        sample_each=options.get("sample_each"),
        blocking=options.get("blocking", "auto"),
        native=options.get("native", False),
        idle=options.get("idle", True),
        gil=options.get("gil", False),
        subprocesses=options.get("subprocesses", False),
        async_stacks=options.get("async_stacks", False),
        scope=options.get("scope", "call"),
        max_duration_s=options.get("max_profile_duration_sec", UNLIMITED_S),
        tags=_tags(options),
        allow_dumpable=options.get("allow_dumpable", False),
    )
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
