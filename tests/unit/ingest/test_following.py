"""The companion that sends sessions: until when, how often, and what it says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from profkit.clock import ManualClock
from profkit.config import read_config
from profkit.ingest.following import await_companion, follow, is_recording
from profkit.ingest.push import push
from profkit.store.clearing import PUSHING, alone_in, keep_within, take_dropped
from profkit.store.places import FolderPlace, PlaceUnavailable
from profkit.store.spool import read_session, write_manifest
from tests.support.cli_runs import finished_session, live_session
from tests.support.example_sessions import GONE, PLAN, manifest, segment, session_folder
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


class Service(Place):
    """A program of twenty windows, one each minute, and a folder that is away for ten minutes.

    The spool has room for five windows. The program looks at its size after each.
    """

    WINDOWS, ROOM, AWAY_S = 20, 5, range(90, 690)
    SIZE = 2**20

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ends_after=10**6)
        self.there, self.began_s = folder / "there", self.clock.monotonic_s()
        self.logged, self.ended, self.sent = list[str](), list[str](), list[int]()

    @property
    def elapsed_s(self) -> float:
        return self.clock.monotonic_s() - self.began_s

    def end_windows(self) -> None:
        while len(self.ended) < min(self.WINDOWS, self.elapsed_s // 60):
            session = f"20261121T1150{len(self.ended):02}-4194305-9c1f"
            plan = replace(PLAN, sampler="pyspy", window_s=60.0)
            made = session_folder(self.config.spool, manifest(segment(0), session=session, plan=plan))
            (made / "segment-000.speedscope.json").write_bytes(bytes(self.SIZE))
            self.ended.append(session)
            (self.config.spool / ".checked").unlink(missing_ok=True)  # no ten seconds have passed here
            limit = str((self.ROOM + 1) * self.SIZE - 1)
            keep_within(self.config.spool, limit, self.logged.append, self.clock)
        if len(self.ended) == self.WINDOWS and self.running.exists():
            head = read_session(self.running).manifest
            write_manifest(self.running, replace(head, process=GONE))

    def send(self) -> None:
        self.end_windows()
        self.attempts.append(self.clock.monotonic_s())
        if round(self.elapsed_s) in self.AWAY_S:
            raise PlaceUnavailable("there", "it is away")
        self.sent.append(push(self.config.spool, FolderPlace(self.there), self.clock).sent)


def test_ten_minutes_without_the_place_cost_only_what_is_beyond_the_limit(tmp_path: Path) -> None:
    service = Service(tmp_path)
    assert service.follow()
    assert len(service.ended) == service.WINDOWS
    away = [pause for at_s, pause in zip(service.attempts, service.pauses, strict=False)
            if round(at_s - service.began_s) in service.AWAY_S]  # fmt: skip
    assert away[:6] == [2, 4, 8, 16, 32, 60]
    assert set(away[6:]) == {60}
    names = {path.name.removesuffix(".packed") for path in service.there.iterdir()}
    lost = [session for session in service.ended if session not in names]
    assert sum(service.sent) == len(names) == service.WINDOWS - len(lost) + 1, "and the last one"
    # Ten or eleven windows ended meanwhile.
    assert lost == service.ended[1 : 1 + len(lost)]
    assert len(lost) in (5, 6)
    assert [message.startswith("there cannot be used: it is away") for message in service.said] == [True]
    assert [message.startswith("the oldest session in the spool ") for message in service.logged] == [
        True
    ] * len(lost)
    with open_folder(service.config.spool) as spool:
        assert [one.session for one in take_dropped(spool)] == lost


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
