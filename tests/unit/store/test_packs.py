"""Packs: what is packed and unpacked is the same session, and nothing else comes out of a file."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from profkit.errors import DamagedFile, RefusedFile
from profkit.ingest.read import read_runs
from profkit.model.notes import NoteCode
from profkit.model.session import SessionState
from profkit.store.files import open_spool
from profkit.store.packs import SCHEMA, pack, pack_names, unpack, write_file
from profkit.store.records import LARGEST_BYTES
from tests.support.example_sessions import (
    GONE,
    PLAN,
    SECOND_NS,
    START_NS,
    F,
    calls,
    manifest,
    segment,
    session_folder,
    write_speedscope,
)
from tests.support.spool_folders import open_folder

KILLED = manifest(
    segment(0),
    segment(1, stopped_ns=None),
    state=SessionState.RUNNING,
    ended_ns=None,
    plan=replace(PLAN, sampler="pyspy"),
)
SESSION = KILLED.session


def killed_session(spool: Path) -> Path:
    """A session whose process was killed, half a second after its last segment began."""
    folder = session_folder(spool, KILLED, deltas=(calls(F, 7),))
    for index in (0, 1):
        write_speedscope(folder, index, 5)
    with (folder / "calls.jsonl").open("a") as journal:
        journal.write('{"region": ')
    for path in folder.iterdir():
        os.utime(path, ns=(START_NS + 2 * SECOND_NS + 123_456_789,) * 2)
    return folder


@pytest.fixture
def spools(tmp_path: Path) -> tuple[Path, Path]:
    there = tmp_path / "there"
    there.mkdir(mode=0o700)
    return tmp_path / "here", there


def sent(folder: Path, there: Path, size: int | None = None) -> Path:
    """Pack a folder into another spool; with a size, only that much of it."""
    with open_folder(folder) as opened, open_spool(there, None) as spool:
        packed = pack(opened)
        write_file(spool, packed.name, [b"".join(packed.chunks)[:size]])
        return there / packed.name


def unpacked(path: Path) -> Path:
    with open_spool(path.parent, None) as spool:
        return path.parent / unpack(spool, path.name)


def test_a_killed_session_gives_the_same_runs_after_its_journey(spools: tuple[Path, Path]) -> None:
    here, there = spools
    folder = killed_session(here)
    before = read_runs(folder)
    after = read_runs(unpacked(sent(folder, there)))
    assert before.runs == after.runs
    assert before.damaged == after.damaged == ()
    assert after.runs[0].info.state is SessionState.ENDED_EARLY
    assert list(there.iterdir()) == [there / SESSION]
    assert (there / SESSION).stat().st_mode & 0o777 == 0o700


def test_a_pack_of_an_earlier_version_is_read(spools: tuple[Path, Path]) -> None:
    """Its files were not compressed."""
    here, there = spools
    folder = killed_session(here)
    names = sorted(path.name for path in folder.iterdir())
    contents = [(folder / name).read_bytes() for name in names]
    files = [_file(name, len(content)) for name, content in zip(names, contents, strict=True)]
    path = there / f"{SESSION}.packed"
    path.write_bytes(_pack(*files, schema="profkit.packed-session/1") + b"".join(contents))
    assert [run.info.samples for run in read_runs(unpacked(path)).runs] == [10]


def test_a_pack_is_small(spools: tuple[Path, Path]) -> None:
    folder = killed_session(spools[0])
    write_speedscope(folder, 1, 2000)
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert sent(folder, spools[1]).stat().st_size < size / 5


@given(place=st.floats(0, 1, exclude_max=True), bits=st.integers(1, 255))
@example(place=0.9909986154199898, bits=1)
def test_a_damaged_pack_is_named(tmp_path_factory: pytest.TempPathFactory, place: float, bits: int) -> None:
    root = tmp_path_factory.mktemp("spools")
    there = root / "there"
    there.mkdir()
    folder = killed_session(root / "here")
    before = read_runs(folder)
    path = sent(folder, there)
    data = bytearray(path.read_bytes())
    begin = data.index(b"\n") + 1
    data[begin + int(place * (len(data) - begin))] ^= bits
    path.write_bytes(data)
    try:
        found = read_runs(unpacked(path))
    except DamagedFile:
        return
    named = all(NoteCode.FILE_UNREADABLE in {note.code for note in run.info.notes} for run in found.runs)
    assert named or found.runs == before.runs  # between its blocks, zlib has bits that mean nothing


def test_a_killed_session_of_another_host_is_not_live(spools: tuple[Path, Path]) -> None:
    here, there = spools
    process = replace(GONE, host="elsewhere")
    folder = session_folder(here, replace(KILLED, process=process), deltas=(calls(F, 7),))
    write_speedscope(folder, 0, 5)
    assert read_runs(folder).live
    assert not read_runs(unpacked(sent(folder, there))).live


def test_a_manifest_that_cannot_be_read_travels_as_it_is(spools: tuple[Path, Path]) -> None:
    here, there = spools
    folder = killed_session(here)
    (folder / "manifest.json").write_text("{")
    path = unpacked(sent(folder, there))
    assert (path / "manifest.json").read_text() == "{"
    (folder / "manifest.json").unlink()
    with open_folder(folder) as opened:
        assert b"manifest" not in next(pack(opened).chunks)


@given(share=st.floats(0, 1, exclude_max=True))
def test_a_part_of_a_pack_is_named_as_partial(tmp_path_factory: pytest.TempPathFactory, share: float) -> None:
    root = tmp_path_factory.mktemp("spools")
    there = root / "there"
    there.mkdir()
    folder = killed_session(root / "here")
    whole = sent(folder, there).stat().st_size
    path = sent(folder, there, int(share * whole))
    try:
        found = read_runs(unpacked(path))
    except DamagedFile:  # not even the manifest has arrived
        return
    assert not found.live
    assert all(NoteCode.FILE_UNREADABLE in {note.code for note in run.info.notes} for run in found.runs)


def _pack(*files: object, **more: object) -> bytes:
    return json.dumps({"schema": SCHEMA, "host": "h", "files": files, **more}).encode() + b"\n"


def _file(name: str, size_bytes: int = 1) -> dict[str, object]:
    return {"name": name, "size_bytes": size_bytes, "changed_ns": START_NS}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no pack\n",
        b"[" * 100_000 + b"\n",
        _pack().removesuffix(b"\n"),
        _pack(schema="profkit.packed-session/3"),
        _pack(_file("segment-/../../../escaped")) + b"x",
        _pack(_file("/etc/passwd")) + b"x",
        _pack(_file("notes.txt")) + b"x",
        _pack(_file("segment-\0")) + b"x",
        _pack(_file("segment-0"), _file("segment-0")) + b"xx",
        _pack(_file("segment-0", -1)) + b"x",
        _pack(_file("segment-0", 2**40)) + b"x",
    ],
)
def test_what_is_no_pack_is_refused_and_left(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "session-1.packed"
    path.write_bytes(data)
    with pytest.raises(DamagedFile):
        unpacked(path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_small_pack_with_a_large_session_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "session-1.packed"
    files = [_file(f"segment-{number}", LARGEST_BYTES) for number in range(5)]
    path.write_bytes(_pack(*files) + zlib.compress(bytes(2**20)))
    with pytest.raises(DamagedFile, match=r"files have 5368709120 bytes, more than the limit of 4294967296"):
        unpacked(path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_large_session_is_not_packed(spools: tuple[Path, Path]) -> None:
    folder = killed_session(spools[0])
    for number in range(2, 7):
        with (folder / f"segment-{number}").open("wb") as sparse:
            sparse.truncate(LARGEST_BYTES)
    with open_folder(folder) as opened, pytest.raises(DamagedFile, match="more than the limit of 4294967296"):
        pack(opened)


def test_a_pack_gives_no_more_than_it_names(tmp_path: Path) -> None:
    path = tmp_path / "session-1.packed"
    path.write_bytes(_pack(_file("segment-0", 5)) + zlib.compress(bytes(2**24)))
    assert (unpacked(path) / "segment-0").stat().st_size == 5


def test_a_link_is_no_pack(tmp_path: Path, spools: tuple[Path, Path]) -> None:
    target = sent(killed_session(spools[0]), spools[1])
    link = tmp_path / f"{SESSION}.packed"
    link.symlink_to(target)
    with pytest.raises(RefusedFile):
        unpacked(link)
    assert target.exists()


def test_links_in_the_folder_to_unpack_into_are_not_followed(spools: tuple[Path, Path]) -> None:
    path = sent(killed_session(spools[0]), spools[1])
    hidden = path.with_name(f".{SESSION}.arriving")
    hidden.mkdir()
    (hidden / "manifest.json").symlink_to(spools[0] / "victim")
    with pytest.raises(FileExistsError):
        unpacked(path)
    assert not (spools[0] / "victim").exists()


def test_what_a_killed_reader_has_left_is_replaced(spools: tuple[Path, Path]) -> None:
    path = sent(killed_session(spools[0]), spools[1])
    hidden = path.with_name(f".{SESSION}.arriving")
    hidden.mkdir()
    (hidden / "cells.jsonl").write_text("old")
    assert not (unpacked(path) / "cells.jsonl").exists()
    assert not hidden.exists()


def test_a_pack_waits_while_its_session_has_a_folder(spools: tuple[Path, Path]) -> None:
    path = sent(killed_session(spools[0]), spools[1])
    (spools[1] / SESSION).mkdir()
    with pytest.raises(FileExistsError):
        unpacked(path)
    assert path.exists()


@pytest.mark.parametrize("change", ["longer", "shorter", "link", "too large"])
def test_a_file_that_changes_or_cannot_be_read_is_not_packed(tmp_path: Path, change: str) -> None:
    folder = killed_session(tmp_path)
    journal = folder / "calls.jsonl"
    with open_folder(folder) as opened:
        if change in ("link", "too large"):
            journal.unlink()
            if change == "link":
                journal.symlink_to("/dev/zero")
            else:
                journal.touch()
                os.truncate(journal, 200 * 2**30)
            with pytest.raises(DamagedFile):
                pack(opened)
            return
        packed = pack(opened)
        with journal.open("a") as file:
            if change == "longer":
                file.write("more")
            else:
                file.truncate(3)
        with pytest.raises(DamagedFile, match="changed"):
            list(packed.chunks)


class _Full(Exception):
    pass


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"beginning"
        raise _Full

    with open_spool(tmp_path, None) as spool:
        with pytest.raises(_Full):
            write_file(spool, "a.packed", chunks())
        assert spool.names() == ()
        write_file(spool, "a.packed", [b"one"])
        write_file(spool, "a.packed", [b"two"])
        assert pack_names(spool) == spool.names() == ("a.packed",)
        assert spool.read("a.packed", 9) == b"two"
