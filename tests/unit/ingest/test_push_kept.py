"""Sending runs that a store keeps: each once to each place, also after interruptions, and it keeps them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.ingest.keep import AT_ONCE, ingest
from profkit.ingest.push import PushReport
from profkit.ingest.push_kept import Send, push_kept, send_to_place, send_to_store
from profkit.model.measurement import AnyRun
from profkit.model.run import Run
from profkit.store.places import FolderPlace, PlaceUnavailable
from profkit.store.runs import Store, open_store
from tests.support.example_measured_runs import failed_run, measured_run
from tests.support.example_runs import INFO, made_run

HOST, PLACE = INFO.process.host, "there"


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'other.db'}") as other:
        yield other


def sampled(number: int, host: str = HOST, run_id: str = "") -> Run:
    process = replace(INFO.process, host=host)
    return made_run(id=run_id or f"a{number:02}", session=f"s{number}", started_ns=number, process=process)


def pushed(store: Store, send: Send) -> PushReport:
    return push_kept(store, store.unsent(PLACE, HOST), PLACE, HOST, send)


def to(other: Store) -> Send:
    return lambda runs: send_to_store(other, runs)


def test_runs_of_this_host_arrive_whole_and_stay(store: Store, other: Store) -> None:
    here = [sampled(1), measured_run(id="m1"), failed_run(id="f1")]
    here = [here[0], *(replace(one, info=replace(one.info, process=INFO.process)) for one in here[1:])]
    store.add([*here, sampled(2, "elsewhere")])
    assert pushed(store, to(other)) == PushReport(3)
    assert [other.load(run.info.id) for run in here] == here
    assert len(store.runs()) == 4
    assert pushed(store, to(other)) == PushReport()
    assert set(store.unsent("elsewhere", HOST)) == {run.info.id for run in here}


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_after_an_interruption_the_next_call_sends_the_rest(store: Store, other: Store, calls: int) -> None:
    runs = [sampled(number) for number in range(3 * AT_ONCE)]
    store.add(runs)
    batches: list[int] = []

    def send(batch: Sequence[AnyRun]) -> PushReport:
        sent = send_to_store(other, batch)
        batches.append(len(batch))
        if len(batches) == calls:
            raise KeyboardInterrupt  # it is there, but this is not noted
        return sent

    with pytest.raises(KeyboardInterrupt):
        pushed(store, send)
    left = len(runs) - (calls - 1) * AT_ONCE
    assert len(store.unsent(PLACE, HOST)) == left
    assert pushed(store, to(other)) == PushReport(left, AT_ONCE)
    assert [info.id for info in other.runs()] == [run.info.id for run in reversed(runs)]


def test_a_folder_gets_files_that_are_read_once(store: Store, other: Store, tmp_path: Path) -> None:
    odd = sampled(2, run_id="../../up")
    runs = [sampled(1), odd]
    store.add(runs)
    place = FolderPlace(tmp_path / "shared")
    assert send_to_place(place, runs) == PushReport(2)
    assert pushed(store, lambda batch: send_to_place(place, batch)) == PushReport(2, 2)
    place.close()
    assert not list(tmp_path.glob("*up*"))
    report = ingest(tmp_path / "shared", other)
    assert (len(report.added), report.damaged) == (2, ())
    assert [other.load(run.info.id) for run in runs] == runs
    assert [path.name for path in (tmp_path / "shared").iterdir() if path.name[0] != "."] == []


def test_a_place_that_fails_gets_them_later(store: Store, other: Store) -> None:
    store.add([sampled(1)])

    def fail(batch: Sequence[AnyRun]) -> PushReport:
        raise PlaceUnavailable(PLACE, "it is full")

    with pytest.raises(PlaceUnavailable):
        pushed(store, fail)
    assert pushed(store, to(other)) == PushReport(1)


def test_a_damaged_run_is_reported_and_the_others_are_sent(
    store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([sampled(1), replace(sampled(2), profile=None)])
    with store._database.writing() as connection:
        connection.execute("UPDATE profkit_contents SET data = ?", b"no profile")
    report = pushed(store, to(other))
    assert (report.sent, len(report.damaged)) == (1, 1)
    assert store.unsent(PLACE, HOST) == ("a01",)


def test_a_run_that_is_replaced_by_a_fuller_one_is_sent_again(store: Store, other: Store) -> None:
    whole = sampled(1)
    part = replace(whole, info=replace(whole.info, samples=whole.info.samples - 1), profile=None)
    store.add([part])
    assert pushed(store, to(other)) == PushReport(1)
    store.add([whole])
    assert pushed(store, to(other)) == PushReport(1)
    assert other.load(whole.info.id) == whole
    store.remove([whole.info.id])
    assert store.unsent(PLACE, HOST) == ()


def test_runs_that_were_removed_there_do_not_come_back(store: Store, other: Store) -> None:
    store.add([sampled(1)])
    other.add([sampled(1)])
    other.remove(["a01"])
    assert pushed(store, to(other)) == PushReport(1, 1)
    assert other.runs() == ()
