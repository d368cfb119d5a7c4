"""Process trees: ties between parents and children, memory limits, and killing descendants."""

from __future__ import annotations

import functools
import os
import signal
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctypes import CDLL

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


@functools.cache
def c_library() -> CDLL:
    """Return the C library."""
    # Not above: a profiled program imports this module, and with libffi 3.5, ctypes keeps a descriptor open.
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """Have this process killed when the thread that started it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, argument: int) -> None:
    import ctypes

    zero = ctypes.c_ulong(0)
    if c_library().prctl(option, ctypes.c_ulong(argument), zero, zero, zero) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


_FASTEST_BYTES_PER_S = 8 << 30
"""Maximum rate at which several threads fill memory: the more is free, the later the next check."""
_SHORTEST_S, _LONGEST_S = 0.05, 1.0
_OWN = (b"RssAnon:", b"RssShmem:", b"VmSwap:")
_SHARES = (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:")


class MemoryLimit:
    """The memory that a set of processes may use."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.pause_s = _SHORTEST_S
        """Maximum time until the next check."""

    def excess(self, pids: Iterable[int]) -> int | None:
        """Return the bytes that processes use if they exceed the limit, else None."""
        known = tuple(pids)
        used = most_bytes(known)
        self.pause_s = pause_s(self.limit_bytes - used)
        if used <= self.limit_bytes:
            return None
        used = shared_bytes(known)
        return used if used > self.limit_bytes else None


def pause_s(room_bytes: int) -> float:
    """Return the minimum time in which free memory can be filled, between 0.05 and 1 s."""
    return min(max(room_bytes / _FASTEST_BYTES_PER_S, _SHORTEST_S), _LONGEST_S)


def most_bytes(pids: Iterable[int]) -> int:
    """Return the bytes that processes use, counting shared pages once per process."""
    return sum(bytes_in(f"/proc/{pid}/status", _OWN) for pid in pids)


def shared_bytes(pids: Iterable[int]) -> int:
    """Return the bytes that processes use, dividing shared pages among them."""
    return sum(bytes_in(f"/proc/{pid}/smaps_rollup", _SHARES) or most_bytes([pid]) for pid in pids)


def bytes_in(path: str, names: tuple[bytes, ...]) -> int:
    """Return the sum of some lines of a file such as `status` or `meminfo`; 0 if it cannot be read."""
    try:
        with open(path, "rb", buffering=0) as file:
            lines = file.read(8192).split(b"\n")
    except OSError:  # the process is gone, or not ours
        return 0
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith(names))


_PAUSE_S = 0.001
_GONE = "ZX"
"""States of processes that have ended (proc(5))."""
_STOPPED = "T"
"""State of a process stopped by a signal; 't' is one stopped by a debugger."""


def descendants(root: int) -> set[int]:
    """Return all descendants of `root`, including zombies."""
    below = _listed_children if _has_lists() else _scanned_children()
    found: set[int] = set()
    ahead = [root]
    while ahead:
        new = set(below(ahead.pop())) - found
        found |= new
        ahead += new
    return found


def end_descendants(spared: Iterable[int], reap: Callable[[], None], timeout_s: float) -> bool:
    """Kill every descendant that is not spared, and wait for their end; return whether all have ended.

    `reap` reaps ended children without blocking.
    """
    let_be = set(spared)

    def others() -> set[int]:
        reap()
        return descendants(os.getpid()) - let_be

    return _end(others, timeout_s)


def end_children(spared: set[int], timeout_s: float) -> None:
    """Kill every child that is not spared, with its descendants.

    Returns when none is left, or after `timeout_s`: a process can be stuck in the kernel for longer.
    The caller must adopt orphans, and ignore SIGCHLD so that its children are reaped.
    """

    def strays() -> set[int]:
        found = children(os.getpid()) - spared
        return found.union(*map(descendants, found))

    _end(strays, timeout_s)


def end_stopped(root: int, timeout_s: float) -> None:
    """Kill another, stopped process after all its descendants have ended.

    Descendants go first: while `root` exists it adopts their orphans, which cannot be found afterwards.
    """
    _end(lambda: descendants(root), timeout_s)
    kill(root)


def _end(find: Callable[[], set[int]], timeout_s: float) -> bool:
    """Kill what `find` finds until it finds only ended processes; return False after `timeout_s`.

    Killed processes may have started others meanwhile, so their end must precede the last search.
    """
    gone: set[int] = set()
    deadline_s = time.monotonic() + timeout_s
    while living := find() - gone:
        for pid in living:
            kill(pid)
        gone = {pid for pid in living | gone if _is_gone(pid)}
        if time.monotonic() >= deadline_s:
            return False
        if living - gone:
            time.sleep(_PAUSE_S)
    return True


def children(pid: int) -> set[int]:
    """Return the children of a process, including zombies; empty if there is no such process."""
    return set((_listed_children if _has_lists() else _scanned_children())(pid))


def is_stopped(pid: int) -> bool:
    """Return whether a signal such as SIGSTOP has stopped a process; False if it does not exist."""
    return _stat(str(pid))[:1] == [_STOPPED]


def kill(pid: int) -> None:
    """Send SIGKILL to a process, if it exists and this user may."""
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # gone, or of another user: the callers' deadline applies
        return


def _is_gone(pid: int) -> bool:
    fields = _stat(str(pid))
    return not fields or fields[0] in _GONE


def _stat(pid: str) -> list[str]:
    """Return the fields of /proc/PID/stat from the third on; empty if there is no such process."""
    text = _read(f"/proc/{pid}/stat")
    return text.rpartition(")")[2].split()


def _has_lists() -> bool:
    """Return whether the kernel has lists of children (CONFIG_PROC_CHILDREN)."""
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
