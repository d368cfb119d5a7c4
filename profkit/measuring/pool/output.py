"""Files in memory for what other processes print."""

from __future__ import annotations

import fcntl
import os

KEPT_BYTES = 64 * 1024
_GROWN_BYTES = 16 * 1024 * 1024


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

    def shrink(self) -> None:
        """Let go of the start of a file that has grown large; writers append, wherever its end is."""
        size = os.fstat(self.descriptor).st_size
        if size > _GROWN_BYTES:
            end = os.pread(self.descriptor, KEPT_BYTES, size - KEPT_BYTES)
            os.ftruncate(self.descriptor, 0)
            os.write(self.descriptor, end)

    def close(self) -> None:
        """Free it; processes that still write to it may go on."""
        os.close(self.descriptor)
