"""Sockets of this process on which the kernel limits a wait (SO_RCVTIMEO, SO_SNDTIMEO; socket(7)).

A process that is stopped for a sample leaves such a wait with EINTR. Whoever waits again, as Python does,
waits for the full time again, and so for ever if stops come more often. `socket.settimeout` is another thing:
Python itself keeps that deadline.
"""

from __future__ import annotations

import posix
from bisect import bisect_left

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.process.guard import let_through

_MOST = 250
"""Descriptors that one look examines, in about two milliseconds; of more, the next look takes the next."""
_LARGEST_SHARE = 0.01
"""Share of the time that looks may take: ten thousand descriptors are listed in some 30 ms."""
_TIMEVAL_BYTES = 16


class SocketWatch:
    """Looks for sockets with a timeout, among descriptors that are the program's."""

    def __init__(self, most: int = _MOST, clock: Clock = SYSTEM_CLOCK) -> None:
        self._most, self._clock = most, clock
        self._next, self._rests_until_s = 0, clock.monotonic_s()

    def timed(self) -> bool:
        """Return whether a socket has a timeout, of the next `most` descriptors from where it stopped.

        False without a look if the last one took long.
        """
        began_s = self._clock.monotonic_s()
        if began_s < self._rests_until_s:
            return False
        found = any(_is_timed(number) for number in self._examined() if _is_socket(number))
        ended_s = self._clock.monotonic_s()
        self._rests_until_s = ended_s + (ended_s - began_s) / _LARGEST_SHARE
        return found

    def _examined(self) -> list[int]:
        numbers = sorted(int(name) for name in posix.listdir("/proc/self/fd"))
        place = bisect_left(numbers, self._next)
        examined = [*numbers[place:], *numbers[:place]][: self._most]
        self._next = examined[-1] + 1 if examined else 0
        return examined


def _is_socket(number: int) -> bool:
    try:
        return posix.readlink(f"/proc/self/fd/{number}").startswith("socket:")
    except OSError as error:  # closed since it was listed
        let_through(error)
        return False


def _is_timed(number: int) -> bool:
    import _socket  # of no use to a program without sockets; never patched, as `socket.socket` is

    # A socket object closes its descriptor, and this one is the program's: the object is created empty, so
    # that no exception of a signal handler can come between the descriptor and `detach`. The type must be
    # given and nonblocking: otherwise socket.setdefaulttimeout() would change the program's socket.
    borrowed = _socket.socket.__new__(_socket.socket)
    try:
        kind = _socket.SOCK_STREAM | _socket.SOCK_NONBLOCK
        borrowed.__init__(_socket.AF_INET, kind, 0, number)  # type: ignore[misc]
        return any(
            any(borrowed.getsockopt(_socket.SOL_SOCKET, option, _TIMEVAL_BYTES))
            for option in (_socket.SO_RCVTIMEO, _socket.SO_SNDTIMEO)
        )
    except OSError as error:  # closed since it was listed, or another kind of file by now
        let_through(error)
        return False
    finally:
        borrowed.detach()
