"""Detect sockets of this process with a kernel timeout (SO_RCVTIMEO, SO_SNDTIMEO; socket(7)).

A stop for a sample ends such a wait with EINTR. A program that waits again, as Python does, waits for the
full time again, and never times out if stops are more frequent. `socket.settimeout` is not affected:
Python itself keeps that deadline.
"""

from __future__ import annotations

import posix
from bisect import bisect_left

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.process.guard import reraise_signal_error, suppressed

_MAX_CHECKED = 250
"""Maximum descriptors per check, which takes about 2 ms; the next check continues with the rest."""
_LARGEST_SHARE = 0.01
"""Maximum share of time for checks: listing ten thousand descriptors takes about 30 ms."""
_TIMEVAL_BYTES = 16


class SocketWatch:
    """Detector of sockets with a timeout among the program's descriptors."""

    def __init__(self, most: int = _MAX_CHECKED, clock: Clock = SYSTEM_CLOCK) -> None:
        self._most, self._clock = most, clock
        self._next, self._paused_until_s = 0, clock.monotonic_s()

    def timed(self) -> bool:
        """Return whether one of the next `most` descriptors is a socket with a timeout.

        False without a check for a while if the last check took long.
        """
        began_s = self._clock.monotonic_s()
        if began_s < self._paused_until_s:
            return False
        found = any(_is_timed(number) for number in self._examined() if _is_socket(number))
        ended_s = self._clock.monotonic_s()
        self._paused_until_s = ended_s + (ended_s - began_s) / _LARGEST_SHARE
        return found

    def _examined(self) -> list[int]:
        numbers = sorted(int(name) for name in posix.listdir("/proc/self/fd"))
        position = bisect_left(numbers, self._next)
        examined = [*numbers[position:], *numbers[:position]][: self._most]
        self._next = examined[-1] + 1 if examined else 0
        return examined


def _is_socket(number: int) -> bool:
    with suppressed(OSError):  # closed since it was listed
        return posix.readlink(f"/proc/self/fd/{number}").startswith("socket:")
    return False


def _is_timed(number: int) -> bool:
    import _socket  # lazy: programs without sockets do not need it; never patched, unlike `socket.socket`

    # A socket object closes its descriptor, which belongs to the program. So the object is created empty:
    # no exception of a signal handler can then come between the descriptor and `detach`. The type must be
    # given and nonblocking: otherwise socket.setdefaulttimeout() would change the program's socket.
    borrowed = _socket.socket.__new__(_socket.socket)
    try:
        kind = _socket.SOCK_STREAM | _socket.SOCK_NONBLOCK
        borrowed.__init__(_socket.AF_INET, kind, 0, number)  # type: ignore[misc]
        return any(
            any(borrowed.getsockopt(_socket.SOL_SOCKET, option, _TIMEVAL_BYTES))
            for option in (_socket.SO_RCVTIMEO, _socket.SO_SNDTIMEO)
        )
    except OSError as error:  # closed since it was listed, or now another kind of file
        reraise_signal_error(error)
        return False
    finally:
        borrowed.detach()
