"""`FunctionProfiler`, the profiler that `profile()` and `profiled()` use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from types import CodeType
from typing import TYPE_CHECKING, ParamSpec, TypeVar, Unpack, cast

from profkit.calls.importlib_bootstrap.markers import Marker, make_marker
from profkit.calls.options import Settings, memory_settings, settings_over_defaults
from profkit.calls.regions import block_region, check_callable, check_tracked, function_region
from profkit.calls.slow_path import results_of
from profkit.calls.with_statements import Statement
from profkit.config import CONFIG
from profkit.model.region import Region, RegionKey, code_of
from profkit.session.counters import Counters, Tracer

if TYPE_CHECKING:
    from profkit.calls.keywords import MemoryOptions, ProfilerOptions
    from profkit.model.run import Run

_P = ParamSpec("_P")
_R = TypeVar("_R")


class FunctionProfiler:
    """Profiler of functions and blocks with one set of options.

    All profilers of a process share its one session, which the session manager's lock guards. The user's
    function runs exactly once; its value or exception passes through. Accepts every parameter of PyTorch's
    `StrobelightCLIFunctionProfiler` and has its attributes, so that it can replace that class.
    """

    def __init__(self, **options: Unpack[ProfilerOptions]) -> None:
        self._begin(settings_over_defaults(options))

    @classmethod
    def of_memory(cls, options: MemoryOptions) -> FunctionProfiler:
        """Return a profiler that tracks memory and takes no samples; raises `UsageError`."""
        profiler = cls.__new__(cls)
        profiler._begin(memory_settings(options))
        return profiler

    def _begin(self, settings: Settings) -> None:
        self.settings = settings
        self._all_counters: dict[tuple[RegionKey, str], Counters] = {}
        self._markers: dict[CodeType, tuple[Counters, Marker]] = {}
        self._last: Counters | None = None

    @property
    def active(self) -> bool:
        """True if calls are profiled: only on Linux, not with `enabled=False` or PROFKIT_DISABLE=1."""
        return self.settings.enabled and not CONFIG.disabled and sys.platform == "linux"

    @property
    def every(self) -> int:
        """Interval N of profiled calls: the first of every N calls is profiled."""
        return self.settings.every

    def profile(self, function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Call `function` and profile the call; its value or exception passes through."""
        if not self.active:
            return function(*args, **kwargs)
        try:
            return cast(_R, self._marker(function)(function, *args, **kwargs))
        except BaseException:
            self._release_compile_hook()
            raise

    def counters(self, function: Callable[..., object]) -> Counters:
        """Return the counters of a function with this profiler's options; raises `UsageError`."""
        check_callable(function)
        chosen = self.settings
        if chosen.sampler.tracks_memory:
            check_tracked(function)
        return self._counters(function_region(function, chosen.label, chosen.extras))

    def block_counters(self, statement: Statement, module: str) -> Counters:
        """Return the counters of a `with` block in a module's code."""
        chosen = self.settings
        return self._counters(block_region(statement, module, chosen.label, chosen.extras), statement.code)

    def marker(self, function: Callable[..., object], counters: Counters) -> Marker:
        """Return a marker that runs `function` as the region of `counters`."""
        return make_marker(counters, function, self.settings.every)

    @property
    def last_run(self) -> Run | None:
        """Newest run of the last profiled function, None before the first."""
        return next(results_of(self._last), None) if self._last is not None else None

    @property
    def profile_result(self) -> list[str] | None:
        """Lines of text on the last call's run, None unless it was sampled. Reading requests the result."""
        counters, run = self._last, self.last_run
        if counters is None or counters.refused or run is None or run.info.error is not None:
            return None
        from profkit.model.region import CALLS_ONLY
        from profkit.render.views.summary_lines import summary_lines
        from profkit.session.manager import MANAGER
        from profkit.session.results import is_lost

        if run.info.plan.sampler == CALLS_ONLY or is_lost(counters, MANAGER.spool):
            return None
        return summary_lines(run)

    @property
    def current_run_id(self) -> str | int | None:
        """Id of the last call's run: a remote sampler's number, else the id that `profkit report` takes.

        None before the first call, and if the last call could not be profiled.
        """
        if self._last is None or self._last.refused or not self._last.sessions:
            return None
        from profkit.session.manager import MANAGER
        from profkit.session.results import current_id

        return current_id(self._last, MANAGER.spool)

    def _repr_html_(self) -> str | None:
        run = self.last_run
        return None if run is None else run._repr_html_()

    def _release_compile_hook(self) -> None:
        """Release PyTorch's hook, which stays busy if a compilation raises (`profile_compile_time`)."""
        module = sys.modules.get("torch._strobelight.compile_time_profiler")
        hook = getattr(module, "StrobelightCompileTimeProfiler", None)
        if hook is not None and hook.profiler is self:
            hook.inside_profile_compile_time = False

    def _counters(self, region: Region, code: CodeType | None = None) -> Counters:
        version = region.key, f"{region.code} {region.file}"
        counters = self._all_counters.get(version)
        if counters is None:
            counters = Counters(region, self.settings.sampler, self.settings.policy, code)
            counters.tracer = self._tracer(region)
            self._all_counters[version] = counters
        return counters

    def _tracer(self, region: Region) -> Tracer | None:
        """Return what traces the calls of a region; None for sampling alone."""
        return None

    def _marker(self, function: Callable[..., object]) -> Marker:
        """Return the marker of a function, cached by code: a lambda is a new object each time."""
        code = code_of(function) if hasattr(function, "__code__") else None
        known = self._markers.get(code) if code is not None else None
        if known is None:
            counters = self.counters(function)
            known = counters, self.marker(function, counters)
            if code is not None:
                self._markers[code] = known
        self._last = known[0]
        return known[1]


def labelled(profiler: FunctionProfiler, label: str) -> FunctionProfiler:
    """Return a profiler that differs in its label; the other options have been checked."""
    other = object.__new__(type(profiler))
    other.__dict__.update(profiler.__dict__)
    other._begin(replace(profiler.settings, label=label))
    return other
