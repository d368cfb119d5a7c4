"""What tells zygotes apart."""

from __future__ import annotations

from dataclasses import dataclass

from profkit.model.measurement import Preload, Tool
from profkit.model.workorder import Simulation


@dataclass(frozen=True, slots=True)
class ZygoteKind:
    """Jobs of equal kinds share a zygote."""

    command: tuple[str, ...]
    """Words that enter an environment, if any, and the interpreter last."""
    tool: Tool
    preload: Preload
    env: tuple[tuple[str, str], ...]
    """What it depends on of its environment; a job's own comes with the job."""
    roots: tuple[str, ...] = ()
    """Folders for the zygote's `sys.path`, where it has not got them: the preload is found there."""
    simulate: tuple[Simulation, ...] = ()
    draw: str = ""
    """Distinguishes zygotes that are alike: each has its own draw of memory layout and hash seed."""
    calls: bool = False
    """Whether its workers call functions: it imports what they need for that before the first one."""
    modules: tuple[str, ...] = ()
    """What it imports beside the preload."""

    def __str__(self) -> str:
        under = " under Valgrind" if self.tool is Tool.VALGRIND else ""
        return f"{self.command[-1]} with {self.preload.value}{under}"
