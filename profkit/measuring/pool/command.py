"""Command line and environment of a zygote, Callgrind's options, and how much of its output is kept."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import string
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import profkit.measuring.worker as worker
from profkit.errors import ToolMissing
from profkit.measuring.errors import no_temporary_folder
from profkit.model.measurement import Preload, Tool
from profkit.model.workorder import Simulation


@dataclass(frozen=True, slots=True)
class ZygoteKind:
    """Kind of a zygote; jobs of equal kinds share one."""

    command: tuple[str, ...]
    """Words that enter an environment, if any, then the interpreter."""
    tool: Tool
    preload: Preload
    env: tuple[tuple[str, str], ...]
    """Variables on which it depends; a job's own environment comes with the job."""
    roots: tuple[str, ...] = ()
    """Folders to add to the zygote's `sys.path` if missing: the preload is found there."""
    simulate: tuple[Simulation, ...] = ()
    draw: str = ""
    """Name that distinguishes equal zygotes: each has its own draw of memory layout and hash seed."""
    calls: bool = False
    """True if its workers call functions: it imports the modules for that before the first one."""
    modules: tuple[str, ...] = ()
    """Modules to import beside the preload."""
    by_function: bool = False
    """True if its workers count by Python function, under Valgrind."""

    def __str__(self) -> str:
        under = " under Valgrind" if self.tool is Tool.VALGRIND else ""
        under += ", by Python function" if self.by_function else ""
        return f"{self.command[-1]} with {self.preload.value}{under}"


PROGRAM = Path(worker.__file__).with_name("__main__.py")

_IMPORTS = {Preload.NOTHING: (), Preload.NUMPY: ("numpy",), Preload.TORCH: ("torch",)}
_TORCH_TIMER = "torch.utils.benchmark"
_OWN_ENV = {
    "PROFKIT_DISABLE": "1",
    # Lets torch.utils.benchmark detect CUDA without initialising it: children could then not use it.
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
}
_SIMULATION = {Simulation.CACHE: "--cache-sim=yes", Simulation.BRANCH: "--branch-sim=yes"}


def new_folder(kind: ZygoteKind) -> Path | None:
    """Return the folder for a Valgrind zygote's dumps; the supervisor makes and removes it."""
    if kind.tool is Tool.NONE:
        return None
    try:
        return Path(tempfile.gettempdir()) / f"profkit-{os.urandom(8).hex()}"
    except FileNotFoundError as error:  # no temporary folder is usable
        raise no_temporary_folder("Callgrind's files", error) from error


def supervisor_message(kind: ZygoteKind, folder: Path | None) -> dict[str, object]:
    """Return the message for `worker.supervisor.supervise`; raises ToolMissing."""
    times = kind.preload is Preload.TORCH and folder is None and not kind.calls
    timer = [_TORCH_TIMER] if times else []
    config = {
        "imports": [*_IMPORTS[kind.preload], *timer, *kind.modules],
        "complete": kind.calls or kind.preload is not Preload.NOTHING or folder is not None,
        "roots": kind.roots,
        "valgrind": folder is not None and not kind.by_function,
    }
    tool: list[str] = []
    if folder is not None:
        tool = [*callgrind(folder, kind.simulate), "--instr-atstart=no", "--collect-atstart=no"]
        tool += by_function_options() if kind.by_function else ()
    *words, interpreter = kind.command
    return {
        "argv": [*words, *tool, interpreter, str(PROGRAM), "zygote", json.dumps(config)],
        "env": _environment(kind),
        "folder": None if folder is None else str(folder),
        "before": None if folder is None else [*words, interpreter, str(PROGRAM), "compile"],
    }


def changes_of(kind: ZygoteKind, env: object) -> dict[str, str | None]:
    """Return the variables that a job's environment sets or unsets (None) in its zygote's; none if empty."""
    if not isinstance(env, Mapping) or not env:
        return {}
    before, wanted = _environment(kind), {**env, "PROFKIT_DISABLE": "1"}
    # Python itself sets LC_CTYPE if the locale is C (PEP 538).
    unset = dict.fromkeys((before.keys() | {"LC_CTYPE"}) - wanted.keys())
    return {**unset, **{name: value for name, value in wanted.items() if before.get(name) != value}}


def dump_prefix(folder: Path | None) -> str:
    """Return the prefix of the paths of dumps; Valgrind adds pid and number."""
    return "" if folder is None else str(folder / "cg")


def _environment(kind: ZygoteKind) -> dict[str, str]:
    return {**dict(kind.env), **_OWN_ENV}


def callgrind(folder: Path, simulate: Iterable[Simulation], log: str = "valgrind") -> list[str]:
    """Return the command that counts a program's instructions, with its files in a folder.

    Dumps are at `dump_prefix`, messages in the file `log`. Raises ToolMissing.
    """
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise ToolMissing("valgrind", "counting instructions", "install it: apt-get install valgrind")
    return [
        valgrind,
        "-q",
        "--tool=callgrind",
        # Else it leaves pipes for debuggers in the temporary folder when it is killed.
        "--vgdb=no",
        f"--callgrind-out-file={dump_prefix(folder)}.%p",
        # Else it reports crashes of jobs on their stderr.
        f"--log-file={folder / log}",
        *(_SIMULATION[simulation] for simulation in simulate),
    ]


EVALUATOR = "_PyEval_EvalFrameDefault"
"""CPython's function that executes the bytecode of a Python function."""
_SYMBOL = f"{string.ascii_letters}{string.digits}_.$@(<[{{~"
"""Characters that names of functions consist of, as far as they distinguish them from `EVALUATOR`."""


def by_function_options() -> list[str]:
    """Return Callgrind's options that add native code to the Python function that called it.

    The evaluator is separated by the stub that called it. Everything else that has a name is skipped, so that
    its cost is its caller's; stubs have none, and appear as their address, which begins with 0. An option
    can only say what to skip, so there is one for each way in which a name can differ from the evaluator's.
    """
    skipped = [
        f"{EVALUATOR[:place]}{character}*"
        for place, expected in enumerate(EVALUATOR)
        for character in _SYMBOL
        if character != expected and (place, character) != (0, "0")
    ]
    return [f"--separate-callers1={EVALUATOR}", *(f"--fn-skip={pattern}" for pattern in skipped)]


_MAX_ALIKE = 3
KEPT_BYTES = 64 * 1024
_GROWN_BYTES = 16 * 1024 * 1024


def without_own_frames(dump: str) -> str:
    """Remove the worker's own frames from tracebacks that it printed, and count repeated lines."""
    own = f'  File "{PROGRAM.parent}{os.sep}'
    lines = (line for line in dump.splitlines(keepends=True) if not line.startswith(own))
    return "".join(_counted(line, len(list(same))) for line, same in groupby(lines))


def _counted(line: str, times: int) -> str:
    """Return a line `times` times; a recurring frame is abbreviated as in Python's own tracebacks."""
    if times <= _MAX_ALIKE or not line.startswith("  File "):
        return line * times
    return f"{line * _MAX_ALIKE}  [Previous line repeated {times - _MAX_ALIKE} more times]\n"


class Output:
    """File for any amount of output, which never blocks its writers; its end is kept. Close it."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("profkit-output", os.MFD_CLOEXEC)
        fcntl.fcntl(self.descriptor, fcntl.F_SETFL, os.O_APPEND)

    def text(self) -> str:
        """Return the last 64 KiB, cut at a line break if there is one."""
        size = os.fstat(self.descriptor).st_size
        start = max(0, size - KEPT_BYTES)
        text = os.pread(self.descriptor, KEPT_BYTES, start).decode("utf-8", "replace")
        return text if start == 0 else text[text.find("\n") + 1 :]

    def shrink(self) -> bool:
        """Drop the start of a file that has grown large, and return whether it had.

        Writers append at its current end.
        """
        size = os.fstat(self.descriptor).st_size
        if size <= _GROWN_BYTES:
            return False
        end = os.pread(self.descriptor, KEPT_BYTES, size - KEPT_BYTES)
        os.ftruncate(self.descriptor, 0)
        os.write(self.descriptor, end)
        return True

    def close(self) -> None:
        """Close the descriptor; processes may still write to the file."""
        os.close(self.descriptor)
