"""Start a program that is no child of ours, and find its pid.

`os.wait()`, `waitpid(-1)` and the process tree look as if it had never been started. (Where our
process is init of a container, or a subreaper, the kernel makes every orphan its child: nothing can
be done about that but to reap it, see `watch`.)
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from profkit.clock import Clock
from profkit.process import procfs
from profkit.process.child import run_child

_NEARBY = 64
_RESERVED_PIDS = 300
"""Where the kernel goes on after the largest pid (RESERVED_PIDS in kernel/pid.c)."""
_PAUSE_S = 0.0002
_FULL_SCANS = 5
"""A process in the middle of exec has no arguments for a moment."""
_LAST_SCANS, _LAST_PAUSE_S = 10, 0.002
"""Longer than a launcher takes from its start to the program's."""


def start_detached(argv: Sequence[str], mark: str, log: Path, clock: Clock, timeout_s: float) -> int | None:
    """Start `argv` (an absolute path first) in its own session and return its pid.

    `mark` is one of the arguments that no other process has, such as an output path. stdout and
    stderr are appended to `log`. The pid is that of the program itself, past its exec. None: it has
    ended already. Raises OSError where it cannot be started, TimeoutError at the deadline; nothing
    is left running then.
    """
    deadline_s = clock.monotonic_s() + timeout_s
    try:
        for launcher in _launchers():
            launched = run_child([*launcher, *argv], log, timeout_s)
            if launched.code in (0, None):
                return _await_program(launched.pid, launcher, os.fsencode(mark), clock, deadline_s)
    except BaseException:
        kill_marked(mark, clock)
        raise
    raise FileNotFoundError(f"neither `setsid --fork` nor {sys.executable!r} could start {argv[0]}")


def kill_marked(mark: str, clock: Clock) -> None:
    """Kill what `start_detached` started, or is still starting, for somebody who did not get its pid."""
    for _ in range(_LAST_SCANS):
        for pid in _marked(os.fsencode(mark)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        clock.sleep(_LAST_PAUSE_S)


def _launchers() -> Iterator[tuple[str, ...]]:
    """Commands that start what follows them; busybox has a setsid that knows no --fork."""
    setsid = shutil.which("setsid")
    if setsid is not None:
        yield setsid, "--fork"
    if sys.executable:
        yield sys.executable, "-I", "-S", str(Path(__file__).with_name("forker.py"))


def _await_program(
    launcher_pid: int, launcher: Sequence[str], mark: bytes, clock: Clock, deadline_s: float
) -> int | None:
    prefix = tuple(os.fsencode(word) for word in launcher)
    pid = _find(launcher_pid, mark, clock)
    while pid is not None:
        words = procfs.command_line(pid)
        if words and words[: len(prefix)] != prefix:
            return pid
        if not procfs.is_running(pid):
            return None
        if clock.monotonic_s() >= deadline_s:
            raise TimeoutError(f"process {pid} did not become its program in time")
        clock.sleep(_PAUSE_S)
    return None


def _find(launcher_pid: int, mark: bytes, clock: Clock) -> int | None:
    """The process that bears the mark: pids are given out in sequence, so look nearby first."""
    nearby = next((pid for pid in _pids_after(launcher_pid) if _bears(pid, mark)), None)
    if nearby is not None:
        return nearby
    for _ in range(_FULL_SCANS):
        found = next(_marked(mark), None)
        if found is not None:
            return found
        clock.sleep(_PAUSE_S)
    return None


def _pids_after(pid: int) -> Iterator[int]:
    largest = int(Path("/proc/sys/kernel/pid_max").read_text())
    for number in range(pid + 1, pid + 1 + _NEARBY):
        yield number if number < largest else number - largest + _RESERVED_PIDS


def _marked(mark: bytes) -> Iterator[int]:
    pids = (int(name) for name in os.listdir(procfs.PROC) if name.isdecimal())
    return (pid for pid in pids if _bears(pid, mark))


def _bears(pid: int, mark: bytes) -> bool:
    return mark in procfs.command_line(pid) and pid != os.getpid()
