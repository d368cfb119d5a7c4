"""Another process to sample: its description, its Python, and the samplers that can read it."""

from __future__ import annotations

import os
import platform
import stat
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from profkit.errors import SamplerMissing, UsageError
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.session import ProcessInfo
from profkit.process import procfs
from profkit.process.child import capture
from profkit.process.manifest import git_commit, key_file, sealed
from profkit.process.membership import read_member
from profkit.process.redaction import secret_rule
from profkit.program.environment import program_of
from profkit.samplers.base import Sampler
from profkit.samplers.options import SamplerOptions
from profkit.samplers.registry import AUTO, Fallback, fallbacks_of, resolve
from profkit.version import VERSION

_PROBE = (
    "import platform, sys; import _remote_debugging; "
    "print(platform.python_version(), sys.implementation.name, 't' in sys.abiflags)"
)
_PYTHON = "python"
_WHOLE_STACKS_SINCE = (3, 15)
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
_LARGEST_MAP = 2**24
_FRAMES = 40
"""Assumed number of frames of a thread, which determines the rate."""


@dataclass(frozen=True, slots=True)
class Target:
    """A process that runs Python."""

    process: ProcessInfo
    script: str
    """Path of its script; empty if it runs a module, code, or something else."""
    name: str
    """Short name for its runs."""
    reader: str | None
    """Interpreter with CPython's own reader for this process; None if there is none."""


def find_target(pid: int) -> Target:
    """Return a running process; raises UsageError if there is none with this pid, or it runs no Python."""
    ticks = procfs.running_since_ticks(pid)
    if ticks is None:
        raise UsageError(f"there is no process {pid}", "`ps -ef` lists the processes")
    argv = [os.fsdecode(word) for word in procfs.command_line(pid)]
    if not runs_python(pid):
        named = f" ({argv[0]})" if argv else ""
        raise UsageError(f"process {pid}{named} runs no Python", "give the pid of a Python process")
    cwd = _cwd(pid)
    reader, version = _reader(pid)
    process = ProcessInfo(
        pid=pid,
        start_ticks=ticks,
        host=os.uname().nodename,
        cwd=cwd,
        argv=secret_rule().argv(argv),
        python=version,
        torch=None,
        profkit=VERSION,
        git_commit=git_commit(Path(cwd)) if cwd else None,
        recorder=(os.getpid(), procfs.start_ticks(os.getpid()) or 0),
        member=read_member(pid),
    )
    script, name = program_of(argv, cwd)
    return Target(sealed(process, key_file()), script, name, reader)


def fallbacks_for(target: Target, options: SamplerOptions) -> tuple[Fallback, ...]:
    """Return the ways to sample a process, best first; raises UsageError if the options allow none."""
    if options.sampler not in (AUTO, "cpython", "pyspy"):
        raise UsageError(
            f"sampler={options.sampler!r} cannot sample another process", "use cpython, pyspy or auto"
        )
    samplers: list[Sampler] = []
    if options.sampler != "pyspy" and target.reader is not None:
        from profkit.samplers.cpython import CPythonSampler

        samplers.append(CPythonSampler(target.reader, target.process.python))
    if options.sampler != "cpython":
        samplers.append(resolve("pyspy"))
    if not samplers:
        needed = "a reader of the process's own Python, 3.15 or later"
        raise SamplerMissing("cpython", needed, "use --sampler pyspy")
    found = tuple(fallback for sampler in samplers for fallback in fallbacks_of(sampler, options))
    if not found:
        samplers[-1].check(options)
    return found


def region_of(target: Target, options: SamplerOptions, label: str | None) -> Region:
    """Return the region that has all samples of a process."""
    return Region(
        key=RegionKey("__main__", target.name, 0, label or target.name),
        kind=RegionKind.PROGRAM,
        file=target.script,
        detached=True,
        all_threads=True,
        tags=options.tags,
    )


def live_stacks_of(target: Target) -> tuple[int, int, int]:
    """Return the process's pid, the number of its threads, and the assumed number of their frames."""
    try:
        threads = sum(1 for _ in Path(procfs.PROC, str(target.process.pid), "task").iterdir())
    except OSError:
        threads = 1
    return target.process.pid, threads, _FRAMES * threads


def runs_python(pid: int) -> bool:
    """Return whether an executable or a library of Python is mapped; True if that may not be read."""
    try:
        with open(f"{procfs.PROC}/{pid}/maps", encoding="utf-8", errors="replace") as maps:
            return any(_PYTHON in line.rpartition("/")[2] for line in maps.read(_LARGEST_MAP).splitlines())
    except OSError:
        return True


def _cwd(pid: int) -> str:
    try:
        return os.readlink(f"{procfs.PROC}/{pid}/cwd")
    except OSError:
        return ""


def _reader(pid: int) -> tuple[str | None, str]:
    """Return the process's interpreter if it has a reader of whole stacks, and its version if known."""
    python = procfs.program(pid)
    if python is None or not _may_run(pid, python):
        return None, ""
    if sys.version_info < _WHOLE_STACKS_SINCE and os.path.samefile(python, f"{procfs.PROC}/self/exe"):
        return None, platform.python_version() if find_spec("_remote_debugging") is not None else ""
    try:
        done = capture([python, "-I", "-S", "-c", _PROBE])
    except OSError:  # TimeoutError is one
        return None, ""
    version, _, rest = done.output.partition(" ")
    parts = version.split(".")
    if done.code or not rest.startswith("cpython") or not all(part.isdigit() for part in parts[:2]):
        return None, ""
    is_whole = tuple(map(int, parts[:2])) >= _WHOLE_STACKS_SINCE
    return (python if is_whole else None), version


def _may_run(pid: int, python: str) -> bool:
    """Return whether the file is the process's interpreter, and only root and this user can change it."""
    try:
        status, own = os.stat(python), os.stat(f"{procfs.PROC}/{pid}/exe")
    except OSError:  # in another mount namespace, or replaced
        return False
    is_same = (status.st_dev, status.st_ino) == (own.st_dev, own.st_ino)
    is_safe = status.st_uid in (0, os.geteuid()) and not status.st_mode & _OTHERS_MAY_WRITE
    return is_same and is_safe and os.path.basename(python).startswith(_PYTHON)
