"""The companion that sends sessions: until when, how often, and what it says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from profkit.clock import ManualClock
from profkit.config import read_config
from profkit.ingest.following import await_companion, follow, is_recording
from profkit.store.clearing import PUSHING, alone_in
from profkit.store.places import PlaceUnavailable
from profkit.store.spool import read_session, write_manifest
from tests.support.cli_runs import finished_session, live_session
from tests.support.example_sessions import GONE
from tests.support.spool_folders import open_folder

OVER, RUNNING = "20261121T114903-4194305-9c1f", "20261121T114904-4194306-9c1f"


class Place:
    """A place that can be used, or not; the program ends after some attempts."""

    def __init__(self, folder: Path, ends_after: int) -> None:
        self.config = read_config({"PROFKIT_SPOOL": str(folder / "spool")}, folder)
        self.clock, self.said = ManualClock(), list[str]()
        self.running = live_session(self.config, RUNNING)
        self.away, self.ends_after = range(0), ends_after
        self.attempts: list[float] = []

    def send(self) -> None:
        number = len(self.attempts)
        self.attempts.append(self.clock.monotonic_s())
        if number == self.ends_after:
            manifest = read_session(self.running).manifest
            write_manifest(self.running, replace(manifest, process=GONE))
        if number in self.away:
            raise PlaceUnavailable("there", "it is away")

    def follow(self) -> bool:
        return follow(self.config.spool, self.send, self.said.append, self.clock)

    @property
    def pauses(self) -> list[float]:
        pairs = zip(self.attempts, self.attempts[1:], strict=False)
        return [round(later - earlier) for earlier, later in pairs]


def test_it_looks_each_second_and_once_more_after_the_end(tmp_path: Path) -> None:
    place = Place(tmp_path, ends_after=4)
    assert place.follow()
    assert len(place.attempts) == 6
    assert not is_recording(place.config.spool)
    assert place.said == []


def test_it_waits_longer_and_longer_for_a_place_that_is_away(tmp_path: Path) -> None:
    place = Place(tmp_path, ends_after=12)
    place.away = range(1, 9)
    assert place.follow()
    assert place.pauses[1:9] == [2, 4, 8, 16, 32, 60, 60, 60]
    assert [message.startswith("there cannot be used: it is away") for message in place.said] == [True]


def test_it_ends_soon_after_the_program_even_if_the_place_is_away(tmp_path: Path) -> None:
    place = Place(tmp_path, ends_after=5)
    place.away = range(100)
    assert place.follow()
    assert len(place.attempts) == 6 + 3
    assert place.pauses[5:] == [0, 1, 1]


def test_there_is_one_companion(tmp_path: Path) -> None:
    place = Place(tmp_path, ends_after=0)
    with open_folder(place.config.spool) as spool, alone_in(spool, lock=PUSHING):
        assert not place.follow()
    assert place.attempts == []


def test_nobody_waits_long_for_one_that_does_not_start(tmp_path: Path) -> None:
    place = Place(tmp_path, ends_after=0)
    finished_session(place.config, OVER)
    began_s = place.clock.monotonic_s()
    assert await_companion(place.config.spool, place.clock) == 2
    assert 2 < place.clock.monotonic_s() - began_s < 5
