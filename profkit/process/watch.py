"""Watch and signal a process that is not our child, by pidfd: never a later one with its pid."""

from __future__ import annotations

import contextlib
import os
import select
import signal

from profkit.process import procfs


class Watched:
    """A process that we hold on to; close it, or its end leaves a file descriptor open.

    The exit code of a process that is no child cannot be had.
    """

    def __init__(self, pid: int, start_ticks: int, pidfd: int) -> None:
        self.pid, self.start_ticks = pid, start_ticks
        self._pidfd: int | None = pidfd

    def alive(self) -> bool:
        """Whether it runs; False once closed."""
        return not self.wait(0.0)

    def wait(self, timeout_s: float) -> bool:
        """Wait until it has ended, and say whether it has; True once closed."""
        if self._pidfd is None:
            return True
        poller = select.poll()
        poller.register(self._pidfd, select.POLLIN)
        return bool(poller.poll(timeout_s * 1000))

    def signal(self, signum: signal.Signals) -> bool:
        """Send a signal; False where the process has ended."""
        if self._pidfd is None:
            return False
        try:
            signal.pidfd_send_signal(self._pidfd, signum)
        except ProcessLookupError:
            return False
        return True

    def close(self) -> None:
        """Let go, and reap it if it ended as our child after all (we are init, or a subreaper)."""
        pidfd, self._pidfd = self._pidfd, None  # first: an interrupted close must not be done again
        if pidfd is None:
            return
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG)
        os.close(pidfd)


def watch(pid: int) -> Watched | None:
    """Hold on to a process; None where it has ended. Needs Linux 5.3, else raises OSError."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    ticks = procfs.start_ticks(pid)
    if ticks is None:
        os.close(pidfd)
        return None
    return Watched(pid, ticks, pidfd)
