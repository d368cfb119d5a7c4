"""The command line of a zygote, and what its supervisor is told."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import profkit.measuring.worker as worker
from profkit.errors import ToolMissing
from profkit.measuring.errors import no_temporary_folder
from profkit.measuring.pool.kinds import ZygoteKind
from profkit.model.measurement import Preload, Tool
from profkit.model.workorder import Simulation

PROGRAM = Path(worker.__file__).with_name("__main__.py")

_IMPORTS = {Preload.NOTHING: (), Preload.NUMPY: ("numpy",), Preload.TORCH: ("torch",)}
_TORCH_TIMER = "torch.utils.benchmark"
_OWN_ENV = {
    "PROFKIT_DISABLE": "1",
    # Lets torch.utils.benchmark look for CUDA without starting it, which would spoil it for children.
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
}
_SIMULATION = {Simulation.CACHE: "--cache-sim=yes", Simulation.BRANCH: "--branch-sim=yes"}


def new_folder(kind: ZygoteKind) -> Path | None:
    """Where a zygote under Valgrind is to have its dumps; the supervisor makes and removes it."""
    if kind.tool is Tool.NONE:
        return None
    try:
        return Path(tempfile.gettempdir()) / f"profkit-{os.urandom(8).hex()}"
    except FileNotFoundError as error:  # no folder for temporary files takes any
        raise no_temporary_folder("Callgrind's files", error) from error


def supervisor_message(kind: ZygoteKind, folder: Path | None) -> dict[str, object]:
    """See `worker.supervisor.supervise`; raises ToolMissing."""
    times = kind.preload is Preload.TORCH and folder is None and not kind.calls
    timer = [_TORCH_TIMER] if times else []
    config = {
        "imports": [*_IMPORTS[kind.preload], *timer, *kind.modules],
        "complete": kind.calls or kind.preload is not Preload.NOTHING or folder is not None,
        "roots": kind.roots,
        "valgrind": folder is not None,
    }
    *words, interpreter = kind.command
    return {
        "argv": [*words, *_tool(kind, folder), interpreter, str(PROGRAM), "zygote", json.dumps(config)],
        "env": _environment(kind),
        "folder": None if folder is None else str(folder),
        "before": None if folder is None else [*words, interpreter, str(PROGRAM), "compile"],
    }


def changes_of(kind: ZygoteKind, env: object) -> dict[str, str | None]:
    """What a job's environment sets in its zygote's, and unsets (None); an empty one changes nothing."""
    if not isinstance(env, Mapping) or not env:
        return {}
    before, wanted = _environment(kind), {**env, "PROFKIT_DISABLE": "1"}
    # Python itself sets LC_CTYPE where the locale is C (PEP 538).
    unset = dict.fromkeys((before.keys() | {"LC_CTYPE"}) - wanted.keys())
    return {**unset, **{name: value for name, value in wanted.items() if before.get(name) != value}}


def dump_prefix(folder: Path | None) -> str:
    """What the paths of dumps begin with; Valgrind adds pid and number."""
    return "" if folder is None else str(folder / "cg")


def _environment(kind: ZygoteKind) -> dict[str, str]:
    return {**dict(kind.env), **_OWN_ENV}


def _tool(kind: ZygoteKind, folder: Path | None) -> list[str]:
    if folder is None:
        return []
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise ToolMissing("valgrind", "counting instructions", "install it: apt-get install valgrind")
    return [
        valgrind,
        "-q",
        "--tool=callgrind",
        "--instr-atstart=no",
        "--collect-atstart=no",
        # Else it leaves pipes for debuggers in the folder for temporary files when it is killed.
        "--vgdb=no",
        f"--callgrind-out-file={dump_prefix(folder)}.%p",
        # Else it reports crashes of jobs on their stderr.
        f"--log-file={folder / 'valgrind'}",
        *(_SIMULATION[simulation] for simulation in kind.simulate),
    ]
