"""Sending sessions: each arrives exactly once, also after interruptions, and is then deleted here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.ingest import push as pushing
from profkit.ingest.keep import ingest
from profkit.ingest.push import PushReport, end_sessions_of, push
from profkit.ingest.servers.profile_server import ProfileServer
from profkit.model.notes import NoteCode
from profkit.model.run import RunInfo
from profkit.model.session import SessionState
from profkit.process.procfs import start_ticks
from profkit.store.measured import keep_measured
from profkit.store.places import FolderPlace, PlaceUnavailable, RemotePlace
from profkit.store.runs import Store
from tests.support.example_measured_runs import measured_run
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
from tests.support.profile_receiver import Receiver, answer, receiving

OTHER = 65534
"""A user that is not this one."""
OLD = ManualClock(start_unix_ns=2 * START_NS)
SESSION = "20261121T114903-4194305-9c1f"


def written(spool: Path, session: str = SESSION, **changes: object) -> Path:
    made = manifest(segment(0), session=session, plan=replace(PLAN, sampler="pyspy"))
    folder = session_folder(spool, replace(made, **changes), deltas=(calls(F, 7),))  # type: ignore[arg-type]
    write_speedscope(folder, 0, 5)
    return folder


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return tmp_path / "shared" / "spool"


def pushed(spool: Path, there: Path) -> PushReport:
    place = FolderPlace(there)
    try:
        return push(spool, place)
    finally:
        place.close()


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name[0] != ".")


def test_sessions_and_measured_runs_are_sent_and_kept_once(spool: Path, there: Path, store: Store) -> None:
    written(spool)
    keep_measured(spool, measured_run(id="a1"))
    assert (pushed(spool, there).sent, visible(spool)) == (2, [])
    assert visible(there) == [f"{SESSION}.packed", "a1.measured.json"]
    assert len(ingest(there, store).added) == 2
    assert (visible(there), pushed(spool, there)) == ([], PushReport())


def test_no_spool_is_nothing_to_send(spool: Path, there: Path) -> None:
    assert pushed(spool, there) == PushReport()
    assert not spool.exists()


def test_packs_are_passed_on(spool: Path, there: Path, tmp_path: Path, store: Store) -> None:
    written(spool)
    pushed(spool, there)
    pushed(there, tmp_path / "third")
    assert visible(there) == []
    assert len(ingest(tmp_path / "third", store).added) == 1


def test_what_is_recorded_stays(spool: Path, there: Path) -> None:
    alive = replace(GONE, pid=os.getpid(), start_ticks=start_ticks(os.getpid()) or 0)
    ids = [f"20261121T11490{number}-{os.getpid()}-9c1f" for number in (1, 2, 3)]
    for session in ids[:2]:
        written(spool, session, process=alive)
    written(spool, ids[2], process=alive, state=SessionState.RUNNING, ended_ns=None)
    report = pushed(spool, there)
    assert (report.sent, report.recording, visible(spool)) == (2, 1, [ids[2]])


class _Killed(Exception):
    pass


class _Dying:
    """A place whose sender is killed after a number of its chunks or, without one, after the last."""

    def __init__(self, place: FolderPlace, chunks: int | None) -> None:
        self._place, self._chunks = place, chunks

    def size_of(self, name: str) -> int | None:
        return self._place.size_of(name)

    def write(self, name: str, chunks: Iterable[bytes]) -> None:
        if self._chunks is None:
            self._place.write(name, chunks)
        else:
            parts = [part for part, _ in zip(chunks, range(self._chunks), strict=False)]
            hidden = Path(self._place.name) / f".{name}.arriving"
            hidden.write_bytes(b"".join(parts))
        raise _Killed


@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize("chunks", [0, 1, 3, None])
def test_after_a_kill_the_next_one_completes_it(
    spool: Path, there: Path, store: Store, chunks: int | None, is_read: bool
) -> None:
    written(spool)
    place = FolderPlace(there)
    with pytest.raises(_Killed):
        push(spool, _Dying(place, chunks))
    place.close()
    if is_read:
        ingest(there, store)
    report = pushed(spool, there)
    assert (report.sent, report.known, visible(spool)) == (1, chunks is None and not is_read, [])
    ingest(there, store)
    (info,) = store.runs()
    assert (info.label, visible(there)) == ("f", [])
    assert NoteCode.FILE_UNREADABLE not in {note.code for note in info.notes}


def test_a_removal_that_was_interrupted_is_completed(spool: Path, there: Path) -> None:
    folder = written(spool)
    folder.rename(spool / f".{folder.name}.removed")
    pushed(spool, there)
    assert [path.name for path in spool.iterdir() if path.name != ".lock"] == []


def test_other_files_in_a_folder_are_set_aside(spool: Path, there: Path) -> None:
    folder = written(spool)
    (folder / "notes.txt").write_text("mine")
    (damage,) = pushed(spool, there).damaged
    assert damage.kept is not None
    assert damage.kept.read_text() == "mine"
    assert visible(spool) == ["damaged"]


def test_a_link_in_a_folder_keeps_it_here(spool: Path, there: Path) -> None:
    folder = written(spool)
    (folder / "cells.jsonl").symlink_to("/etc/passwd")
    other = written(spool, "20261121T114904-4194305-9c1f")
    report = pushed(spool, there)
    assert (report.sent, len(report.damaged)) == (1, 1)
    assert (folder.exists(), other.exists(), visible(there)) == (True, False, [f"{other.name}.packed"])


def test_a_session_whose_manifest_is_damaged_is_sent_when_it_is_old(
    spool: Path, there: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(spool, f"20261121T114903-{os.getpid()}-9c1f")
    (folder / "manifest.json").write_text("{")
    assert pushed(spool, there).recording == 1
    place = FolderPlace(there)
    assert push(spool, place, OLD).sent == 1
    place.close()
    report = ingest(there, store, OLD)
    assert [info.label for info in report.added] == ["f"]


def test_a_place_of_another_kind_is_refused(spool: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PlaceUnavailable, match="is still in the spool"):
        FolderPlace(tmp_path / "file")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(PlaceUnavailable, match="other users can change it"):
        FolderPlace(tmp_path / "open")


def test_a_collector_sends_and_keeps_what_is_another_users(spool: Path, there: Path, store: Store) -> None:
    def give_away(folder: Path) -> None:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, OTHER, OTHER)

    written(spool)
    give_away(spool)
    place = FolderPlace(there)
    assert push(spool, place, owner=OTHER).sent == 1
    place.close()
    give_away(there)
    assert len(ingest(there, store, owner=OTHER).added) == 1
    assert (visible(spool), visible(there)) == ([], [])


def lost(spool: Path, host: str, session: str = SESSION) -> Path:
    process = replace(GONE, host=host)
    now_ns = pushing.SYSTEM_CLOCK.unix_ns()
    return written(
        spool, session, process=process, state=SessionState.RUNNING, ended_ns=None, created_ns=now_ns
    )


def test_sessions_of_a_lost_host_are_read_at_once(spool: Path, store: Store) -> None:
    lost(spool, "gone")
    other = lost(spool, "other", "20261121T114904-4194305-9c1f")
    assert len(ingest(spool, store).recording) == 2
    assert end_sessions_of(spool, "gone") == 1
    report = ingest(spool, store)
    assert [getattr(info, "state", None) for info in report.added] == [SessionState.ENDED_EARLY]
    assert [found.folder for found in report.recording] == [other]
    assert end_sessions_of(spool, "gone") == 0


def test_what_a_lost_host_was_sending_is_a_partial_run_until_it_comes_back(
    spool: Path, there: Path, store: Store
) -> None:
    written(spool, process=replace(GONE, host="gone"))
    written(spool, "20261121T114904-4194305-9c1f")
    place = FolderPlace(there)
    for session in visible(spool):
        with pytest.raises(_Killed):
            push(spool, _Dying(place, 3))
        (spool / session).rename(spool / f".{session}")
    place.close()
    assert (end_sessions_of(there, "gone"), visible(there)) == (1, [f"{SESSION}.packed"])
    (partial,) = ingest(there, store).added
    assert NoteCode.FILE_UNREADABLE in {note.code for note in partial.notes}
    (spool / f".{SESSION}").rename(spool / SESSION)
    assert pushed(spool, there).sent == 1
    (whole,) = ingest(there, store).added
    assert (whole.id, store.runs()) == (partial.id, (whole,))
    assert NoteCode.FILE_UNREADABLE not in {note.code for note in whole.notes}


def test_a_part_that_nobody_has_read_is_overwritten(spool: Path, there: Path, store: Store) -> None:
    written(spool, process=replace(GONE, host="gone"))
    place = FolderPlace(there)
    with pytest.raises(_Killed):
        push(spool, _Dying(place, 3))
    place.close()
    assert end_sessions_of(there, "gone") == 1
    report = pushed(spool, there)
    assert (report.sent, report.known) == (1, 0)
    (info,) = ingest(there, store).added
    assert NoteCode.FILE_UNREADABLE not in {note.code for note in info.notes}


def test_a_run_that_lacks_only_a_trace_is_replaced_by_the_whole_one(spool: Path, store: Store) -> None:
    trace = written(spool) / f"trace-{F.id}-000.json"
    trace.write_text('{"traceEvents": [')
    (partial,) = ingest(spool, store).added
    assert isinstance(partial, RunInfo)
    assert NoteCode.FILE_UNREADABLE in {note.code for note in partial.notes}
    written(spool)
    (whole,) = ingest(spool, store).added
    assert isinstance(whole, RunInfo)
    assert (whole.samples, whole.calls, store.runs()) == (partial.samples, partial.calls, (whole,))
    trace = written(spool) / trace.name
    trace.write_text('{"traceEvents": [')
    assert (ingest(spool, store).added, store.runs()) == ((), (whole,))


@pytest.mark.neighbours
def test_a_url_is_written_and_read(spool: Path, tmp_path: Path) -> None:
    place = RemotePlace("memory://bucket/runs")
    written(spool)
    assert (place.size_of("a1.measured.json"), push(spool, place).sent) == (None, 1)
    assert place.names() == (f"{SESSION}.packed",)
    written(spool)
    assert push(spool, place).known == 1
    assert sum(map(len, place.chunks(f"{SESSION}.packed"))) == place.size_of(f"{SESSION}.packed")
    place.remove(f"{SESSION}.packed")
    assert place.names() == ()
    with pytest.raises(PlaceUnavailable, match="nosuch"):
        RemotePlace("nosuch://bucket")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


def push_to(spool: Path, receiver: Receiver) -> PushReport:
    return push(spool, ProfileServer(f"pyroscope+http://{receiver.host}", {}))


def test_a_server_gets_sessions_once(spool: Path, receiver: Receiver) -> None:
    written(spool)
    assert (push_to(spool, receiver).sent, visible(spool), len(receiver.requests)) == (1, [], 1)
    assert push_to(spool, receiver) == PushReport()
    assert len(receiver.requests) == 1


def test_a_server_gets_packs(spool: Path, there: Path, receiver: Receiver) -> None:
    written(spool)
    pushed(spool, there)
    assert (push_to(there, receiver).sent, visible(there), len(receiver.requests)) == (1, [], 1)


def test_what_has_no_samples_of_time_stays(spool: Path, receiver: Receiver) -> None:
    session_folder(spool, manifest(segment(0), plan=replace(PLAN, sampler="none")), deltas=(calls(F, 7),))
    written(spool, "20261121T114904-4194305-9c1f", plan=replace(PLAN, sampler="memray"))
    keep_measured(spool, measured_run(id="a1"))
    before = visible(spool)
    report = push_to(spool, receiver)
    assert (report.sent, report.unsuitable, visible(spool), receiver.requests) == (0, 3, before, [])


def test_a_session_without_calls_is_nothing_for_a_server(spool: Path, receiver: Receiver) -> None:
    session_folder(spool, manifest(segment(0), plan=replace(PLAN, sampler="none")))
    assert (push_to(spool, receiver), visible(spool), receiver.requests) == (PushReport(), [], [])


def test_what_a_server_refuses_stays_and_others_are_sent(spool: Path, receiver: Receiver) -> None:
    names = [f"20261121T11490{number}-4194305-9c1f" for number in range(3)]
    for name in names:
        written(spool, name)

    def respond(handler: BaseHTTPRequestHandler) -> None:
        answer(400 if len(receiver.requests) == 2 else 200)(handler)

    receiver.respond = respond
    report = push_to(spool, receiver)
    assert (report.sent, [error.name for error in report.refused]) == (2, [names[1]])
    assert visible(spool) == [names[1]]
    receiver.respond = answer(200)
    assert (push_to(spool, receiver).sent, visible(spool)) == (1, [])


def test_nothing_more_is_sent_to_a_server_that_takes_nothing(spool: Path, receiver: Receiver) -> None:
    for number in range(3):
        written(spool, f"20261121T11490{number}-4194305-9c1f")
    receiver.respond = answer(503)
    with pytest.raises(PlaceUnavailable):
        push_to(spool, receiver)
    assert (len(receiver.requests), len(visible(spool))) == (1, 3)


def test_a_session_whose_answer_was_lost_is_sent_again_with_its_id(spool: Path, receiver: Receiver) -> None:
    written(spool)

    def lose(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True

    receiver.respond = lose
    with pytest.raises(PlaceUnavailable):
        push_to(spool, receiver)
    receiver.respond = answer(200)
    push_to(spool, receiver)
    first, second = receiver.requests
    assert first.body == second.body


def test_a_server_gets_nothing_of_a_folder_that_cannot_be_removed(spool: Path, receiver: Receiver) -> None:
    folder = written(spool)
    (folder / "cells.jsonl").symlink_to("/etc/passwd")
    report = push_to(spool, receiver)
    assert (report.sent, len(report.damaged), folder.exists(), receiver.requests) == (0, 1, True, [])


def test_a_server_gets_what_of_a_damaged_session_can_be_read(spool: Path, receiver: Receiver) -> None:
    folder = written(spool)
    with (folder / "resources.jsonl").open("a") as file:
        file.write("{\n")
    (folder / "notes.txt").write_text("mine")
    report = push_to(spool, receiver)
    assert (report.sent, len(receiver.requests), visible(spool)) == (1, 1, ["damaged"])
    assert {damage.path.name for damage in report.damaged} == {"resources.jsonl", "notes.txt"}
