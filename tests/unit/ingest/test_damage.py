"""Damaged sessions: what is left is recovered, what is damaged is kept, nothing is deleted unread."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from profkit.clock import ManualClock
from profkit.errors import ProfkitError, RefusedFile
from profkit.ingest.keep import IngestReport, ingest
from profkit.ingest.read import FolderRuns, read_runs
from profkit.ingest.recovery import WITHOUT_REGIONS
from profkit.model.measurement import AnyInfo, AnyRun
from profkit.model.notes import Note, NoteCode
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.run import RunInfo
from profkit.model.session import Lines, SessionState
from profkit.store import spool as files
from profkit.store.runs import Store, open_store
from tests.support.example_sessions import (
    MARKERS,
    PLAN,
    SECOND_NS,
    START_NS,
    USER,
    F,
    calls,
    manifest,
    segment,
    session_folder,
    write_journal,
    write_speedscope,
)

OLD = ManualClock(start_unix_ns=2 * START_NS)
BLOCK = Region(RegionKey("app", "main", 1, "block"), RegionKind.BLOCK, USER, body=(90,))
SEGMENTS = (5, 7, 9)
"""Samples in each segment of `recorded`."""


def head(**changes: object) -> files.Manifest:
    made = manifest(
        *(segment(index) for index in range(len(SEGMENTS))),
        session="20261121T114903-4194305-9c1f0000",
        plan=replace(PLAN, sampler="pyspy"),
        lines=Lines(regions=2, calls=2, resources=0),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def recorded(spool: Path) -> Path:
    """A session of function `f`, called in `main`, and of a block in it that never ran."""
    deltas = (calls(F, 7), calls(F, 9, 11))
    folder = session_folder(spool, head(), regions=(F, BLOCK), deltas=deltas)
    for index, weight in enumerate(SEGMENTS):
        write_speedscope(folder, index, weight)
    return folder


def by_label(found: FolderRuns) -> dict[str, RunInfo]:
    return {run.info.label: run.info for run in found.runs}


def test_a_whole_session_has_nothing_to_recover(spool: Path) -> None:
    found = read_runs(recorded(spool))
    assert (found.damaged, list(by_label(found))) == ((), ["f"])
    assert by_label(found)["f"].notes == ()


@pytest.mark.parametrize("how", ["empty", "cut", "missing", "zeros"])
def test_samples_of_regions_without_a_record_are_recovered(spool: Path, store: Store, how: str) -> None:
    folder = recorded(spool)
    path = folder / "regions.jsonl"
    whole = read_runs(folder)
    if how == "missing":
        path.unlink()
    else:
        path.write_bytes(
            {"empty": b"", "cut": path.read_bytes()[:70], "zeros": bytes(path.stat().st_size)}[how]
        )
    report = ingest(spool, store)
    infos = {info.label: info for info in report.added if isinstance(info, RunInfo)}
    assert infos["f"].samples == sum(SEGMENTS)
    assert (infos["f"].calls, infos["f"].id) == (3, by_label(whole)["f"].id)
    assert (infos["f"].region.file, infos["f"].region.key.qualname) == (USER, "f")
    assert infos["f"].notes[0] == Note(NoteCode.REGION_FROM_SAMPLES)
    damage = next(one for one in report.damaged if one.path.name == "regions.jsonl")
    assert (damage.kept is None) == (how == "missing")
    assert not folder.exists()


def test_samples_of_no_known_region_are_a_run_of_the_whole_session(spool: Path, store: Store) -> None:
    folder = session_folder(spool, head(), regions=(F, BLOCK))
    write_speedscope(folder, 0, 5)
    document = json.loads((folder / "segment-000.speedscope.json").read_text())
    document["profiles"][0]["samples"] = [[0]] * 5  # of `main`, in which a block was
    (folder / "segment-001.speedscope.json").write_text(json.dumps(document))
    (folder / "segment-002.speedscope.json").write_text(json.dumps(document))
    lines = (folder / "regions.jsonl").read_text().splitlines(keepends=True)
    (folder / "regions.jsonl").write_text(lines[0])
    infos = by_label(read_runs(folder))
    assert {label: info.samples for label, info in infos.items()} == {"f": 5, WITHOUT_REGIONS: 10}
    assert infos[WITHOUT_REGIONS].notes[0] == Note(NoteCode.REGIONS_LOST)
    assert ingest(spool, store).damaged[0].detail == "it ends early; 1 line is lost"


def test_markers_of_other_programs_are_no_lost_regions(spool: Path) -> None:
    folder = recorded(spool)
    path = folder / "segment-000.speedscope.json"
    document = json.loads(path.read_text())
    document["shared"]["frames"][1] = {"name": "profkit:child#0123abcd", "file": MARKERS, "line": 40}
    path.write_text(json.dumps(document))
    assert list(by_label(read_runs(folder))) == ["f"]


def test_counts_without_a_region_have_a_run(spool: Path) -> None:
    folder = recorded(spool)
    lost = replace(calls(F, 3, 4), region="0123abcd")
    files.append(folder, [lost])
    infos = by_label(read_runs(folder))
    assert infos["region 0123abcd"].calls == 2
    assert infos["region 0123abcd"].notes[0] == Note(NoteCode.REGION_FROM_CALLS)


@pytest.mark.parametrize(
    ("cut", "detail"), [(1, "it ends early; 1 line is lost"), (10**6, "it ends early; 2 lines are lost")]
)
def test_lost_counts_are_numbered(spool: Path, store: Store, cut: int, detail: str) -> None:
    folder = recorded(spool)
    path = folder / "calls.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    report = ingest(spool, store)
    (damage,) = report.damaged
    assert damage.detail == detail
    assert damage.kept is not None
    assert str(damage.kept) in str(damage)
    (info,) = report.added
    assert isinstance(info, RunInfo)
    assert info.calls == (1 if cut == 1 else 0)
    assert Note.of(NoteCode.FILE_UNREADABLE, file="calls.jsonl") in info.notes


@pytest.mark.parametrize("how", ["cut", "missing", "zeros", "newer"])
def test_without_a_manifest_samples_and_calls_are_recovered(spool: Path, store: Store, how: str) -> None:
    folder = recorded(spool)
    path = folder / "manifest.json"
    text = path.read_bytes()
    damaged = {"cut": text[:200], "zeros": bytes(len(text)), "newer": text.replace(b"spool/1", b"spool/9")}
    path.unlink() if how == "missing" else path.write_bytes(damaged[how])
    missing = {"manifest.json"} if how == "missing" else set()
    report = ingest(spool, store, OLD)
    (info,) = report.added
    assert isinstance(info, RunInfo)
    assert (info.label, info.samples, info.calls, info.state) == ("f", 21, 3, SessionState.SUCCESS)
    assert info.achieved_hz == pytest.approx(125)
    assert Note(NoteCode.MANIFEST_UNREADABLE) in info.notes
    (damage,) = report.damaged
    assert damage.path == path
    assert damage.kept is not None
    assert sorted(path.name for path in damage.kept.iterdir()) == sorted({*NAMES} - missing)
    assert ingest(spool, store, OLD) == IngestReport()


def test_a_folder_whose_process_may_still_write_waits(spool: Path, store: Store) -> None:
    folder = recorded(spool)
    (folder / "manifest.json").write_text("{")
    folder = folder.rename(spool / f"20261121T114903-{os.getpid()}-9c1f0000")
    assert ingest(spool, store) == IngestReport()
    assert folder.exists()
    assert len(ingest(spool, store, OLD).added) == 1


def test_an_output_that_the_manifest_does_not_name_is_read(spool: Path, store: Store) -> None:
    folder = recorded(spool)
    files.write_manifest(folder, head(segments=(segment(0),)))
    path = folder / "segment-002.speedscope.json"
    os.utime(path, ns=(0, START_NS + 9 * SECOND_NS))
    (info,) = ingest(spool, store).added
    assert isinstance(info, RunInfo)
    assert info.samples == sum(SEGMENTS)


def test_files_of_nobody_are_set_aside(spool: Path, store: Store) -> None:
    folder = recorded(spool)
    (folder / "notes.txt").write_text("mine")
    (folder / "inner").mkdir()
    (folder / "inner" / "file").write_text("mine")
    report = ingest(spool, store)
    assert len(report.added) == 1
    assert not folder.exists()
    kept = {damage.path.name: damage.kept for damage in report.damaged}
    assert kept["notes.txt"] is not None
    assert kept["notes.txt"].read_text() == "mine"
    assert kept["inner"] is not None
    assert (kept["inner"] / "file").read_text() == "mine"


def as_pipe(path: Path) -> None:
    os.mkfifo(path)


def as_endless_link(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [as_pipe, as_endless_link])
@pytest.mark.parametrize("name", ["manifest.json", "calls.jsonl", "segment-001.speedscope.json", "other"])
def test_what_is_no_file_is_refused_and_stays(
    spool: Path, store: Store, name: str, make: Callable[[Path], None]
) -> None:
    folder = recorded(spool)
    (folder / name).unlink(missing_ok=True)
    make(folder / name)
    report = ingest(spool, store, OLD)
    samples = sum(info.samples for info in report.added if isinstance(info, RunInfo))
    assert samples == sum(SEGMENTS) - (SEGMENTS[1] if "segment" in name else 0)
    assert [damage.path for damage in report.damaged if isinstance(damage, RefusedFile)] == [folder / name]
    assert [path.name for path in folder.iterdir()] == [name]
    again = ingest(spool, store, OLD)
    assert again.added == ()
    assert [one.path for one in again.damaged] == ([] if name == "other" else [folder / name])


def test_an_interrupted_removal_is_completed(spool: Path, store: Store) -> None:
    folder = recorded(spool)
    folder.rename(spool / f".{folder.name}.removed")
    recorded(spool).rename(spool / "20261121T114903-4194305-9c1f0001")
    ingest(spool, store)
    assert [path.name for path in spool.iterdir()] == [".lock"]


def test_a_lock_that_is_no_file_is_named(spool: Path, store: Store) -> None:
    folder = recorded(spool)
    (spool / ".lock").symlink_to(folder / "calls.jsonl")
    with pytest.raises(ProfkitError, match="cannot be used"):
        ingest(spool, store)
    assert folder.exists()


class _SwappingStore:
    """A store that is slow enough for the session's folder to be replaced meanwhile."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store, self._folder = store, folder

    def add(self, runs: Iterable[AnyRun]) -> tuple[AnyInfo, ...]:
        added = self._store.add(runs)
        if self._folder.exists():
            self._folder.rename(self._folder.with_name("moved"))
            self._folder.mkdir()
            (self._folder / "calls.jsonl").write_text("unread")
        return added


def test_a_folder_that_was_replaced_after_it_was_read_stays(spool: Path, store: Store) -> None:
    folder = recorded(spool)
    report = ingest(spool, _SwappingStore(store, folder))  # type: ignore[arg-type]
    (damage,) = report.damaged
    assert isinstance(damage, RefusedFile)
    assert "replaced the folder that was read" in damage.detail
    assert (folder / "calls.jsonl").read_text() == "unread"


NAMES = [
    "manifest.json",
    "regions.jsonl",
    "calls.jsonl",
    *(f"segment-{index:03d}.speedscope.json" for index in range(len(SEGMENTS))),
]


def damage(path: Path, how: str, where: float, bit: int) -> None:
    data = bytearray(path.read_bytes())
    at = min(int(where * len(data)), len(data) - 1)
    if how == "missing":
        path.unlink()
        return
    if how == "flip":
        data[at] ^= 1 << bit
    elif how == "zeros":
        data[at:] = bytes(len(data) - at)
    elif how == "cut":
        del data[at:]
    path.write_bytes(data)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    damages=st.lists(
        st.tuples(
            st.sampled_from(NAMES),
            st.sampled_from(["flip", "cut", "zeros", "missing"]),
            st.floats(0, 1),
            st.integers(0, 7),
        ),
        min_size=1,
        max_size=3,
        unique_by=lambda drawn: drawn[0],
    )
)
def test_no_damage_loses_a_sample_that_is_whole(
    tmp_path_factory: pytest.TempPathFactory, damages: list[tuple[str, str, float, int]]
) -> None:
    home = tmp_path_factory.mktemp("damage")
    folder = recorded(home / "spool")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name, how, where, bit in damages:
        damage(folder / name, how, where, bit)
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    with open_store(f"sqlite:///{home / 'runs.db'}") as store:
        report = ingest(home / "spool", store, OLD)
        infos = [info for info in report.added if isinstance(info, RunInfo)]
        assert [store.load(info.id).info for info in infos] == infos
        assert ingest(home / "spool", store, OLD).added == ()
    touched = {name for name, *_ in damages}
    whole = sum(
        weight
        for index, weight in enumerate(SEGMENTS)
        if f"segment-{index:03d}.speedscope.json" not in touched
    )
    found = sum(info.samples + info.torn for info in infos)
    # A flipped bit may leave a segment that can be read, and one in a region's record makes samples torn.
    assert whole <= found <= sum(SEGMENTS) or any(how == "flip" for _, how, *_ in damages), damages
    assert found >= whole or ("regions.jsonl" in touched and report.damaged), (damages, report)
    kept = {path.name: path.read_bytes() for path in (home / "spool").rglob("*") if path.is_file()}
    for name in after.keys() & {one.path.name for one in report.damaged}:
        assert kept[name] == after[name], "what is damaged is kept as it was"
    assert before.keys() >= after.keys()


def test_a_session_that_is_a_link_is_not_followed(spool: Path, store: Store, tmp_path: Path) -> None:
    elsewhere = recorded(tmp_path / "elsewhere")
    before = sorted(path.name for path in elsewhere.iterdir())
    spool.mkdir()
    (spool / elsewhere.name).symlink_to(elsewhere)
    report = ingest(spool, store)
    assert report.added == ()
    assert [type(damage) for damage in report.damaged] == [RefusedFile]
    assert (spool / elsewhere.name).is_symlink()
    assert sorted(path.name for path in elsewhere.iterdir()) == before


def sampled_by_helper(spool: Path, **changes: object) -> tuple[Path, Path]:
    """A session of the `cpython` sampler, and its only output."""
    head = manifest(segment(0, **changes), plan=replace(PLAN, sampler="cpython"))
    folder = session_folder(spool, head, deltas=(calls(F, 7),))
    return folder, write_journal(folder, 0, 6)


def test_an_output_that_was_cut_anywhere_is_named(spool: Path) -> None:
    folder, output = sampled_by_helper(spool)
    whole = output.read_bytes()
    assert read_runs(folder).damaged == ()
    for size in (*range(0, len(whole), 9), len(whole) - 1):
        output.write_bytes(whole[:size])
        found = read_runs(folder)
        assert [damage.path for damage in found.damaged] == [output], size
        assert {note.code for run in found.runs for note in run.info.notes} == {NoteCode.FILE_UNREADABLE}


@pytest.mark.parametrize(
    ("change", "needs_end"), [({}, True), ({"stopped_ns": None}, False), ({"error": "it was killed"}, False)]
)
def test_samples_before_a_cut_are_kept(spool: Path, change: dict[str, object], needs_end: bool) -> None:
    """An output needs no end if its sampler was not stopped."""
    folder, output = sampled_by_helper(spool, **change)
    whole = output.read_bytes()
    output.write_bytes(whole[: whole.rindex(b"\nr ") + 1])
    found = read_runs(folder)
    assert bool(found.damaged) is needs_end
    assert by_label(found)["f"].samples == 4
