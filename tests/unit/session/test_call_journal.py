"""Counts on their way to the folder: those that the disk refused are kept, and writing takes little time."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from profkit.clock import ManualClock
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.session import CallDelta
from profkit.samplers.options import SamplerOptions
from profkit.session import call_journal
from profkit.session.call_journal import CallJournal
from profkit.session.counters import Counters, Policy


def counters_with(calls: int) -> Counters:
    region = Region(RegionKey("m", "f", 1, "f"), RegionKind.FUNCTION, "m.py")
    counters = Counters(region, SamplerOptions(), Policy())
    counters.durations.extend(range(1, calls + 1))
    return counters


def test_what_the_disk_refused_is_written_later() -> None:
    written: list[CallDelta] = []
    full = [True]

    def append(deltas: tuple[CallDelta, ...]) -> None:
        if full:
            raise OSError(28, "No space left on device")
        written.extend(deltas)

    journal = CallJournal(ManualClock())
    with pytest.raises(OSError, match="No space"):
        journal.write([counters_with(2)], append)
    assert [delta.durations.count for delta in journal.unwritten] == [2]
    full.clear()
    assert journal.write([counters_with(3), counters_with(0)], append)
    assert [delta.durations.count for delta in written] == [2, 3]
    assert journal.unwritten == []
    assert not journal.write([counters_with(0)], append)


def test_calls_are_written_at_their_end_while_that_takes_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal whose writes take a hundredth of a second each: some are allowed at once."""
    used_s = iter(0.01 * number for number in range(1000))
    monkeypatch.setattr(call_journal, "time", SimpleNamespace(thread_time=lambda: next(used_s)))
    clock = ManualClock()
    journal = CallJournal(clock)
    allowed = 0
    while journal.may_flush():
        journal.write([counters_with(1)], lambda _: None)
        allowed += 1
    assert 5 <= allowed <= 7
    clock.advance(0.4)
    assert not journal.may_flush()
    clock.advance(0.6)
    assert journal.may_flush()
