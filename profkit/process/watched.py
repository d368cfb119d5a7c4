"""Watch and signal a process that is not our child, identified by its pid and start time."""

from __future__ import annotations

import posix
import signal

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.process import procfs
from profkit.process.guard import reraise_signal_error

_PAUSE_S = 0.002


class Watched:
    """Process that belongs to another parent, which gets its exit code.

    Has no open descriptor: a program may close numbers that it did not open (`os.closerange`) and reuse
    them. Its files would then be polled and closed.
    """

    def __init__(self, pid: int, start_ticks: int) -> None:
        self.pid, self.start_ticks = pid, start_ticks
        self._closed = False

    def alive(self) -> bool:
        """Return whether the process runs; zombies count as ended; False after `close`."""
        if self._closed:
            return False
        try:
            seen = procfs.state_and_start(self.pid)
        except OSError as error:  # no descriptor is free to read /proc
            reraise_signal_error(error)
            seen = None
        if seen is None:  # also after chroot, or for another user's process
            return _exists(self.pid)
        state, ticks = seen
        return ticks == self.start_ticks and state not in procfs.ENDED

    def wait(self, timeout_s: float, clock: Clock = SYSTEM_CLOCK) -> bool:
        """Wait until the process has ended, and return whether it has; True after `close`."""
        deadline_s = clock.monotonic_s() + timeout_s
        while self.alive():
            left_s = deadline_s - clock.monotonic_s()
            if left_s <= 0:
                return False
            clock.sleep(min(_PAUSE_S, left_s))
        return True

    def signal(self, signum: signal.Signals) -> bool:
        """Send a signal; return False if the process has ended. Raises PermissionError if not permitted."""
        # Between the check and the signal another process could get the pid only if the kernel
        # assigned all pids of the machine in that microsecond.
        if not self.alive():
            return False
        try:
            posix.kill(self.pid, signum)
        except ProcessLookupError:
            return False
        return True

    def close(self) -> None:
        """Stop watching, and reap the process if it is our child after all (we are init or a subreaper)."""
        if self._closed:
            return
        self._closed = True
        try:
            if procfs.start_ticks(self.pid) == self.start_ticks:
                posix.waitid(posix.P_PID, self.pid, posix.WEXITED | posix.WNOHANG)
        except OSError as error:  # it is not our child
            reraise_signal_error(error)


def watch(pid: int) -> Watched | None:
    """Return a `Watched` for a process, None if it has ended."""
    ticks = procfs.running_since_ticks(pid)
    return None if ticks is None else Watched(pid, ticks)


def _exists(pid: int) -> bool:
    try:
        posix.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
