"""Profiling of PyTorch's compiler: each phase of each compilation is a run.

    from profkit.integrations import torch_compile

    torch_compile.enable()      # until the program ends, or
    with torch_compile.enable() as compilations:
        ...

`profkit report --compile` shows them together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypedDict, Unpack, cast

from profkit.errors import UnknownOption
from profkit.pytorch import compilations
from profkit.samplers.options import Blocking

if TYPE_CHECKING:
    from profkit.calls.keywords import ProfilerOptions
    from profkit.model.run import Run
    from profkit.pytorch.compilations import CompilationProfiler

__all__ = ["CompileOptions", "ProfiledCompilations", "disable", "enable"]


class CompileOptions(TypedDict, total=False):
    """Keyword arguments of `enable`; explained in docs/torch.md."""

    sampler: str
    rate: float | None
    blocking: Blocking
    native: bool
    threads: bool
    gil: bool
    stack_max_len: int | None
    max_profile_duration_sec: float
    recorded_env_variables: Sequence[str] | None
    stop_at_error: bool
    enabled: bool
    on_run: Callable[[Run], object] | None


class ProfiledCompilations:
    """The compilations of this process since `enable`; as a context manager, it disables at its end."""

    def __init__(self, profiler: CompilationProfiler | None) -> None:
        self._profiler = profiler

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.disable()

    @property
    def active(self) -> bool:
        """True if compilations are profiled now."""
        return self._profiler is not None and self._profiler.active

    @property
    def runs(self) -> tuple[Run, ...]:
        """Runs of all phases, in the order in which they first ran; reading may end a sampler's segment."""
        return () if self._profiler is None else self._profiler.runs

    def report(self) -> str:
        """Return the text that `profkit report --compile` prints; empty if nothing was compiled."""
        runs = self.runs
        if not runs:
            return ""
        from profkit.render.registry import COMPILATIONS
        from profkit.transforms.compilations import sum_up

        return COMPILATIONS.text(sum_up(runs))

    def disable(self) -> None:
        """Stop profiling compilations, unless `enable` was called again meanwhile."""
        if self.active:
            disable()


def enable(**options: Unpack[CompileOptions]) -> ProfiledCompilations:
    """Profile PyTorch's compilations in this process from now on, with the same samplers as functions.

    Imports torch. Called again, it replaces the options. If compilations cannot be profiled, the reason is
    logged, and the program goes on without it; with `stop_at_error=True` it is raised. Raises UsageError for
    invalid options.
    """
    for name in options:
        if name not in CompileOptions.__annotations__:
            raise UnknownOption(name, CompileOptions.__annotations__)
    return ProfiledCompilations(compilations.enable(cast("ProfilerOptions", options)))


def disable() -> None:
    """Stop profiling compilations; those in progress are still recorded."""
    compilations.disable()
