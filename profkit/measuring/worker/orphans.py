"""Find and end every descendant of a process, daemons included; it must adopt orphans.

Reads /proc alone. A parent's list of children (`/proc/PID/task/TID/children`) is exact while it alone
waits for them, which holds for this process and its own children: nobody else can take one off.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable

_PAUSE_S = 0.001
_GONE = "ZX"
"""States of processes that run no more (proc(5))."""
_STOPPED = "T"
"""By a signal; 't' is a process that a debugger holds."""


def descendants(root: int) -> set[int]:
    """Every process below `root`, zombies included."""
    below = _listed_children if _has_lists() else _scanned_children()
    found: set[int] = set()
    ahead = [root]
    while ahead:
        new = set(below(ahead.pop())) - found
        found |= new
        ahead += new
    return found


def end_descendants(spared: Iterable[int], reap: Callable[[], None], timeout_s: float) -> bool:
    """Kill every descendant that is not spared, and wait until none is left; whether none is.

    `reap` waits for children of ours that have ended, without blocking. Goes on until a look finds
    nobody: those who were killed may have started others meanwhile, which then are ours.
    """
    let_be = set(spared)
    gone: set[int] = set()
    deadline_s = time.monotonic() + timeout_s
    while living := descendants(os.getpid()) - let_be - gone:
        for pid in living:
            kill(pid)
        reap()
        gone = {pid for pid in living | gone if _is_gone(pid)}
        if time.monotonic() >= deadline_s:
            return False
        if living - gone:
            time.sleep(_PAUSE_S)
    return True


def end_children(spared: set[int], timeout_s: float) -> None:
    """Kill every child that is not spared, with its descendants; returns when none is left.

    The caller adopts orphans, and has its children reaped by ignoring SIGCHLD.
    """
    deadline_s = time.monotonic() + timeout_s
    while strays := {pid for pid in children(os.getpid()) - spared if not _is_gone(pid)}:
        for pid in strays.union(*map(descendants, strays)):
            kill(pid)
        if time.monotonic() >= deadline_s:
            return
        time.sleep(_PAUSE_S)


def end_stopped(root: int, timeout_s: float) -> None:
    """Kill another process, which is stopped, and every descendant of it; returns when those are gone, too.

    Descendants go first: while `root` exists it adopts their orphans, which can be found no more after it.
    """
    deadline_s = time.monotonic() + timeout_s
    while living := {pid for pid in descendants(root) if not _is_gone(pid)}:
        for pid in living:
            kill(pid)
        if time.monotonic() >= deadline_s:
            break
        time.sleep(_PAUSE_S)
    kill(root)


def children(pid: int) -> set[int]:
    """The children of a process, zombies included; empty if there is no such process."""
    return set((_listed_children if _has_lists() else _scanned_children())(pid))


def is_stopped(pid: int) -> bool:
    """Whether a signal, such as SIGSTOP, has stopped a process; False if there is no such process."""
    return _stat(str(pid))[:1] == [_STOPPED]


def kill(pid: int) -> None:
    """Send SIGKILL to a process, if it exists and this user may."""
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # gone, or of another user: the deadline tells
        return


def _is_gone(pid: int) -> bool:
    fields = _stat(str(pid))
    return not fields or fields[0] in _GONE


def _stat(pid: str) -> list[str]:
    """The fields of /proc/PID/stat from the third on, empty where there is no such process."""
    text = _read(f"/proc/{pid}/stat")
    return text.rpartition(")")[2].split()


def _has_lists() -> bool:
    """Whether the kernel keeps lists of children (CONFIG_PROC_CHILDREN)."""
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def _listed_children(pid: int) -> list[int]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:  # gone
        return []
    lists = (_read(f"/proc/{pid}/task/{thread}/children") for thread in threads)
    return [int(child) for text in lists for child in text.split()]


def _scanned_children() -> Callable[[int], list[int]]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        fields = _stat(name) if name.isdecimal() else []
        if fields:
            children.setdefault(int(fields[1]), []).append(int(name))
    return lambda pid: children.get(pid, [])


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "replace")
    except OSError:  # gone: ENOENT, or ESRCH while it is read
        return ""
