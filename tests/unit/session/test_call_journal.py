"""Counts on their way to the folder: those that the disk refused are kept, and writing takes little time."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from profkit.clock import ManualClock
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.session import CallDelta
from profkit.samplers.options import SamplerOptions
from profkit.session import call_journal
from profkit.session.call_journal import CallJournal, RegionJournal
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


def region_of(label: str) -> Region:
    return Region(RegionKey("m", "f", 1, label), RegionKind.BLOCK, "m.py")


def test_of_many_new_regions_the_first_are_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for labels that are made in a loop: the others are written with the counts of their calls."""
    monkeypatch.setattr(call_journal, "_AT_ONCE", 1)
    written: list[tuple[str, ...]] = []

    def append(regions: tuple[Region, ...]) -> None:
        written.append(tuple(region.key.label for region in regions))

    clock = ManualClock()
    journal = RegionJournal(clock)
    assert journal.add(region_of("one"))
    journal.write(append)
    assert not any(journal.add(region_of(label)) for label in ("one", "two", "three", "two"))
    clock.sleep(1.0)
    assert journal.add(region_of("four"))
    journal.write(append)
    journal.write(append)
    assert not journal.add(region_of("one"))
    assert written == [("one",), ("two", "three", "four")]


def test_regions_of_most_programs_are_written_at_once() -> None:
    written: list[Region] = []
    journal = RegionJournal(ManualClock())
    for label in map(str, range(30)):
        if journal.add(region_of(label)):
            journal.write(written.extend)
    assert [region.key.label for region in written] == [str(number) for number in range(20)]


def test_regions_that_the_disk_refused_are_written_later() -> None:
    written: list[Region] = []

    def refuse(regions: tuple[Region, ...]) -> None:
        raise OSError(28, "No space left on device")

    journal = RegionJournal(ManualClock())
    journal.add(region_of("one"))
    with pytest.raises(OSError, match="No space"):
        journal.write(refuse)
    journal.write(written.extend)
    assert written == [region_of("one")]
