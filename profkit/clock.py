"""Injectable clocks: the system's clock for programs, a manual one for tests."""

from __future__ import annotations

from typing import Protocol

from profkit.originals import REAL


class Clock(Protocol):
    """Interface of clocks."""

    def unix_ns(self) -> int:
        """Return nanoseconds since the epoch, for records that people read."""

    def monotonic_s(self) -> float:
        """Return monotonic seconds, for deadlines and durations."""

    def sleep(self, duration_s: float) -> None:
        """Wait for `duration_s` seconds of this clock."""


class SystemClock:
    """Clock of the machine, even in a program that patches `time` (gevent, freezegun)."""

    unix_ns = staticmethod(REAL.time_ns)
    monotonic_s = staticmethod(REAL.monotonic)
    sleep = staticmethod(REAL.sleep)


class ManualClock:
    """Clock for fast tests; it advances only by `advance` and `sleep`."""

    def __init__(self, start_s: float = 0.0, start_unix_ns: int = 1_700_000_000_000_000_000) -> None:
        self._elapsed_s = 0.0
        self._start_s, self._start_unix_ns = start_s, start_unix_ns

    def unix_ns(self) -> int:
        """See `Clock.unix_ns`."""
        return self._start_unix_ns + round(self._elapsed_s * 1e9)

    def monotonic_s(self) -> float:
        """See `Clock.monotonic_s`."""
        return self._start_s + self._elapsed_s

    def sleep(self, duration_s: float) -> None:
        """Advance by `duration_s` at once."""
        self.advance(duration_s)

    def advance(self, duration_s: float) -> None:
        """Advance by `duration_s`; raises ValueError if it is negative."""
        if duration_s < 0:
            raise ValueError(f"a clock cannot go back by {duration_s} s")
        self._elapsed_s += duration_s

    def set_ahead(self, by_s: float) -> None:
        """Set the time of day ahead, or back by a negative number; the monotonic time does not change."""
        self._start_unix_ns += round(by_s * 1e9)


SYSTEM_CLOCK = SystemClock()
