"""Windows: from one session to the next, no call, region or sample is lost, even if something fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.config import read_config
from profkit.model.region import CALLS_ONLY
from profkit.model.session import Cover, SessionState
from profkit.samplers.options import SamplerOptions
from profkit.session.counters import Counters
from profkit.session.failures import RETRY_AFTER_S
from profkit.session.manager import SessionManager
from profkit.session.session import IDLE_END_S
from profkit.store.spool import SpoolSession, read_session, session_folders
from tests.stand_ins.scripted_sampler import Script, scripted_fallbacks
from tests.support.example_counters import counters_of

WINDOW_S = 30.0
OPTIONS = SamplerOptions(window_s=WINDOW_S)


class Service:
    """A process with windows, a scripted sampler and a clock of its own."""

    def __init__(self, folder: Path) -> None:
        self.clock, self.script = ManualClock(), Script()
        config = read_config({}, folder)
        self.manager = SessionManager(config, self.clock, scripted_fallbacks(self.script))
        self.spool = config.spool
        self.begun: list[Counters] = []

    def begin(self, counters: Counters, tid: int | None = None) -> None:
        """Enter a call, as its wrapper does."""
        counters.callers["a thread"] = None
        self.begun.append(counters)
        if not counters.live:
            assert self.manager.enter(counters, 1, tid)

    def end(self, counters: Counters) -> None:
        counters.durations.append(1000)
        counters.callers.clear()

    def call(self, counters: Counters) -> None:
        self.begin(counters)
        self.end(counters)

    def pass_time(self, duration_s: float, step_s: float = 1.0) -> None:
        for _ in range(round(duration_s / step_s)):
            self.clock.advance(step_s)
            self.manager.tick()

    @property
    def sessions(self) -> list[SpoolSession]:
        """In the order of their start."""
        found = [read_session(folder) for folder in session_folders(self.spool)]
        return sorted(found, key=lambda session: session.manifest.created_ns)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path)
    yield made
    made.manager.close()
    for counters in made.begun:  # calls are known to the whole process
        counters.callers.clear()
    assert all(session.manifest.ended_ns is not None for session in made.sessions)


def numbers(session: SpoolSession, counters: Counters) -> int:
    delta = session.calls.get(counters.region.id)
    return 0 if delta is None else delta.durations.count


def test_each_window_is_a_finished_session_and_the_call_under_way_goes_on(service: Service) -> None:
    serve = counters_of("serve", options=OPTIONS)
    service.begin(serve)
    service.pass_time(3 * WINDOW_S)
    assert serve.live
    service.end(serve)
    service.manager.close()
    sessions = service.sessions
    assert len(sessions) == 4
    assert {session.manifest.state for session in sessions} == {SessionState.SUCCESS}
    assert all(session.damaged == () for session in sessions)
    assert [[region.id for region in session.regions] for session in sessions] == [[serve.region.id]] * 4
    assert [numbers(session, serve) for session in sessions] == [0, 0, 0, 1]
    assert {session.manifest.plan.window_s for session in sessions} == {WINDOW_S}
    assert service.script.attached == service.script.stopped == 4


def test_no_call_is_lost_or_counted_twice(service: Service) -> None:
    often, other = counters_of("often", options=OPTIONS), counters_of("other", options=OPTIONS)
    for second in range(100):
        service.call(often)
        if second < 20:
            service.call(other)
        service.pass_time(1)
    service.manager.close()
    sessions = service.sessions
    assert sum(numbers(session, often) for session in sessions) == 100
    assert sum(numbers(session, other) for session in sessions) == 20
    having = [any(region.id == other.region.id for region in session.regions) for session in sessions]
    assert having == [True, False, False, False]


def test_calls_are_counted_without_the_lock_while_the_next_sampler_starts(service: Service) -> None:
    serve, often = counters_of("serve", options=OPTIONS), counters_of("often", options=OPTIONS)
    service.begin(serve)
    service.call(often)
    seen: list[bool] = []
    sleep = service.clock.sleep

    def watch(duration_s: float) -> None:
        seen.append(often.live)
        sleep(duration_s)

    service.script.never_running = True
    service.clock.sleep = watch  # type: ignore[method-assign]
    service.pass_time(WINDOW_S)
    assert seen
    assert all(seen)


def test_a_region_with_whole_segments_has_them_in_each_window(service: Service) -> None:
    program = counters_of("program", options=OPTIONS, all_threads=True)
    service.begin(program)
    service.pass_time(2 * WINDOW_S)
    assert not program.live
    cover = Cover(program.region.id, None)
    sessions = service.sessions
    assert [[segment.covers for segment in one.manifest.segments] for one in sessions] == [[(cover,)]] * 3
    assert [[region.id for region in session.regions] for session in sessions] == [[program.region.id]] * 3
    service.end(program)
    service.manager.leave(program)


def test_an_idle_process_has_no_windows(service: Service) -> None:
    service.call(counters_of("once", options=OPTIONS))
    service.pass_time(10 * WINDOW_S)
    assert len(service.sessions) == 1
    assert service.sessions[0].manifest.ended_ns is not None
    assert IDLE_END_S < WINDOW_S


def test_regions_fit_into_windows_of_any_length(service: Service) -> None:
    program = counters_of("program", options=OPTIONS, all_threads=True)
    service.begin(program)
    plain = counters_of("plain", options=replace(OPTIONS, window_s=None))
    service.call(plain)
    service.manager.settle(plain)
    assert service.sessions[0].manifest.notes == ()
    service.end(program)
    service.manager.leave(program)


def test_a_sampler_that_cannot_start_costs_samples_but_no_window(service: Service) -> None:
    program = counters_of("program", options=OPTIONS, all_threads=True)
    service.begin(program)
    service.script.fail_start = "no more processes"
    service.pass_time(WINDOW_S)
    service.script.fail_start = None
    service.pass_time(RETRY_AFTER_S + 2 * WINDOW_S)
    plans = [session.manifest.plan.sampler for session in service.sessions]
    assert plans[:2] == ["scripted", CALLS_ONLY]
    assert plans[-1] == "scripted"
    service.end(program)
    service.manager.leave(program)


def test_a_sampler_that_ends_is_replaced_at_once(service: Service) -> None:
    program = counters_of("program", options=OPTIONS, all_threads=True)
    service.begin(program)
    service.pass_time(WINDOW_S / 2)
    service.script.attachments[-1].state = SessionState.SUCCESS
    service.pass_time(1)
    first, second = service.sessions
    assert first.manifest.state is SessionState.FAILED
    assert second.manifest.ended_ns is None
    assert [region.id for region in second.regions] == [program.region.id]
    service.end(program)
    service.manager.leave(program)


def test_a_disk_that_was_full_for_a_while_does_not_end_the_windows(service: Service) -> None:
    program = counters_of("program", options=OPTIONS, all_threads=True)
    service.begin(program)
    service.pass_time(WINDOW_S - 1)
    place, aside = service.spool, service.spool.with_name("aside")
    place.rename(aside)
    place.write_text("no folder")  # neither the old window nor a new one can be written
    service.pass_time(2)
    assert service.manager.session is None
    place.unlink()
    aside.rename(place)
    service.pass_time(RETRY_AFTER_S + 1)
    assert service.manager.session is not None
    assert service.sessions[-1].manifest.ended_ns is None
    service.end(program)
    service.manager.leave(program)
    first = session_folders(service.spool)[0]
    for entry in first.iterdir():  # its last manifest could not be written
        entry.unlink()
    first.rmdir()
