"""Counts and regions of a session's calls on their way to its folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from profkit.clock import Clock
from profkit.process.guard import reraise_signal_error
from profkit.session.counters import Counters

if TYPE_CHECKING:
    from profkit.model.region import Region
    from profkit.model.session import CallDelta

_FLUSHING, _FLUSHING_S = 0.02, 0.05
"""Part of the time, and time besides, for which a processor may be used to write calls at their end."""


_AT_ONCE, _BURST_S = 20, 0.1
"""Number of regions that are always written at once, and time after a write for which others wait."""


class RegionJournal:
    """Writer of regions: the first ones at once, since the program may be killed.

    Of more, as labels that are made in a loop, one that comes soon after another is written with the counts
    of its calls.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: set[str] = set()
        self._unwritten: list[Region] = []
        self._written_s = float("-inf")

    def add(self, region: Region) -> bool:
        """Add a region, unless it is known; return whether to write it at once."""
        if (identity := region.id) not in self._known:
            self._known.add(identity)
            self._unwritten.append(region)
        if not self._unwritten:
            return False
        return len(self._known) <= _AT_ONCE or self._clock.monotonic_s() - self._written_s >= _BURST_S

    def write(self, append: Callable[[tuple[Region, ...]], None]) -> None:
        """Write the regions that are not written yet; `append` is as of `CallJournal.write`."""
        if self._unwritten:
            append(tuple(self._unwritten))
            self._unwritten.clear()
            self._written_s = self._clock.monotonic_s()


class CallJournal:
    """Writer of counts, which keeps those that the disk refused."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.unwritten: list[CallDelta] = []
        self._since_s, self._spent_s = clock.monotonic_s(), 0.0

    def may_flush(self) -> bool:
        """Return whether writing each call at its end has taken only a small part of the time."""
        elapsed_s = self._clock.monotonic_s() - self._since_s
        return self._spent_s <= _FLUSHING_S + _FLUSHING * elapsed_s

    def write(self, counted: Iterable[Counters], append: Callable[[tuple[CallDelta, ...]], None]) -> bool:
        """Write what regions have counted; return whether that was anything.

        `append` appends to the journal, and raises OSError. It is not kept: sessions are not to be in cycles.
        """
        began_s, now_ns = time.thread_time(), self._clock.unix_ns()
        deltas = [delta for counters in counted if (delta := counters.drain(now_ns)) is not None]
        self.unwritten += deltas
        if self.unwritten:
            self._deliver(append)
        self._spent_s += time.thread_time() - began_s
        return bool(deltas)

    def _deliver(self, append: Callable[[tuple[CallDelta, ...]], None]) -> None:
        refused = False
        try:
            append(tuple(self.unwritten))
        except OSError as error:
            reraise_signal_error(error)
            refused = True
            raise
        finally:
            if not refused:  # an interrupt may come after the lines are written
                self.unwritten.clear()
