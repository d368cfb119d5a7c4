"""End a process together with its descendants."""

from __future__ import annotations

import contextlib
import posix
from collections.abc import Sequence
from dataclasses import dataclass

import psutil

from profkit.clock import SYSTEM_CLOCK, Clock

_PAUSE_S = 0.005


@dataclass(frozen=True, slots=True)
class EndedProcess:
    """Process that was killed."""

    pid: int
    name: str


def end_tree(pid: int, timeout_s: float = 10.0, clock: Clock = SYSTEM_CLOCK) -> tuple[EndedProcess, ...]:
    """Kill process `pid` and its descendants; for our own process, only the descendants.

    Repeats until no descendant is left, since they may start more. The root is stopped first and killed
    last, because its descendants are found through it. Orphaned descendants (daemons) are found only if the
    root is init or a subreaper (PR_SET_CHILD_SUBREAPER). Waits for our own children. Returns each killed
    process once. Raises TimeoutError if some do not end, psutil.AccessDenied if killing is not permitted.
    """
    ended: dict[int, EndedProcess] = {}
    deadline_s = clock.monotonic_s() + timeout_s
    with contextlib.suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        if pid == posix.getpid():
            _end_descendants(root, ended, deadline_s, clock)
        else:
            root.suspend()  # a supervisor would start replacements
            try:
                _end_descendants(root, ended, deadline_s, clock)
            finally:
                _kill((root,), ended)
            _reap((root,), deadline_s, clock)
    return tuple(ended.values())


def _end_descendants(
    root: psutil.Process, ended: dict[int, EndedProcess], deadline_s: float, clock: Clock
) -> None:
    while True:
        alive = [process for process in root.children(recursive=True) if _is_alive(process)]
        if not alive:
            return
        _kill(alive, ended)
        _reap(alive, deadline_s, clock)


def _kill(processes: Sequence[psutil.Process], ended: dict[int, EndedProcess]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            name = process.name()
            process.kill()
            ended.setdefault(process.pid, EndedProcess(process.pid, name))


def _reap(processes: Sequence[psutil.Process], deadline_s: float, clock: Clock) -> None:
    """Wait until all have ended; a zombie of another parent counts as ended."""
    while any(_is_alive(process) for process in processes):
        if clock.monotonic_s() >= deadline_s:
            stuck = ", ".join(str(process.pid) for process in processes if _is_alive(process))
            raise TimeoutError(f"processes {stuck} were killed and have not ended")
        clock.sleep(_PAUSE_S)


def _is_alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            return True
        with contextlib.suppress(psutil.TimeoutExpired):
            process.wait(0)  # reaps it if it is our own child
    return False
