"""A spool keeps below its limit; what is dropped for that is named."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.ingest.keep import ingest
from profkit.model.session import SessionState
from profkit.process.procfs import start_ticks
from profkit.store import clearing
from profkit.store import spool as files
from profkit.store.clearing import EACH_S, alone_in, keep_within, parse_limit
from profkit.store.runs import open_store
from tests.support.example_sessions import GONE, START_NS, F, manifest, session_folder
from tests.support.spool_folders import open_folder

MIB = 2**20
THIS = replace(GONE, pid=os.getpid(), start_ticks=start_ticks(os.getpid()) or 0)


def session(spool: Path, number: int, mebibytes: int = 1, **changes: object) -> Path:
    pid = changes["process"].pid if "process" in changes else 4194305  # type: ignore[attr-defined]
    made = replace(manifest(), session=f"20261121T1149{number:02}-{pid}-9c1f0000", **changes)  # type: ignore[arg-type]
    folder = session_folder(spool, made, (F,))
    (folder / "segment-000.speedscope.json").write_bytes(b"x" * (mebibytes * MIB))
    return folder


def kept(spool: Path, limit: str = "2.5MB", clock: ManualClock | None = None) -> tuple[list[str], list[str]]:
    said: list[str] = []
    keep_within(spool, limit, said.append, clock or ManualClock())
    return [folder.name[13:15] for folder in files.session_folders(spool)], said


def test_the_oldest_sessions_make_room(tmp_path: Path) -> None:
    for number in (3, 1, 4, 2):
        session(tmp_path, number)
    names, said = kept(tmp_path)
    assert names == ["03", "04"]
    (message,) = said
    assert message.startswith("the 2 oldest sessions in the spool ")
    assert "(2.0" in message
    assert "PROFKIT_SPOOL_LIMIT (2.50 MiB)" in message


def test_packs_make_room_too(tmp_path: Path) -> None:
    session(tmp_path, 2)
    session(tmp_path, 4)
    packs = [tmp_path / f"20261121T1149{number:02}-4194305-9c1f0000.packed" for number in (1, 3)]
    for pack in packs:
        pack.write_bytes(b"x" * MIB)
    names, (message,) = kept(tmp_path)
    assert (names, [pack.exists() for pack in packs]) == (["04"], [False, True])
    assert message.startswith("the 2 oldest sessions in the spool ")


def test_what_fits_stays(tmp_path: Path) -> None:
    session(tmp_path, 1)
    session(tmp_path, 2)
    assert kept(tmp_path) == (["01", "02"], [])


@pytest.mark.parametrize("limit", ["0", "off", "OFF"])
def test_there_need_be_no_limit(tmp_path: Path, limit: str) -> None:
    session(tmp_path, 1, 4)
    assert kept(tmp_path, limit) == (["01"], [])


def test_a_limit_that_is_none_is_named_and_the_default_holds(tmp_path: Path) -> None:
    session(tmp_path, 1)
    names, said = kept(tmp_path, "plenty")
    assert names == ["01"]
    assert said[0].startswith("PROFKIT_SPOOL_LIMIT is ignored: 'plenty' is not a size")


@pytest.mark.parametrize(
    ("text", "limit"), [("1GB", 2**30), ("500 MiB", 500 * MIB), ("0", None), ("off", None)]
)
def test_limits_are_sizes(text: str, limit: int | None) -> None:
    assert parse_limit(text) == limit


def test_what_is_recorded_and_what_is_damaged_stays(tmp_path: Path) -> None:
    live: dict[str, object] = {"process": THIS, "state": SessionState.RUNNING, "ended_ns": None}
    session(tmp_path, 1, **live)
    (session(tmp_path, 2) / "manifest.json").write_text("{")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "file").write_bytes(b"x" * 4 * MIB)
    session(tmp_path, 3)
    names, said = kept(tmp_path, "1MB")
    assert (names, (tmp_path / "damaged" / "file").exists()) == (["01", "02"], True)
    assert "because sessions are still running" in said[1]


def test_of_a_living_process_ended_sessions_go_but_for_its_last(tmp_path: Path) -> None:
    for number in (1, 2):
        session(tmp_path, number, process=THIS)
    assert kept(tmp_path, "1KB")[0] == ["02"]


def test_the_sizes_are_added_up_once_in_a_while(tmp_path: Path) -> None:
    clock = ManualClock()
    session(tmp_path, 1)
    assert kept(tmp_path, "1MB", clock)[0] == []
    session(tmp_path, 2)
    assert kept(tmp_path, "1MB", clock) == (["02"], [])
    clock.advance(EACH_S + 1)
    assert kept(tmp_path, "1MB", clock)[0] == []


def test_a_spool_that_is_being_emptied_is_left_alone(tmp_path: Path) -> None:
    session(tmp_path, 1)
    with open_folder(tmp_path) as spool, alone_in(spool):
        assert kept(tmp_path, "1KB") == (["01"], [])


def test_no_spool_and_one_that_cannot_be_used(tmp_path: Path) -> None:
    assert kept(tmp_path / "none") == ([], [])
    session(tmp_path, 1)
    (tmp_path / ".lock").mkdir()
    names, said = kept(tmp_path, "1KB")
    assert names == ["01"]
    assert "could not be checked" in said[0]


def test_a_command_names_once_what_was_dropped(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    session(spool, 1)
    kept(spool, "1KB")
    with open_store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        (dropped,) = ingest(spool, store).dropped
        assert dropped.session.startswith("20261121T114901")
        assert dropped.limit_bytes == 1024
        assert ingest(spool, store).dropped == ()


def test_sizes_of_folders_that_do_not_change_are_looked_up_once(tmp_path: Path) -> None:
    clock = ManualClock(start_unix_ns=2 * START_NS)
    folder = session(tmp_path, 1)
    kept(tmp_path, "2MB", clock)
    changed_ns = folder.stat().st_mtime_ns
    with (folder / "segment-000.speedscope.json").open("ab") as file:
        file.write(b"x" * 4 * MIB)
    assert folder.stat().st_mtime_ns == changed_ns
    clock.advance(EACH_S + 1)
    assert kept(tmp_path, "2MB", clock)[0] == ["01"], "as the folder is as it was"
    (tmp_path / ".sizes").write_text("not what was written")
    clock.advance(EACH_S + 1)
    assert kept(tmp_path, "2MB", clock)[0] == []


def test_a_file_that_is_removed_meanwhile_has_no_size(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.touch()
    with os.scandir(tmp_path) as entries:
        there = clearing._there(entries)
        first, _ = next(there)
        for path in paths:
            path.unlink()
        assert [entry.name for entry, _ in there] == []
    assert first.name in "abc"


def test_windows_make_room_without_a_word(tmp_path: Path) -> None:
    plan = replace(manifest().plan, window_s=60.0)
    for number in (1, 2, 3, 4):
        session(tmp_path, number, plan=plan)
    assert kept(tmp_path) == (["03", "04"], [])
    assert not (tmp_path / clearing.DROPPED).exists()
