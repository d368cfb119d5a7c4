"""Phases of PyTorch's compiler as regions, by the hook that PyTorch has for strobelight.

It is turned on at once or when the program imports torch. The hook calls a profiler with each phase; its own
profiler is replaced by `CompilationProfiler`. The hook has three defects, which that makes up for: if a
compilation raises, it ignores all later ones; it ignores one that begins inside another one; and it drops a
compilation whose profiler is missing.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast

import wrapt

from profkit.calls.importlib_bootstrap.markers import Marker, make_marker
from profkit.calls.options import Settings, settings_over_defaults
from profkit.calls.slow_path import results_of
from profkit.config import CONFIG
from profkit.errors import ProfkitError
from profkit.model.region import (
    Compilation,
    Region,
    RegionKey,
    RegionKind,
    digest_of,
    frame_code_of,
    readable,
)
from profkit.process.guard import guarded, ignore, say_once
from profkit.pytorch.errors import HookBusy, TorchMissing
from profkit.session.counters import Counters

if TYPE_CHECKING:
    from profkit.calls.keywords import ProfilerOptions
    from profkit.model.run import Run

_P = ParamSpec("_P")
_R = TypeVar("_R")

_ATTEMPT = re.compile(r"_\d+$")
"""Number of an attempt, at the end of PyTorch's id of a compilation."""
_NO_FRAME = "None"
_MODULE = "torch.compile"
_GRAPHS = "torch.fx."
"""Beginning of the module of graphs, whose names say nothing."""
_HOOK = "torch._strobelight.compile_time_profiler"
_LOGGER = "strobelight_compile_time_profiler"
_VARIABLES = {
    "sample_each": "COMPILE_STROBELIGHT_SAMPLE_RATE",
    "max_profile_duration_sec": "COMPILE_STROBELIGHT_MAX_PROFILE_TIME",
    "stack_max_len": "COMPILE_STROBELIGHT_MAX_STACK_LENGTH",
}
"""Options that PyTorch has variables for."""
_UNDER_WAY: ContextVar[str] = ContextVar("profkit compilation", default="")
"""Label of the innermost phase that is in progress."""


class CompileHook(Protocol):
    """`StrobelightCompileTimeProfiler` of PyTorch, a class whose attributes are its state."""

    enabled: bool
    profiler: object
    inside_profile_compile_time: bool
    current_phase: str | None

    def get_frame(self) -> str:
        """Return the id of the compilation in progress; `None` as text if there is none."""


@dataclass(frozen=True, slots=True)
class _Subject:
    name: str
    file: str = ""
    line: int = 0
    code: str = ""


class CompilationProfiler:
    """Profiler that PyTorch's hook calls with each phase; has what the hook uses of its own profiler."""

    def __init__(self, hook: CompileHook, chosen: Settings) -> None:
        self._hook, self._settings = hook, chosen
        self._markers: dict[Region, tuple[Counters, Marker]] = {}
        self._subjects: dict[str, _Subject] = {}
        """By frame: only its first phase is called with it."""
        self._last: Counters | None = None
        self.active = chosen.enabled and not CONFIG.disabled
        """False after `disable`: the hook may still call it."""

    def profile(self, function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Call a phase and profile the call; its value or exception passes through."""
        # Else the hook ignores phases inside this one and, if this one raises, all that follow.
        self._hook.inside_profile_compile_time = False
        found = self._find(function, args) if self.active else None
        if found is None:
            return function(*args, **kwargs)
        counters, marker = found
        token = _UNDER_WAY.set(counters.region.key.label)
        try:
            return cast(_R, marker(function, *args, **kwargs))
        finally:
            self._last = counters
            _UNDER_WAY.reset(token)

    @property
    def profile_result(self) -> list[str] | None:
        """Text on the last phase, None if it was not profiled. The hook reads it after each phase."""
        run = self.current_run_id
        return None if run is None else [f"run {run}"]

    @property
    def current_run_id(self) -> str | None:
        """Id of the last phase's run; None if it was not profiled. Nothing is read for it."""
        last = self._last
        if last is None or last.refused or not last.sessions:
            return None
        from profkit.ingest.read import run_id

        return run_id(last.sessions[-1], last.region.id)

    @property
    def runs(self) -> tuple[Run, ...]:
        """Runs of all phases in this process, in the order in which they first ran; raises ProfkitError.

        Reading may end a sampler's segment.
        """
        return tuple(
            run for counters, _ in self._markers.values() for run in reversed(tuple(results_of(counters)))
        )

    def _find(
        self, function: Callable[..., object], args: tuple[object, ...]
    ) -> tuple[Counters, Marker] | None:
        """Return the counters and the marker of a phase; None if profkit failed to make them."""
        try:
            region = self._region(function, args)
            known = self._markers.get(region)
            if known is None:
                counters = Counters(region, self._settings.sampler, self._settings.policy)
                known = self._markers[region] = counters, make_marker(counters, function)
        except BaseException as error:  # noqa: BLE001 - raised if it is the program's
            ignore(error, "profiling a compilation")
            return None
        return known

    def _region(self, function: Callable[..., object], args: tuple[object, ...]) -> Region:
        phase, frame = self._hook.current_phase or "compile", _ATTEMPT.sub("", self._hook.get_frame())
        frame = "" if frame == _NO_FRAME else frame
        subject = self._subject(args[0] if args else None, frame)
        label = " ".join(filter(None, (subject.name, frame, phase)))
        return self._settings.extras.region(
            RegionKey(_MODULE, subject.name, subject.line, label),
            RegionKind.COMPILATION,
            subject.file,
            expected=frame_code_of(function),
            code=subject.code,
            compilation=Compilation(frame, phase, _UNDER_WAY.get()),
        )

    def _subject(self, compiled: object, frame: str) -> _Subject:
        """Return what is compiled; the first phase of a frame has its code, later ones only a graph."""
        if isinstance(compiled, CodeType):
            subject = _Subject(
                readable(compiled.co_qualname),
                compiled.co_filename,
                compiled.co_firstlineno,
                digest_of(compiled),
            )
            self._subjects[frame] = subject
            return subject
        named = compiled if hasattr(compiled, "__qualname__") else type(compiled)
        known = self._subjects.get(frame) if frame else None
        is_graph = str(named.__module__).startswith(_GRAPHS)
        return known if known and is_graph else _Subject(readable(str(named.__qualname__)))


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
    return settings_over_defaults(cast("ProfilerOptions", filled))
