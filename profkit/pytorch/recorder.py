"""Recording with torch.profiler: which calls are traced, with what (shapes, GPU kernels), and its end.

The files that torch.profiler writes are in the session's folder; whoever reads the session parses them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from profkit.calls.keywords import ProfilerOptions
from profkit.errors import ProfkitError, UsageError
from profkit.model.region import Region, RegionKind
from profkit.process.guard import ignore, say_once
from profkit.pytorch.errors import ProfilerActive, TorchMissing
from profkit.regular_files import own_folder
from profkit.session.counters import Counters
from profkit.store.spool_files import UNFINISHED_TRACE, trace_name

if TYPE_CHECKING:
    import torch

TRACE_CALLS = 3
"""Default number of a region's calls that are traced."""
_OURS = object()
"""Value of PyTorch's flag while profkit's trace is recorded; a profiler that the program starts sets True."""


class TraceOptions(ProfilerOptions, total=False):
    """Keyword arguments of `profile` and `profiled` with mode="trace"; explained in docs/torch.md."""

    trace_calls: int


class TorchTracer:
    """Tracer of a region's first calls in this process."""

    def __init__(self, region: Region, calls: int) -> None:
        """Raise UsageError for a function whose calls do not end when they return."""
        if region.kind not in (RegionKind.FUNCTION, RegionKind.BLOCK):
            raise UsageError(
                f"{region.key.label!r} is a {region.kind.value}, and torch.profiler records threads",
                "use mode='trace' on a function or a block that awaits or consumes it",
            )
        self._left, self._taken = calls, 0

    def begin(self, counters: Counters) -> TorchRecording | None:
        """Start torch.profiler; None if no calls are left to trace, or if it cannot be started.

        Raises ProfkitError for a strict policy.
        """
        if self._left <= 0 or not counters.sessions:
            return None
        try:
            recording = _start(counters, self._taken)
        except ProfkitError as error:
            if counters.policy.strict:
                raise
            say_once(f"{counters.region.key.label!r} runs untraced: {error}")
            return None
        except Exception as error:  # noqa: BLE001 - raised if it is the program's
            self._left = 0
            ignore(error, "starting torch.profiler")
            return None
        self._left, self._taken = self._left - 1, self._taken + 1
        return recording


class TorchRecording:
    """A trace that torch.profiler records."""

    def __init__(self, profiler: torch.profiler.profile, state: ModuleType, file: Path, label: str) -> None:
        self._profiler, self._state, self._file, self._label = profiler, state, file, label

    def open_range(self, label: str) -> Callable[[], None]:
        """Open a range, which torch.profiler calls a user annotation."""
        annotation = self._state.record_function(label)
        annotation.__enter__()
        return lambda: annotation.__exit__(None, None, None)

    def end(self) -> None:
        """Stop torch.profiler, and write the file; log what fails."""
        try:
            self._end()
        except Exception as error:  # noqa: BLE001 - raised if it is the program's
            ignore(error, "writing a trace of torch.profiler")

    def _end(self) -> None:
        if self._state._is_profiler_enabled is not _OURS:
            # It would stop the program's own profiler, which has replaced this one.
            say_once(f"the trace of {self._label!r} is lost: the program has started torch.profiler itself")
            return
        _synchronize()
        self._profiler.stop()
        unfinished = self._file.with_name(f"{self._file.name}{UNFINISHED_TRACE}")
        with own_folder(unfinished.parent) as folder:
            self._profiler.export_chrome_trace(f"/proc/self/fd/{folder}/{unfinished.name}")
            os.replace(unfinished.name, self._file.name, src_dir_fd=folder, dst_dir_fd=folder)


def _start(counters: Counters, number: int) -> TorchRecording:
    try:
        import torch.profiler
        from torch.autograd import profiler as state
    except (ImportError, OSError) as error:  # OSError: one of its libraries
        raise TorchMissing("mode='trace'", str(error)) from error
    if state._is_profiler_enabled or torch.autograd._profiler_enabled():  # type: ignore[attr-defined]
        raise ProfilerActive
    from profkit.session.manager import MANAGER

    file = MANAGER.spool / counters.sessions[-1] / trace_name(counters.region.id, number)
    profiler = torch.profiler.profile(record_shapes=True)
    profiler.start()
    state._is_profiler_enabled = _OURS  # type: ignore[assignment]
    return TorchRecording(profiler, state, file, counters.region.key.label)


def _synchronize() -> None:
    """Wait for the kernels that were launched: torch.profiler omits those that have not ended."""
    import torch

    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()
