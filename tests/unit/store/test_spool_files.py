from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from profkit.clock import ManualClock
from profkit.model.session import Unprofiled, UnprofiledGroup, UnprofiledReason, grouped
from profkit.store.spool_files import KEPT_S, LARGEST_BYTES, UNPROFILED, append_unprofiled, read_unprofiled

CLOCK = ManualClock()
NOW_NS = CLOCK.unix_ns()
OFF = UnprofiledReason.CHILDREN_OFF
WORKER = Unprofiled(NOW_NS, 4242, "web-1", OFF, "handler")
OTHER = Unprofiled(NOW_NS - 1, 7, "web-2", OFF, "train")


def test_entries_come_back_in_the_order_in_which_they_were_added(tmp_path: Path) -> None:
    for entry in (WORKER, OTHER):
        assert append_unprofiled(tmp_path / "spool", entry)
    assert read_unprofiled(tmp_path / "spool", CLOCK) == (WORKER, OTHER)


def test_there_need_be_no_journal(tmp_path: Path) -> None:
    assert read_unprofiled(tmp_path / "spool", CLOCK) == ()


def test_old_entries_leave_the_journal(tmp_path: Path) -> None:
    old = replace(WORKER, at_ns=NOW_NS - round(KEPT_S * 1e9) - 1)
    for entry in (old, WORKER, OTHER):
        append_unprofiled(tmp_path, entry)
    assert read_unprofiled(tmp_path, CLOCK) == (WORKER, OTHER)
    assert (tmp_path / UNPROFILED).read_text("ascii").count("\n") == 2
    assert [path.name for path in tmp_path.iterdir()] == [UNPROFILED]


def test_what_an_interrupted_reader_left_is_read(tmp_path: Path) -> None:
    append_unprofiled(tmp_path, WORKER)
    (tmp_path / UNPROFILED).rename(tmp_path / f".{UNPROFILED}.99")
    append_unprofiled(tmp_path, OTHER)
    assert set(read_unprofiled(tmp_path, CLOCK)) == {WORKER, OTHER}
    assert [path.name for path in tmp_path.iterdir()] == [UNPROFILED]


def test_a_damaged_line_hides_no_other(tmp_path: Path) -> None:
    append_unprofiled(tmp_path, WORKER)
    with (tmp_path / UNPROFILED).open("ab") as file:
        file.write(b"\xff not JSON\n")
    append_unprofiled(tmp_path, OTHER)
    assert read_unprofiled(tmp_path, CLOCK) == (WORKER, OTHER)


def test_the_journal_has_a_largest_size(tmp_path: Path) -> None:
    long = replace(WORKER, label="x" * (LARGEST_BYTES // 2))
    assert [append_unprofiled(tmp_path, long) for _ in range(4)] == [True, True, False, False]


def test_entries_are_grouped_by_reason() -> None:
    entries = [
        WORKER,
        replace(WORKER, label="train"),
        replace(WORKER, pid=4243, at_ns=NOW_NS - 5),
        replace(WORKER, host="web-2"),
        OTHER,
    ]
    assert grouped(entries) == (UnprofiledGroup(OFF, 4, ("handler", "train"), NOW_NS - 5, NOW_NS),)
