from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK, Clock, ManualClock
from profkit.errors import DamagedFile, SpoolUnavailable, StoreUnavailable
from profkit.ingest.keep import IngestReport, clear_unfinished, ingest
from profkit.ingest.read import run_id
from profkit.model.measurement import AnyInfo, AnyRun
from profkit.model.run import Run, RunInfo
from profkit.model.session import Ending, Manifest, SessionState
from profkit.process.procfs import start_ticks
from profkit.store import spool as files
from profkit.store.measured import keep_measured, measured_files
from profkit.store.runs import Store, open_store
from profkit.store.spool_files import make_reserve, note_ending
from tests.support.example_measured_runs import failed_run, measured_run
from tests.support.example_sessions import (
    GONE,
    PLAN,
    START_NS,
    F,
    calls,
    manifest,
    segment,
    session_folder,
    write_speedscope,
)


def sampled(infos: Iterable[AnyInfo]) -> list[int]:
    """How many samples each has, all being sampled runs."""
    return [info.samples for info in infos if isinstance(info, RunInfo)]


OLD = ManualClock(start_unix_ns=2 * START_NS)
"""A clock by which every folder was made long ago."""


def head(number: int = 1, **changes: object) -> Manifest:
    made = manifest(segment(0), session=f"session-{number}", plan=replace(PLAN, sampler="pyspy"))
    return replace(made, **changes)  # type: ignore[arg-type]


def finished(spool: Path, number: int = 1, weight: int = 5) -> Path:
    folder = session_folder(spool, head(number), deltas=(calls(F, 7),))
    write_speedscope(folder, 0, weight)
    return folder


def test_a_finished_session_is_kept_and_its_folder_removed(spool: Path, store: Store) -> None:
    finished(spool)
    report = ingest(spool, store)
    assert sampled(report.added) == [5]
    assert (report.recording, report.damaged) == ((), ())
    assert [path.name for path in spool.iterdir()] == [".lock"]
    run = store.load(report.added[0].id)
    assert isinstance(run, Run)
    assert run.profile is not None
    assert [(frame.name, frame.line) for frame in run.profile.frames] == [("f", 4), ("work", 4)]
    assert {thread.pid for thread in run.profile.threads} == {GONE.pid}
    assert ingest(spool, store) == IngestReport()
    assert len(store.runs()) == 1


def test_all_sessions_are_kept_in_their_order(spool: Path, store: Store) -> None:
    for number in (1, 2, 3):
        finished(spool, number, weight=number)
    assert sampled(ingest(spool, store).added) == [1, 2, 3]


def test_no_spool_and_an_empty_one_are_fine(spool: Path, store: Store) -> None:
    assert ingest(spool, store) == IngestReport()
    assert clear_unfinished(spool) == ()
    assert not spool.exists()
    spool.mkdir()
    assert ingest(spool, store) == IngestReport()


def test_what_is_being_recorded_stays_and_is_reported(spool: Path, store: Store) -> None:
    alive = replace(GONE, pid=os.getpid(), start_ticks=start_ticks(os.getpid()) or 0)
    running = head(state=SessionState.RUNNING, ended_ns=None, process=alive)
    folder = session_folder(spool, running, deltas=(calls(F, 7),))
    write_speedscope(folder, 0, 5)
    report = ingest(spool, store)
    assert (report.added, report.damaged) == ((), ())
    assert [found.folder for found in report.recording] == [folder]
    assert report.recording[0].runs[0].info.samples == 5
    assert folder.exists()


class _Interrupted(Exception):
    pass


class _InterruptedStore:
    """A store whose process is killed as soon as the runs are in."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, runs: Iterable[AnyRun]) -> tuple[AnyInfo, ...]:
        self._store.add(runs)
        raise _Interrupted


@pytest.mark.parametrize("write", [finished, lambda spool: keep_measured(spool, measured_run())])
def test_a_crash_between_keeping_and_removing_keeps_nothing_twice(
    spool: Path, store: Store, write: Callable[[Path], Path]
) -> None:
    written = write(spool)
    with pytest.raises(_Interrupted):
        ingest(spool, _InterruptedStore(store))  # type: ignore[arg-type]
    assert written.exists()
    assert len(store.runs()) == 1
    assert ingest(spool, store).added == ()
    assert not written.exists()
    assert len(store.runs()) == 1


def test_a_store_that_cannot_be_used_leaves_everything_in_the_spool(spool: Path, tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        (tmp_path / "runs.db").write_bytes(b"this is no database, and long enough to be seen as none" * 99)
        for left in (keep_measured(spool, measured_run()), finished(spool)):
            with pytest.raises(StoreUnavailable):
                ingest(spool, store)
            assert left.exists()


def test_a_folder_that_has_no_manifest_yet_is_left_alone_at_first(spool: Path, store: Store) -> None:
    folder = files.create_folder(spool, "session-9")
    files.append(folder, [F])
    assert ingest(spool, store) == IngestReport()
    assert folder.exists()
    (damage,) = ingest(spool, store, OLD).damaged
    assert damage.kept is not None
    assert (damage.kept / "regions.jsonl").exists()


Clear = Callable[[Path, Clock], tuple[DamagedFile, ...]]


@pytest.fixture(params=["ingest", "clear_unfinished"])
def clear(request: pytest.FixtureRequest, store: Store) -> Clear:
    """Clear remains in a spool, with a store or without one; return the damage."""
    if request.param == "clear_unfinished":
        return clear_unfinished
    return lambda spool, clock: ingest(spool, store, clock).damaged


@pytest.mark.parametrize("written", [(), ("reserve.json",), ("reserve.json", "manifest.json.new")], ids=str)
def test_a_session_that_was_killed_before_it_wrote_anything_is_removed(
    spool: Path, clear: Clear, written: tuple[str, ...]
) -> None:
    folder = files.create_folder(spool, "20261121T114903-4194305-9c1f")
    for name in written:
        (folder / name).write_bytes(bytes(4096))
    assert clear(spool, SYSTEM_CLOCK) == ()
    assert folder.exists()
    assert clear(spool, OLD) == ()
    assert not folder.exists()


def test_a_measured_run_whose_writer_was_killed_is_set_aside_in_time(spool: Path, clear: Clear) -> None:
    spool.mkdir()
    part = spool / "b6c5fac970.measured.json.new"
    part.write_text("{")
    assert clear(spool, SYSTEM_CLOCK) == ()
    assert part.exists()
    (damage,) = clear(spool, OLD)
    assert "its process ended while it was being written" in str(damage)
    assert damage.kept is not None
    assert damage.kept.read_text() == "{"
    assert not part.exists()


def test_what_may_still_be_a_session_or_is_none_is_not_removed(spool: Path, store: Store) -> None:
    of_living = files.create_folder(spool, f"20261121T114903-{os.getpid()}-9c1f")
    other = files.create_folder(spool, "my-notes")
    ended = files.create_folder(spool, "20261121T114904-4194305-9c1f")
    make_reserve(ended)
    note_ending(ended, Ending(START_NS, SessionState.FAILED, "the disk is full"))
    sampled = files.create_folder(spool, "20261121T114905-4194305-9c1f")
    (sampled / "reserve.json").write_bytes(bytes(4096))
    (sampled / "segment-000.speedscope.json").write_text("{")
    named = {damage.path: damage for damage in ingest(spool, store, OLD).damaged}
    assert of_living.exists()
    assert other.exists()
    assert named[ended / "reserve.json"].detail == "the disk is full"
    assert (spool / "damaged" / ended.name / "reserve.json").exists()
    assert (spool / "damaged" / sampled.name / "segment-000.speedscope.json").exists()


def test_measured_runs_are_kept_and_their_files_removed(spool: Path, store: Store) -> None:
    runs = [measured_run(id=f"a{number:02}", started_ns=number) for number in range(40)]
    runs.append(failed_run(id="b1", started_ns=99))
    for run in runs:
        keep_measured(spool, run)
    report = ingest(spool, store)
    assert [info.id for info in report.added] == [run.info.id for run in runs]
    assert (report.recording, report.damaged, measured_files(spool)) == ((), (), ())
    assert [store.load(run.info.id) for run in runs] == runs
    assert ingest(spool, store) == IngestReport()


def test_a_removed_measured_run_does_not_come_back(spool: Path, store: Store) -> None:
    keep_measured(spool, measured_run(id="a1"))
    ingest(spool, store)
    store.remove(["a1"])
    file = keep_measured(spool, measured_run(id="a1"))
    assert ingest(spool, store).added == ()
    assert not file.exists()
    assert store.runs() == ()


def test_runs_with_ids_of_other_runs_are_set_aside_and_reported(spool: Path, store: Store) -> None:
    taken = (run_id("session-2", F.id), "a1")
    store.add([measured_run("other", id=one, batch="b1") for one in taken])
    finished(spool, 2)
    finished(spool, 3)
    keep_measured(spool, measured_run(id="a1", batch="b2"))
    report = ingest(spool, store)
    assert [info.session for info in report.added if isinstance(info, RunInfo)] == ["session-3"]
    assert [damage.path.name for damage in report.damaged] == ["session-2", "a1.measured.json"]
    for damage in report.damaged:
        assert "has the id of another one, other of b1" in damage.detail
        assert damage.kept is not None
        assert damage.kept.exists()
    assert ingest(spool, store) == IngestReport()


def test_a_damaged_measured_run_is_set_aside_and_the_others_kept(spool: Path, store: Store) -> None:
    file = keep_measured(spool, measured_run(id="a1"))
    file.write_bytes(file.read_bytes()[:-9])
    keep_measured(spool, measured_run(id="b2"))
    report = ingest(spool, store)
    assert [info.id for info in report.added] == ["b2"]
    (damage,) = report.damaged
    assert damage.path == file
    assert damage.kept == spool / "damaged" / file.name / file.name
    assert ingest(spool, store) == IngestReport()


def test_one_process_at_a_time(spool: Path, store: Store) -> None:
    folder = finished(spool)
    descriptor = os.open(spool / ".lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    waiting = threading.Thread(target=ingest, args=(spool, store))
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    assert folder.exists()
    os.close(descriptor)
    waiting.join(30)
    assert not folder.exists()


def test_two_processes_at_once_keep_each_run_once(spool: Path, store: Store, tmp_path: Path) -> None:
    for number in range(4):
        finished(spool, number)
        keep_measured(spool, measured_run(id=f"a{number}"))
    program = (
        "import sys, pathlib\n"
        "from profkit.ingest.keep import ingest\n"
        "from profkit.store.runs import open_store\n"
        "with open_store(sys.argv[1]) as store:\n"
        "    print(len(ingest(pathlib.Path(sys.argv[2]), store).added))\n"
    )
    command = [sys.executable, "-c", program, f"sqlite:///{tmp_path / 'runs.db'}", str(spool)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    added = [int(process.communicate()[0]) for process in processes]
    assert sum(added) == 8
    assert len(store.runs()) == 8
    assert files.session_folders(spool) == ()
    assert measured_files(spool) == ()


def test_a_spool_that_cannot_be_written_is_named_with_the_fix(spool: Path, store: Store) -> None:
    folder = finished(spool)
    (spool / ".lock").mkdir()
    with pytest.raises(SpoolUnavailable, match="PROFKIT_SPOOL") as caught:
        ingest(spool, store)
    assert str(spool) in str(caught.value)
    assert caught.value.exit_code == 7
    assert folder.exists()


def test_sessions_are_kept_in_batches_and_few_files_are_open(
    spool: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive = replace(GONE, pid=os.getpid(), start_ticks=start_ticks(os.getpid()) or 0)
    for number in range(40):
        finished(spool, number)
        running = head(100 + number, state=SessionState.RUNNING, ended_ns=None, process=alive)
        session_folder(spool, running, deltas=(calls(F, 7),))
    batches: list[int] = []
    opened: list[int] = []
    add = store.add

    def counted(runs: Iterable[AnyRun]) -> tuple[AnyInfo, ...]:
        added = add(runs)
        batches.append(len(added))
        opened.append(len(os.listdir("/proc/self/fd")))
        return added

    monkeypatch.setattr(store, "add", counted)
    before = len(os.listdir("/proc/self/fd"))
    report = ingest(spool, store)
    assert (len(report.added), len(report.recording)) == (40, 40)
    assert batches == [16, 16, 8]
    assert max(opened) <= before + 16 + 4
    assert len(os.listdir("/proc/self/fd")) <= before + 2
