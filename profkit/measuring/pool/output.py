"""Files in memory for what other processes print."""

from __future__ import annotations

import fcntl
import os
from itertools import groupby

from profkit.measuring.pool.command import PROGRAM

_MOST_ALIKE = 3
KEPT_BYTES = 64 * 1024
_GROWN_BYTES = 16 * 1024 * 1024


def without_own_frames(dump: str) -> str:
    """Leave out of tracebacks that a worker printed what is the worker's own, and count repeated lines."""
    own = f'  File "{PROGRAM.parent}{os.sep}'
    lines = (line for line in dump.splitlines(keepends=True) if not line.startswith(own))
    return "".join(_counted(line, len(list(same))) for line, same in groupby(lines))


def _counted(line: str, times: int) -> str:
    """A line as often as it was there; of a frame that recurs as Python's own tracebacks have it."""
    if times <= _MOST_ALIKE or not line.startswith("  File "):
        return line * times
    return f"{line * _MOST_ALIKE}  [Previous line repeated {times - _MOST_ALIKE} more times]\n"


class Output:
    """Takes any amount without making its writers wait; the end is kept. Close it."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("profkit-output", os.MFD_CLOEXEC)
        fcntl.fcntl(self.descriptor, fcntl.F_SETFL, os.O_APPEND)

    def text(self) -> str:
        """The last 64 KiB, cut at a line where there is one."""
        size = os.fstat(self.descriptor).st_size
        start = max(0, size - KEPT_BYTES)
        text = os.pread(self.descriptor, KEPT_BYTES, start).decode("utf-8", "replace")
        return text if start == 0 else text[text.find("\n") + 1 :]

    def shrink(self) -> bool:
        """Let go of the start of a file that has grown large, and return whether it had.

        Writers append, wherever its end is.
        """
        size = os.fstat(self.descriptor).st_size
        if size <= _GROWN_BYTES:
            return False
        end = os.pread(self.descriptor, KEPT_BYTES, size - KEPT_BYTES)
        os.ftruncate(self.descriptor, 0)
        os.write(self.descriptor, end)
        return True

    def close(self) -> None:
        """Free it; processes that still write to it may go on."""
        os.close(self.descriptor)
