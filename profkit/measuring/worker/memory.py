"""The memory that a job's processes use, and how often to look at it.

What counts is memory that nobody else can have: anonymous and shared memory, resident or swapped out. Pages
of files do not count, the kernel takes them back. A forked process maps the pages of its parent until one of
the two writes to them, so the sum over processes is an upper bound. It is cheap, and as long as it is below
the limit it is all that is read; else the kernel works out each process's share (`smaps_rollup`).
"""

from __future__ import annotations

from collections.abc import Iterable

_FASTEST_BYTES_PER_S = 8 << 30
"""Several threads fill memory at most so fast: where there is room, a look may wait."""
_SHORTEST_S, _LONGEST_S = 0.05, 1.0
_OWN = (b"RssAnon:", b"RssShmem:", b"VmSwap:")
_SHARES = (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:")


class MemoryLimit:
    """The memory that a set of processes may use."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.pause_s = _SHORTEST_S
        """How long the next look may wait."""

    def excess(self, pids: Iterable[int]) -> int | None:
        """Return the bytes that processes use if that is more than the limit, else None."""
        known = tuple(pids)
        used = most_bytes(known)
        self.pause_s = pause_s(self.limit_bytes - used)
        if used <= self.limit_bytes:
            return None
        used = shared_bytes(known)
        return used if used > self.limit_bytes else None


def pause_s(room_bytes: int) -> float:
    """Return how long memory that nobody uses yet lasts at least, between 0.05 and 1 s."""
    return min(max(room_bytes / _FASTEST_BYTES_PER_S, _SHORTEST_S), _LONGEST_S)


def most_bytes(pids: Iterable[int]) -> int:
    """Return what processes use, with pages that several share counted several times."""
    return sum(_summed(f"/proc/{pid}/status", _OWN) for pid in pids)


def shared_bytes(pids: Iterable[int]) -> int:
    """Return what processes use, with pages that several share divided among them."""
    return sum(
        _summed(f"/proc/{pid}/smaps_rollup", _SHARES) or _summed(f"/proc/{pid}/status", _OWN) for pid in pids
    )


def _summed(path: str, names: tuple[bytes, ...]) -> int:
    """Return the sum of some lines of a file such as `status`; 0 if it cannot be read."""
    try:
        with open(path, "rb", buffering=0) as file:
            lines = file.read(8192).split(b"\n")
    except OSError:  # the process is gone, or not ours
        return 0
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith(names))
