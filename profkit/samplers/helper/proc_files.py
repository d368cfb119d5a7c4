"""Facts about processes from /proc; a missing process is a result, never an error.

Waits for the GIL are recognized by the address for which a thread waits in the kernel.
"""

from __future__ import annotations

import posix

PROC = "/proc"
"""Folder with information about processes."""

_ENDED = (b"Z", b"X")
_MAIN = "MainThread"  # the kernel has the name of the program
_FUTEX = {"x86_64": b"202", "aarch64": b"98"}
"""Number of the system call, by machine."""
_MOST_BYTES = 1 << 20


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


def system_call(folder: str) -> list[bytes]:
    """Return the number and arguments of a thread's system call; its folder is /proc/PID/task/TID."""
    return read(f"{folder}/syscall").split()


class Gil:
    """The GIL of a process's main interpreter: one of the interpreter's own variables."""

    def __init__(self, pid: int) -> None:
        self._variables = _variables_of_python(pid)
        self._futex = _FUTEX.get(posix.uname().machine, b"")

    def is_awaited(self, call: list[bytes]) -> bool:
        """Return whether a thread in this system call waits for the GIL."""
        if len(call) < 2 or call[0] != self._futex:
            return False
        address = int(call[1], 16)
        return any(start <= address < end for start, end in self._variables)


def _variables_of_python(pid: int) -> list[tuple[int, int]]:
    found, end_before = list[tuple[int, int]](), -1
    maps = read(f"{PROC}/{pid}/maps", _MOST_BYTES)
    for line in maps.rpartition(b"\n")[0].splitlines():
        fields = line.split(None, 5)
        start, end = (int(number, 16) for number in fields[0].split(b"-"))
        file = fields[5].rpartition(b"/")[2] if len(fields) > 5 else b""
        is_python = file.startswith((b"python", b"libpython"))
        # Variables that are zero at first are in a mapping without a file behind the others.
        if fields[1][:2] == b"rw" and (is_python or (not file and start == end_before)):
            found.append((start, end))
            end_before = end
    return found
