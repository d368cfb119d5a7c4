"""A way to wake a thread that polls descriptors."""

from __future__ import annotations

import contextlib
import os

from profkit.measuring.green import readable

LONGEST_POLL_S = 3600.0
"""poll(2) takes its milliseconds as an int."""


class Wakeup:
    """Another thread calls `wake`; the one that polls `descriptor` then calls `clear`. Close it."""

    def __init__(self) -> None:
        self.descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def wake(self) -> None:
        """Make the descriptor readable."""
        os.eventfd_write(self.descriptor, 1)

    def clear(self) -> None:
        """Make it unreadable until the next `wake`."""
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self.descriptor)

    def wait(self, timeout_s: float) -> bool:
        """Wait for the next `wake`, and clear it; whether it came. Gives up early after an hour."""
        woken = bool(readable([self.descriptor], min(timeout_s, LONGEST_POLL_S)))
        self.clear()
        return woken

    def close(self) -> None:
        """Free it."""
        os.close(self.descriptor)
