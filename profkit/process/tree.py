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

    All are stopped before the first is killed: a process that was just started by one that is killed would
    no longer be found. The root is stopped first and killed last, because its descendants are found through
    it. Repeats until none is left. Orphaned descendants (daemons) are found only if the
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
            _stop((root,), deadline_s, clock)  # a supervisor would start replacements
            try:
                _end_descendants(root, ended, deadline_s, clock)
            finally:
                _kill((root,), ended)
            _reap((root,), deadline_s, clock)
    return tuple(ended.values())


def _end_descendants(
    root: psutil.Process, ended: dict[int, EndedProcess], deadline_s: float, clock: Clock
) -> None:
    while alive := _stopped_descendants(root, deadline_s, clock):
        _kill(alive, ended)
        _reap(alive, deadline_s, clock)


def _stopped_descendants(root: psutil.Process, deadline_s: float, clock: Clock) -> list[psutil.Process]:
    """Stop the living descendants, and those that they start meanwhile; return all."""
    stopped: dict[int, psutil.Process] = {}
    while True:
        found = [process for process in root.children(recursive=True) if process.pid not in stopped]
        alive = [process for process in found if _is_alive(process)]
        if not alive:
            return list(stopped.values())
        _stop(alive, deadline_s, clock)
        stopped.update((process.pid, process) for process in alive)


def _stop(processes: Sequence[psutil.Process], deadline_s: float, clock: Clock) -> None:
    """Stop processes and wait until they are: a signal takes effect a little later."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.suspend()
    while any(_runs(process) for process in processes) and clock.monotonic_s() < deadline_s:
        clock.sleep(_PAUSE_S)


def _runs(process: psutil.Process) -> bool:
    """Return whether a process may still execute code; in an uninterruptible wait it does not."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.status() in (psutil.STATUS_RUNNING, psutil.STATUS_SLEEPING)
    return False


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
