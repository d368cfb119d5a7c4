"""Turning PyTorch's compile-time hook on and off, at once or when the program imports torch."""

from __future__ import annotations

import logging
import os
import sys
from functools import partial
from types import ModuleType
from typing import Any, cast

import wrapt

from profkit.calls.defaults import settings_over_defaults
from profkit.calls.options import ProfilerOptions, Settings
from profkit.config import CONFIG
from profkit.errors import ProfkitError
from profkit.process.guard import guarded, say_once
from profkit.pytorch.compilations import CompilationProfiler, CompileHook
from profkit.pytorch.errors import HookBusy, TorchMissing

_HOOK = "torch._strobelight.compile_time_profiler"
_LOGGER = "strobelight_compile_time_profiler"
_VARIABLES = {
    "sample_each": "COMPILE_STROBELIGHT_SAMPLE_RATE",
    "max_profile_duration_sec": "COMPILE_STROBELIGHT_MAX_PROFILE_TIME",
    "stack_max_len": "COMPILE_STROBELIGHT_MAX_STACK_LENGTH",
}
"""Options that PyTorch has variables for."""


def enable(options: ProfilerOptions) -> CompilationProfiler | None:
    """Profile the compilations of this process from now on; return the profiler, None if that fails.

    Imports torch. The reason for a failure is logged, or raised with `stop_at_error`. Raises
    UsageError for invalid options.
    """
    chosen = settings_over_defaults(options)
    if not chosen.enabled or CONFIG.disabled or sys.platform != "linux":
        return None
    try:
        return _enabled(_hook(), options)
    except ProfkitError as error:
        if chosen.policy.strict:
            raise
        say_once(f"compilations run unprofiled: {error}")
        return None


def enable_on_import(options: ProfilerOptions) -> None:
    """Profile the compilations of this process from its import of torch on; does not import torch."""

    def begin(module: ModuleType) -> None:
        try:
            _enabled(module.StrobelightCompileTimeProfiler, options)
        except ProfkitError as error:
            say_once(f"compilations run unprofiled: {error}")

    wrapt.register_post_import_hook(guarded("profiling compilations", begin), _HOOK)


def disable() -> None:
    """Stop profiling compilations, if they are profiled by profkit; those in progress are recorded."""
    hook = getattr(sys.modules.get(_HOOK), "StrobelightCompileTimeProfiler", None)
    if hook is not None and isinstance(hook.profiler, CompilationProfiler):
        _release(hook, hook.profiler)


def _release(hook: CompileHook, profiler: CompilationProfiler) -> None:
    # The profiler stays there: without one, the hook would drop a compilation that is just beginning.
    hook.enabled, profiler.active = False, False


def _hook() -> CompileHook:
    try:
        from torch._strobelight.compile_time_profiler import StrobelightCompileTimeProfiler
    except (ImportError, OSError) as error:  # OSError: one of its libraries
        raise TorchMissing("profiling compilations", str(error)) from error
    return cast(CompileHook, StrobelightCompileTimeProfiler)


def _enabled(hook: Any, options: ProfilerOptions) -> CompilationProfiler:  # noqa: ANN401 - a class of torch's
    """Enable the hook with a profiler of profkit's, in place of an earlier one; raises HookBusy."""
    if hook.enabled:
        if not isinstance(hook.profiler, CompilationProfiler):
            raise HookBusy(type(hook.profiler).__qualname__)
        _release(hook, hook.profiler)
    logger = logging.getLogger(_LOGGER)
    # It announces pages of an internal service that nothing is sent to.
    level, disabled = logger.level, logger.disabled
    logger.disabled = True
    try:
        hook.enable(profiler_class=partial(_profiler, hook, options))
    finally:
        logger.disabled = disabled
    if level == logging.INFO:
        logger.setLevel(logging.WARNING)
    return cast(CompilationProfiler, hook.profiler)


def _profiler(hook: CompileHook, options: ProfilerOptions, **given: object) -> CompilationProfiler:
    """Return the profiler; `given` is what PyTorch passes, of which only what a user has set counts."""
    return CompilationProfiler(hook, _settings(options, given))


def _settings(options: ProfilerOptions, given: dict[str, object]) -> Settings:
    of_variables = {name: given[name] for name, variable in _VARIABLES.items() if variable in os.environ}
    if "rate" in options:
        of_variables.pop("sample_each", None)
    filled = {**of_variables, **options}
    return settings_over_defaults(cast(ProfilerOptions, filled))
