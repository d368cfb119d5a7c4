"""A session's record: what the disk refused is written later, and writing takes little time."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from profkit.clock import ManualClock
from profkit.model.session import CallDelta, Manifest, SessionState
from profkit.session import record as record_module
from profkit.session.counters import Counters
from profkit.session.record import SessionRecord
from profkit.store import spool
from profkit.store.journal import read_records
from tests.support.example_counters import counters_of
from tests.support.example_sessions import GONE, PLAN

SESSION = "20261121T113217-4711-9f3a07c2"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def record(tmp_path: Path, clock: ManualClock) -> SessionRecord:
    made = SessionRecord(tmp_path, Manifest(SESSION, SessionState.RUNNING, 0, GONE, PLAN), clock)
    made.save()
    return made


def counters_with(calls: int, label: str = "f") -> Counters:
    counters = counters_of(label)
    counters.durations.extend(range(1, calls + 1))
    return counters


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A disk that is full until this list is empty."""
    is_full, append = [True], spool.append_records

    def refuse(path: Path, records: list[object]) -> int:
        if is_full:
            raise OSError(28, "No space left on device")
        return append(path, records)

    monkeypatch.setattr(spool, "append_records", refuse)
    return is_full


def labels_in(record: SessionRecord) -> list[str]:
    return [region.key.label for region in spool.read_session(record.folder).regions]


def test_calls_that_the_disk_refused_are_written_later(record: SessionRecord, full: list[bool]) -> None:
    with pytest.raises(OSError, match="No space"):
        record.write_calls([counters_with(2)])
    full.clear()
    assert record.write_calls([counters_with(3), counters_with(0)])
    deltas = read_records(record.folder / spool.CALLS, CallDelta)
    assert [delta.durations.count for delta in deltas] == [2, 3]
    assert not record.write_calls([counters_with(0)])
    record.save()
    assert record.manifest.lines is not None
    assert record.manifest.lines.calls == 2


def test_regions_that_the_disk_refused_are_written_later(record: SessionRecord, full: list[bool]) -> None:
    with pytest.raises(OSError, match="No space"):
        record.mention(counters_with(0))
    full.clear()
    record.write_regions()
    assert labels_in(record) == ["f"]


def test_calls_are_written_at_their_end_while_that_takes_little_time(
    record: SessionRecord, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A journal whose writes take a hundredth of a second each: some are allowed at once."""
    used_s = iter(0.01 * number for number in range(1000))
    monkeypatch.setattr(record_module, "time", SimpleNamespace(thread_time=lambda: next(used_s)))
    allowed = 0
    while record.may_flush():
        record.write_calls([counters_with(1)])
        allowed += 1
    assert 5 <= allowed <= 7
    clock.advance(0.4)
    assert not record.may_flush()
    clock.advance(0.6)
    assert record.may_flush()


def test_of_many_new_regions_the_first_are_written_at_once(record: SessionRecord, clock: ManualClock) -> None:
    """As for labels that are made in a loop: the others are written with the counts of their calls."""
    labels = [str(number) for number in range(23)]
    for label in labels[:22]:
        record.mention(counters_with(0, label))
    assert labels_in(record) == labels[:20]
    clock.sleep(1.0)
    record.mention(counters_with(0, labels[22]))
    record.mention(counters_with(0, labels[0]))
    assert labels_in(record) == labels
