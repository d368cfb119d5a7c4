"""Which way to sample from inside is taken, and what becomes of it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.errors import SamplerFailed
from profkit.model.session import SessionState
from profkit.samplers.inprocess.attachment import MOST_FORKS, InProcessAttachment
from profkit.samplers.inprocess.forks import FORKS
from profkit.samplers.inprocess.ways import Kind, Request, WayFailed


@dataclass
class Plot:
    """What a way is to do, and what was done with it."""

    kind: Kind = Kind.THREAD
    start_failure: str | None = None
    failure: str | None = None
    running: bool = False
    ended: bool = False
    calls: list[str] = field(default_factory=list)

    def way(self, _: Request) -> PlottedWay:
        return PlottedWay(self)


class PlottedWay:
    def __init__(self, plot: Plot) -> None:
        self.plot, self.kind = plot, plot.kind

    def start(self) -> None:
        self.plot.calls.append("start")
        if self.plot.start_failure is not None:
            raise WayFailed(self.plot.start_failure)

    def is_running(self) -> bool:
        if self.plot.failure is not None:
            raise WayFailed(self.plot.failure)
        return self.plot.running

    def has_ended(self) -> bool:
        return self.plot.ended

    def stop(self) -> None:
        self.plot.calls.append("stop")
        self.plot.ended = True

    def await_end(self) -> None:
        self.plot.calls.append("await_end")

    def before_fork(self) -> None:
        self.plot.calls.append("before_fork")

    def after_fork(self) -> None:
        self.plot.calls.append("after_fork")

    def in_child(self) -> None:
        self.plot.calls.append("in_child")


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    return Request(1, tmp_path / "output", tmp_path / "log", 100.0, True, 60.0, ManualClock())


def test_the_first_way_that_starts_is_taken(request_: Request) -> None:
    refused, taken, unused = Plot(start_failure="too old"), Plot(Kind.TIMER, running=True), Plot()
    one = InProcessAttachment(request_, 4, (refused.way, taken.way, unused.way))
    assert one.kind is Kind.TIMER
    assert one.poll() is SessionState.RUNNING
    assert (one.segment().index, one.segment().pid) == (4, None)
    assert unused.calls == []
    one.kill()


def test_a_way_that_fails_before_its_first_stack_is_replaced(request_: Request) -> None:
    first, second = Plot(Kind.INTERPRETER), Plot(Kind.THREAD)
    one = InProcessAttachment(request_, 0, (first.way, second.way))
    assert one.poll() is SessionState.PREPARING
    first.failure = "Operation not permitted"
    assert one.poll() is SessionState.PREPARING
    assert first.calls == ["start", "stop", "await_end"]
    second.running = True
    assert one.poll() is SessionState.RUNNING
    assert one.kind is Kind.THREAD
    second.failure = "No space left on device"
    with pytest.raises(SamplerFailed, match="failed at sampling: No space left"):
        one.poll()
    assert one not in FORKS.live


def test_a_way_that_fails_later_is_replaced_too(request_: Request) -> None:
    first, second = Plot(Kind.TIMER, running=True), Plot(Kind.THREAD)
    one = InProcessAttachment(request_, 0, (first.way, second.way))
    assert one.poll() is SessionState.RUNNING
    first.failure = "the program uses SIGURG"
    assert one.poll() is SessionState.RUNNING
    assert one.kind is Kind.THREAD
    one.kill()


def test_without_a_way_the_last_reason_is_said(request_: Request) -> None:
    ways = (Plot(start_failure="too old").way, Plot(start_failure="no thread").way)
    with pytest.raises(SamplerFailed, match="failed at start: no thread; use sampler='none'"):
        InProcessAttachment(request_, 0, ways)
    assert FORKS.live == []


def test_a_stop_is_success_once_it_has_ended(request_: Request) -> None:
    plot = Plot(running=True)
    one = InProcessAttachment(request_, 0, (plot.way,))
    assert one.poll() is SessionState.RUNNING
    one.request_stop()
    assert one.poll() is SessionState.SUCCESS
    one.kill()
    assert FORKS.live == []


def test_forks_are_passed_on_while_it_lives(request_: Request) -> None:
    plot = Plot(running=True)
    one = InProcessAttachment(request_, 0, (plot.way,))
    FORKS.begin()
    FORKS.end()
    assert plot.calls == ["start", "before_fork", "after_fork"]
    one.kill()
    FORKS.begin()
    FORKS.end()
    assert plot.calls[3:] == ["stop", "await_end"]


def test_what_was_asked_to_stop_is_not_resumed(request_: Request) -> None:
    plot = Plot(running=True)
    one = InProcessAttachment(request_, 0, (plot.way,))
    one.request_stop()
    FORKS.begin()
    FORKS.end()
    assert plot.calls == ["start", "stop", "before_fork"]
    one.kill()


def test_forks_of_other_threads_and_new_sessions_wait_for_a_fork(request_: Request) -> None:
    FORKS.begin()
    plot = Plot(running=True)
    other = threading.Thread(target=lambda: InProcessAttachment(request_, 0, (plot.way,)).kill())
    other.start()
    assert not FORKS.live
    assert plot.calls == []
    FORKS.end()
    other.join()
    assert plot.calls == ["start", "stop", "await_end"]


def test_a_child_forgets_the_threads_of_its_parent(request_: Request) -> None:
    plot = Plot(running=True)
    InProcessAttachment(request_, 0, (plot.way,))
    FORKS.begin()
    FORKS.in_child()
    assert plot.calls == ["start", "before_fork", "in_child"]
    assert FORKS.live == []
    FORKS.begin()
    FORKS.end()


@pytest.mark.parametrize(("seconds", "kind"), [(0.5, Kind.THREAD), (2.0, Kind.INTERPRETER)])
def test_a_program_that_forks_often_does_without_a_subinterpreter(
    request_: Request, seconds: float, kind: Kind
) -> None:
    clock = request_.clock
    assert isinstance(clock, ManualClock)
    plots = Plot(Kind.INTERPRETER, running=True), Plot(running=True)
    one = InProcessAttachment(request_, 0, tuple(plot.way for plot in plots))
    for _ in range(MOST_FORKS + 1):
        FORKS.begin()
        FORKS.end()
        clock.advance(seconds)
    assert one.kind is kind
    one.kill()
