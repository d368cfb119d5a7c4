"""Facts about processes from /proc; a missing process is a result, never an error."""

from __future__ import annotations

import posix

PROC = "/proc"
"""Folder with information about processes."""

_ENDED = (b"Z", b"X")
_MAIN = "MainThread"  # the kernel has the name of the program


def start_ticks(pid: int) -> bytes | None:
    """Return when a process started, None if it has ended; field 22 of /proc/PID/stat (proc(5))."""
    text = read(f"{PROC}/{pid}/stat")
    fields = text[text.rfind(b")") + 2 :].split()
    return None if len(fields) < 20 or fields[0] in _ENDED else fields[19]


def thread_name(pid: int, tid: int) -> str:
    """Return the name of a thread: at most 15 bytes in the kernel, and `MainThread` for the first one."""
    if tid == pid:
        return _MAIN
    return _text(read(f"{PROC}/{pid}/task/{tid}/comm").rstrip(b"\n"))


def command(pid: int) -> str:
    """Return a process's arguments, separated by spaces."""
    return _text(read(f"{PROC}/{pid}/cmdline").rstrip(b"\0").replace(b"\0", b" "))


def children(pid: int) -> list[int]:
    """Return the pids of a process's children, and of theirs, those first that have been found first.

    Leaves out this process and its parent, the watchdog: they are children of a program that is init of a
    container, or a subreaper.
    """
    found, own = [pid], (posix.getpid(), posix.getppid())
    for parent in found:
        try:
            tids = posix.listdir(f"{PROC}/{parent}/task")
        except OSError:
            continue
        for tid in tids:
            of_thread = map(int, read(f"{PROC}/{parent}/task/{tid}/children").split())
            found += [child for child in of_thread if child not in own]
    return found[1:]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def read(path: str, most_bytes: int = 1 << 16) -> bytes:
    """Return the beginning of a file, empty if it cannot be read."""
    try:
        descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return b""
    try:
        data = b""
        while len(data) < most_bytes and (piece := posix.read(descriptor, most_bytes - len(data))):
            data += piece
        return data
    except OSError:
        return b""
    finally:
        posix.close(descriptor)
