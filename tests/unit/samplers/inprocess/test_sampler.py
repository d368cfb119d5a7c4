"""Options, plan and reading of the sampler in the process itself."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.errors import DamagedFile, InvalidOption, SamplerFailed
from profkit.model.notes import Note, NoteCode
from profkit.model.session import Segment, SessionState
from profkit.samplers.base import LiveStacks, output_path
from profkit.samplers.inprocess.forks import FORKS
from profkit.samplers.inprocess.sampler import MOST_FORKS, InProcessAttachment, InProcessSampler, Maker
from profkit.samplers.inprocess.ways import Kind, Request, WayFailed
from profkit.samplers.options import SamplerOptions
from profkit.store.files import open_spool

SAMPLER = InProcessSampler()
LIVE = LiveStacks(1, 5)
PLAN = SAMPLER.plan(SamplerOptions(), LIVE)


def test_the_default_is_a_hundred_per_second() -> None:
    assert (PLAN.sampler, PLAN.rate_hz, PLAN.blocking) == ("inprocess", 100.0, False)
    assert SAMPLER.plan(SamplerOptions(rate_hz=20.0), LIVE).rate_hz == 20.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"blocking": True}, "blocking=True"), ({"native": True}, "native=True"),
        ({"subprocesses": True}, "subprocesses=True"), ({"rate_hz": 101.0}, "1 to 100 Hz"),
        ({"idle": False}, "since Python 3.15"), ({"rate_hz": 0.5}, "1 to 100 Hz"),
        ({"gil": True}, "gil=True"),
        ({"async_stacks": True}, "async_stacks=True"),
    ],
)  # fmt: skip
def test_options_that_it_does_not_support(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        SAMPLER.check(SamplerOptions(**options), (3, 14))  # type: ignore[arg-type]


def test_the_reader_of_3_15_supports_more() -> None:
    SAMPLER.check(SamplerOptions(rate_hz=1000.0, idle=False), (3, 15))
    with pytest.raises(InvalidOption, match="1 to 1000 Hz"):
        SAMPLER.check(SamplerOptions(rate_hz=1001.0), (3, 15))


def test_it_samples_its_own_process_only(tmp_path: Path) -> None:
    with pytest.raises(SamplerFailed, match="is another one"):
        SAMPLER.attach(os.getppid(), PLAN, tmp_path, 0, ManualClock())


def test_it_writes_to_folders_that_exist_only(tmp_path: Path) -> None:
    with pytest.raises(SamplerFailed, match="cannot be used"):
        SAMPLER.attach(os.getpid(), PLAN, tmp_path / "gone", 0, ManualClock())


def journal(folder: Path, text: str) -> None:
    output_path(folder, 0, "inprocess").write_text(text)


def test_the_parts_of_a_journal_are_one_recording(tmp_path: Path) -> None:
    part = (
        "profkit-stacks 1 7 10000000\ni \"timer\"\nf {0} \"f.py\"\ns -1 0 3\nt 7 7 \"MainThread\"\n"
        "r 0 0 5\nn 5 0 0\ne \"asked\"\n"
    )  # fmt: skip
    journal(tmp_path, part.format('"f"') + part.format('"g"') + "profkit-stacks 1 7 10000000\n")
    with open_spool(tmp_path, None) as opened:
        recording = SAMPLER.read(opened, Segment(0, 0), PLAN)
    assert (recording.rounds, recording.profile.total_weight) == (10, 10)
    assert [frame.name for frame in recording.profile.frames] == ["f", "g"]
    assert recording.notes == (Note.of(NoteCode.SAMPLED_INSIDE, kind="timer", gil=1, detail=""),)
    assert [thread.pid for thread in recording.profile.threads] == [0]


def test_notes_on_ways_that_failed_and_rounds_that_took_long(tmp_path: Path) -> None:
    journal(
        tmp_path,
        'profkit-stacks 1 7 10000000\ni "thread"\ng\nl "timer" "it is used"\nq 3\nq 20\nq 1\nn 99 0 0\n',
    )
    with open_spool(tmp_path, None) as opened:
        notes = SAMPLER.read(opened, Segment(0, 0), PLAN).notes
    assert notes == (
        Note.of(NoteCode.SAMPLED_INSIDE, kind="thread", gil=0, detail="timer: it is used"),
        Note.of(NoteCode.SAMPLED_RARELY, rate_hz=5.0, requested_hz=100.0),
    )


@pytest.mark.parametrize("text", ["profkit-stacks 1 7 10\nn 1 0 0\n", "nonsense\n"])
def test_damage_is_named(tmp_path: Path, text: str) -> None:
    journal(tmp_path, text)
    with open_spool(tmp_path, None) as opened, pytest.raises(DamagedFile, match=r"inprocess\.stacks"):
        SAMPLER.read(opened, Segment(0, 0), PLAN)


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
