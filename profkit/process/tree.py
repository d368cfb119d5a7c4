"""End a process together with its descendants."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import psutil

from profkit.clock import SYSTEM_CLOCK

_TIMEOUT_S, _PAUSE_S = 10.0, 0.005


def end_tree(pid: int) -> None:
    """Kill process `pid`, which is not this one, and its descendants.

    All are stopped before the first is killed: a process that was just started by one that is killed would
    no longer be found. The root is stopped first and killed last, because its descendants are found through
    it. Repeats until none is left. Orphaned descendants (daemons) are found only if the
    root is init or a subreaper (PR_SET_CHILD_SUBREAPER). Waits for our own children. Raises TimeoutError if
    some do not end, psutil.AccessDenied if killing is not permitted.
    """
    deadline_s = SYSTEM_CLOCK.monotonic_s() + _TIMEOUT_S
    with contextlib.suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        _stop((root,), deadline_s)  # a supervisor would start replacements
        try:
            while alive := _stopped_descendants(root, deadline_s):
                _kill(alive)
                _reap(alive, deadline_s)
        finally:
            _kill((root,))
        _reap((root,), deadline_s)


def _stopped_descendants(root: psutil.Process, deadline_s: float) -> list[psutil.Process]:
    """Stop the living descendants, and those that they start meanwhile; return all."""
    stopped: dict[int, psutil.Process] = {}
    while True:
        found = [process for process in root.children(recursive=True) if process.pid not in stopped]
        alive = [process for process in found if _is_alive(process)]
        if not alive:
            return list(stopped.values())
        _stop(alive, deadline_s)
        stopped.update((process.pid, process) for process in alive)


def _stop(processes: Sequence[psutil.Process], deadline_s: float) -> None:
    """Stop processes and wait until they are: a signal takes effect a little later."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.suspend()
    while any(_runs(process) for process in processes) and SYSTEM_CLOCK.monotonic_s() < deadline_s:
        SYSTEM_CLOCK.sleep(_PAUSE_S)


def _runs(process: psutil.Process) -> bool:
    """Return whether a process may still execute code; in an uninterruptible wait it does not."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.status() in (psutil.STATUS_RUNNING, psutil.STATUS_SLEEPING)
    return False


def _kill(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def _reap(processes: Sequence[psutil.Process], deadline_s: float) -> None:
    """Wait until all have ended; a zombie of another parent counts as ended."""
    while alive := [process for process in processes if _is_alive(process)]:
        if SYSTEM_CLOCK.monotonic_s() >= deadline_s:
            stuck = ", ".join(str(process.pid) for process in alive)
            raise TimeoutError(f"processes {stuck} were killed and have not ended")
        SYSTEM_CLOCK.sleep(_PAUSE_S)


def _is_alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            return True
        with contextlib.suppress(psutil.TimeoutExpired):
            process.wait(0)  # reaps it if it is our own child
    return False
