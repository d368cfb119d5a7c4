"""Which way to sample from inside is taken, and what becomes of it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.errors import SamplerFailed
from profkit.model.session import SessionState
from profkit.samplers.inprocess.attachment import MOST_FORKS, InProcessAttachment, Maker
from profkit.samplers.inprocess.forks import FORKS
from profkit.samplers.inprocess.ways import Kind, Request, WayFailed


@dataclass
class Plot:
    """What a way is to do, and what was done with it."""

    kind: Kind = Kind.THREAD
    start_failure: str | None = None
    fix: str | None = None
    failure: str | None = None
    running: bool = False
    ended: bool = False
    calls: list[str] = field(default_factory=list)

    requests: list[Request] = field(default_factory=list)

    @property
    def way(self) -> Maker:
        return self.kind, self.make

    def make(self, request: Request) -> PlottedWay:
        self.requests.append(request)
        return PlottedWay(self)


class PlottedWay:
    def __init__(self, plot: Plot) -> None:
        self.plot, self.kind = plot, plot.kind

    def start(self) -> None:
        self.plot.calls.append("start")
        if self.plot.start_failure is not None:
            raise WayFailed(self.plot.start_failure, self.plot.fix)

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
        if self.plot.failure is not None:
            raise WayFailed(self.plot.failure)

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


def test_without_a_way_the_first_reason_and_its_fix_are_said(request_: Request) -> None:
    """The others may come of it: the next ways support less."""
    first = Plot(start_failure="too old", fix="use a newer Python")
    with pytest.raises(SamplerFailed, match="failed at start: too old; use a newer Python"):
        InProcessAttachment(request_, 0, (first.way, Plot(start_failure="no thread").way))
    assert FORKS.live == []
    with pytest.raises(SamplerFailed, match="failed at start: no thread; use sampler='none'"):
        InProcessAttachment(request_, 0, (Plot(start_failure="no thread").way,))


def test_each_step_is_logged_and_kept_with_its_reason(
    request_: Request, caplog: pytest.LogCaptureFixture
) -> None:
    first, second, third = (
        Plot(Kind.INTERPRETER, start_failure="a filter", fix="allow it"), Plot(Kind.TIMER), Plot(Kind.THREAD),
    )  # fmt: skip
    one = InProcessAttachment(request_, 0, (first.way, second.way, third.way))
    assert caplog.messages == [
        "a subinterpreter cannot sample this program: a filter; allow it; sampling with a signal handler "
        "instead"
    ]
    second.failure = "it needs the signal"
    one.poll()
    assert caplog.messages[1:] == [
        "a signal handler cannot sample this program: it needs the signal; sampling with a thread instead"
    ]
    left = (("interpreter", "a filter"), ("timer", "it needs the signal"))
    assert [plot.requests[0].left for plot in (first, second, third)] == [(), left[:1], left]
    one.kill()


def test_a_failure_before_the_stop_is_not_success(request_: Request) -> None:
    """A subinterpreter that fails has ended, too: the next way is taken."""
    first, second = Plot(Kind.INTERPRETER, running=True), Plot(running=True)
    one = InProcessAttachment(request_, 0, (first.way, second.way))
    assert one.poll() is SessionState.RUNNING
    first.failure, first.ended = "no stack could be read for 2 s", True
    assert one.poll() is SessionState.RUNNING
    assert one.kind is Kind.THREAD
    one.kill()


def test_a_failure_after_the_stop_is_reported(request_: Request) -> None:
    plot = Plot(running=True)
    one = InProcessAttachment(request_, 0, (plot.way, Plot().way))
    assert one.poll() is SessionState.RUNNING
    one.request_stop()
    plot.failure = "No space left on device"
    with pytest.raises(SamplerFailed, match="failed at stop: No space left"):
        one.poll()
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


def test_a_failure_after_a_fork_is_reported_by_the_next_poll(
    request_: Request, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is logged during a fork: another thread may hold what that needs."""
    first, second = Plot(Kind.TIMER, running=True), Plot(running=True)
    one = InProcessAttachment(request_, 0, (first.way, second.way))
    first.failure = second.failure = "no thread"
    FORKS.begin()
    FORKS.end()
    assert caplog.messages == []
    assert one.kind is Kind.THREAD
    FORKS.begin()
    FORKS.end()
    with pytest.raises(SamplerFailed, match="no thread"):
        one.poll()


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
