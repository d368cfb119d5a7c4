"""Folders that stand for /proc, with the status of this process and of another one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

PID = 4_194_305
"""The other process: above the largest pid that Linux gives out."""

STATUS = {
    "State": "R (running)",
    "TracerPid": "0",
    "Uid": "1000 1000 1000 1000",
    "Gid": "1000 1000 1000 1000",
    "NSpid": "500",
    "CapInh": "0000000000000000",
    "CapPrm": "0000000000000000",
    "CapEff": "0000000000000000",
    "CapBnd": "000001ffffffffff",
    "CapAmb": "0000000000000000",
    "NoNewPrivs": "0",
    "Seccomp": "0",
    "Seccomp_filters": "0",
}


def write_proc(
    folder: Path, target: Mapping[str, str], own: Mapping[str, str], yama_scope: int | None = None
) -> str:
    """Write the folder and return its path; `target` and `own` are changes of STATUS."""
    for name, changes in ((str(PID), target), ("self", own)):
        place = folder / name
        place.mkdir(parents=True)
        lines = (f"{field}:\t{value}\n" for field, value in (STATUS | dict(changes)).items())
        (place / "status").write_text("".join(lines))
    if yama_scope is not None:
        scope = folder / "sys" / "kernel" / "yama" / "ptrace_scope"
        scope.parent.mkdir(parents=True)
        scope.write_text(f"{yama_scope}\n")
    return str(folder)
