"""Compilations of a process, found by one of its runs, for `profkit report --compile`."""

from __future__ import annotations

from profkit.cli.workspace import Workspace
from profkit.errors import UsageError
from profkit.model.compilations import Compilations
from profkit.model.measurement import AnyInfo
from profkit.model.region import RegionKind
from profkit.model.run import RunInfo
from profkit.transforms.compilations import sum_up

_HOW = "profile them with `profkit run --torch-compile`, or torch_compile.enable()"


def find_compilations(workspace: Workspace, wanted: str | None) -> Compilations:
    """Return the compilations of a run's process; None selects the process that compiled last.

    Damaged runs are reported and left out, unless all are. Raises RunNotFound, and UsageError if nothing was
    compiled.
    """
    known = [info for info in workspace.runs(None, None) if _is_compilation(info)]
    found = known[0] if known and wanted is None else workspace.find(wanted)
    of_process = [info for info in known if _process(info) == _process(found)]
    if not of_process:
        raise UsageError(
            f"no compilation was profiled in the process of run {found.id} ({found.label})", _HOW
        )
    return sum_up(tuple(workspace.load_sampled(of_process)))


def of_launch(workspace: Workspace, launch: str) -> Compilations | None:
    """Return the compilations of the first process of a launch that has some; None if there are none."""
    known = [info for info in workspace.runs(None, None) if _is_compilation(info)]
    first = next((info for info in reversed(known) if info.process.launch == launch), None)
    return None if first is None else find_compilations(workspace, first.id)


def _is_compilation(info: AnyInfo) -> bool:
    return isinstance(info, RunInfo) and info.region.kind is RegionKind.COMPILATION


def _process(info: AnyInfo) -> tuple[str, int, int]:
    return info.process.host, info.process.pid, info.process.start_ticks
