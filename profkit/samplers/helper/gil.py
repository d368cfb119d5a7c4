"""Waits for the GIL, recognized in the kernel by the address for which a thread waits."""

from __future__ import annotations

import posix

from . import proc_files

_FUTEX = {"x86_64": b"202", "aarch64": b"98"}
"""Number of the system call, by machine."""
_MOST_BYTES = 1 << 20


def system_call(folder: str) -> list[bytes]:
    """Return the number and arguments of a thread's system call; its folder is /proc/PID/task/TID."""
    return proc_files.read(f"{folder}/syscall").split()


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
    maps = proc_files.read(f"{proc_files.PROC}/{pid}/maps", _MOST_BYTES)
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
