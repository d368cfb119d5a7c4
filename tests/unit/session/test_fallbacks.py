"""The ways to sample a session: which is next after a failure, what is said, and when it is tried again."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.config import read_config
from profkit.errors import AttachDenied, SamplerError, SamplerFailed, SamplerMissing, SamplerTimeout
from profkit.model.notes import Note, NoteCode
from profkit.model.region import CALLS_ONLY
from profkit.model.session import SessionState
from profkit.samplers.base import PTRACE, READ, LiveStacks
from profkit.samplers.options import Blocking, SamplerOptions
from profkit.samplers.registry import Fallback
from profkit.session.counters import Policy
from profkit.session.failures import RETRY_AFTER_S, Failures
from profkit.session.fallbacks import LONGEST_WAIT_S, Fallbacks, RecentFailures, socket_message
from profkit.session.manager import SessionManager
from profkit.session.session import Session
from tests.stand_ins.scripted_sampler import Script, ScriptedSampler, scripted_fallbacks
from tests.unit.process.test_sockets import TIMEOUT, timed_socket

AUTO = SamplerOptions()
LIVE = LiveStacks(1, 5)


def fallback(name: str, *needs: str, options: SamplerOptions = AUTO) -> Fallback:
    sampler = ScriptedSampler(Script())
    sampler.name = name
    return Fallback(sampler, options, frozenset(needs))


FALLBACKS = (fallback("reader", READ), fallback("stopper", READ, PTRACE),
          fallback("stopper", READ, options=SamplerOptions(blocking=False)), fallback("insider"))  # fmt: skip


@dataclass
class Process:
    """A process whose sessions begin one after another."""

    clock: ManualClock = field(default_factory=ManualClock)
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.recent = RecentFailures(self.clock, self.said.append)

    def fallbacks(
        self,
        list_fallbacks: Sequence[Fallback] = FALLBACKS,
        options: SamplerOptions = AUTO,
        *,
        strict: bool = False,
    ) -> Fallbacks:
        return Fallbacks(lambda _: list_fallbacks, options, self.recent, strict=strict)


@pytest.fixture
def process() -> Process:
    return Process()


def denied(*refused: str) -> AttachDenied:
    return AttachDenied("sampler", 1, "ask", frozenset(refused))


def failed() -> SamplerFailed:
    return SamplerFailed("sampler", "start", "it is tired", "let it rest")


def reached(fallbacks: Fallbacks) -> tuple[str, bool]:
    plan = fallbacks.plan(LIVE)
    return fallbacks.sampler.name, bool(plan.blocking)


@pytest.mark.parametrize(
    ("failure", "names"),
    [
        (lambda: denied(PTRACE), ["reader", "stopper", "insider", CALLS_ONLY]),
        (lambda: denied(READ), ["reader", "insider", CALLS_ONLY]),
        (lambda: denied(READ, PTRACE), ["reader", "insider", CALLS_ONLY]),
        (lambda: denied(), ["reader", "stopper", "stopper", "insider", CALLS_ONLY]),
        (failed, ["reader", "stopper", "insider", CALLS_ONLY]),
    ],
    ids=["ptrace", "read", "both", "unknown", "failed"],
)
def test_ways_that_would_fail_as_well_are_left_out(
    process: Process, tmp_path: Path, failure: Callable[[], SamplerError], names: list[str]
) -> None:
    fallbacks = process.fallbacks()
    climbed = [fallbacks.sampler.name]
    while fallbacks.sampler.name != CALLS_ONLY:
        fallbacks.step_down(failure(), tmp_path)
        climbed.append(fallbacks.sampler.name)
    assert climbed == names
    notes = fallbacks.plan(LIVE).notes
    assert len(notes) == len(process.said) == len(names) - 1
    assert notes[-1].code is NoteCode.NOT_SAMPLED
    assert {note.code for note in notes[:-1]} == {NoteCode.SAMPLER_REPLACED}
    assert process.said[-1].endswith("; recording calls and wall times without samples")


def test_the_same_sampler_without_stops_is_said_so(process: Process, tmp_path: Path) -> None:
    fallbacks = process.fallbacks(FALLBACKS[1:])
    fallbacks.step_down(denied(PTRACE), tmp_path)
    said = "sampler may not read process 1; ask"
    assert process.said == [f"{said}; sampling with stopper with blocking=False instead"]
    assert fallbacks.plan(LIVE).notes == (
        Note.of(NoteCode.SAMPLER_REPLACED, sampler="stopper", by="stopper with blocking=False", detail=said),
    )


def test_a_chosen_sampler_has_no_replacement_and_its_failure_is_an_error(
    process: Process, tmp_path: Path
) -> None:
    fallbacks = process.fallbacks(FALLBACKS[:1], SamplerOptions("reader"))
    assert fallbacks.failure is None
    fallbacks.step_down(failed(), tmp_path)
    assert fallbacks.sampler.name == CALLS_ONLY
    assert fallbacks.failure == str(failed())
    assert fallbacks.plan(LIVE).notes == ()


def test_a_strict_policy_raises_the_last_failure_at_once_and_until_the_next_try(
    process: Process, tmp_path: Path
) -> None:
    fallbacks = process.fallbacks(FALLBACKS[:1], strict=True)
    with pytest.raises(SamplerFailed, match="tired"):
        fallbacks.step_down(failed(), tmp_path)
    with pytest.raises(SamplerFailed, match="tired"):
        process.fallbacks(FALLBACKS[:1], strict=True)
    process.clock.advance(RETRY_AFTER_S)
    assert process.fallbacks(FALLBACKS[:1], strict=True).sampler.name == "reader"
    assert process.said == []


def test_a_strict_call_does_not_join_a_session_without_samples(process: Process, tmp_path: Path) -> None:
    fallbacks = process.fallbacks(FALLBACKS[:1])
    fallbacks.raise_if_unsampled()
    fallbacks.step_down(failed(), tmp_path)
    with pytest.raises(SamplerFailed, match="tired"):
        fallbacks.raise_if_unsampled()


def test_missing_programs(process: Process) -> None:
    stopper = fallback("stopper", READ)
    missing = replace(stopper, missing=SamplerMissing("stopper", "stopper", "install it"))
    fallbacks = process.fallbacks([missing, FALLBACKS[-1]])
    assert fallbacks.sampler.name == "insider"
    fallbacks = process.fallbacks([missing])
    assert fallbacks.sampler.name == CALLS_ONLY
    assert [line.partition("install it; ")[2] for line in process.said] == [
        "sampling with insider instead",
        "recording calls and wall times without samples",
    ]
    with pytest.raises(SamplerMissing):
        process.fallbacks([missing], strict=True)
    assert not fallbacks.may_retry()
    process.clock.advance(RETRY_AFTER_S)
    assert fallbacks.may_retry()


def test_later_fallbacks_begin_below_and_the_wait_doubles(process: Process, tmp_path: Path) -> None:
    waits: list[float] = []
    for _ in range(9):
        fallbacks = process.fallbacks(FALLBACKS[:1])
        fallbacks.step_down(failed(), tmp_path)
        start_s = process.clock.monotonic_s()
        while not fallbacks.may_retry():
            assert process.fallbacks(FALLBACKS[:1]).sampler.name == CALLS_ONLY
            process.clock.advance(RETRY_AFTER_S / 2)
        waits.append(process.clock.monotonic_s() - start_s)
    assert waits[:4] == [RETRY_AFTER_S, 2 * RETRY_AFTER_S, 4 * RETRY_AFTER_S, 8 * RETRY_AFTER_S]
    assert waits[-1] == LONGEST_WAIT_S
    process.recent.forget()
    assert process.fallbacks(FALLBACKS[:1]).sampler.name == "reader"


def test_the_deadline_of_a_start_is_that_of_all_samplers(process: Process, tmp_path: Path) -> None:
    fallbacks = process.fallbacks()
    fallbacks.step_down(SamplerTimeout("reader", "RUNNING", 0.1, "timeout_wait_for_running_sec"), tmp_path)
    assert reached(fallbacks) == (CALLS_ONLY, False)
    (line,) = process.said
    assert "raise timeout_wait_for_running_sec" in line
    assert line.endswith("; recording calls and wall times without samples")
    assert reached(process.fallbacks())[0] == "stopper", "the next start has time for it"
    with pytest.raises(SamplerTimeout):
        process.fallbacks(strict=True).step_down(
            SamplerTimeout("stopper", "RUNNING", 0.1, "option"), tmp_path
        )


def test_a_session_that_still_samples_needs_no_other_try(process: Process, tmp_path: Path) -> None:
    fallbacks = process.fallbacks()
    fallbacks.step_down(failed(), tmp_path)
    process.clock.advance(10 * LONGEST_WAIT_S)
    assert not fallbacks.may_retry()


def test_a_failure_of_other_options_is_none_of_these(process: Process, tmp_path: Path) -> None:
    process.fallbacks(FALLBACKS[:1]).step_down(failed(), tmp_path)
    other = fallback("reader", READ, options=SamplerOptions(rate_hz=7.0))
    assert process.fallbacks((other,)).sampler.name == "reader"


def test_a_folder_that_cannot_be_written_is_no_failure_of_the_sampler(
    process: Process, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    fallbacks = process.fallbacks()
    with pytest.raises(SamplerFailed):
        fallbacks.step_down(failed(), gone)
    assert not os.path.exists(gone)
    assert fallbacks.sampler.name == "reader"
    assert process.said == []


def test_a_way_that_works_again_is_retried_soon_when_it_fails_next(process: Process, tmp_path: Path) -> None:
    for _ in range(8):  # the wait doubles each time
        fallbacks = process.fallbacks(FALLBACKS[:1])
        fallbacks.step_down(failed(), tmp_path)
        process.clock.advance(LONGEST_WAIT_S)
    process.fallbacks(FALLBACKS[:1]).succeed()
    fallbacks = process.fallbacks(FALLBACKS[:1])
    fallbacks.step_down(failed(), tmp_path)
    assert not fallbacks.may_retry()
    process.clock.advance(RETRY_AFTER_S)
    assert fallbacks.may_retry()


Open = Callable[..., Session]


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    messages: list[str] = []
    monkeypatch.setattr(Failures, "say_once", lambda self, message: messages.append(message))
    return messages


@pytest.fixture
def manager(tmp_path: Path, script: Script, said: list[str]) -> SessionManager:
    return SessionManager(read_config({}, tmp_path), ManualClock(), scripted_fallbacks(script))


@pytest.fixture
def opened(manager: SessionManager) -> Open:
    def open_it(blocking: Blocking = "auto", *, native: bool = False, strict: bool = True) -> Session:
        options = SamplerOptions(blocking=blocking, native=native)
        return manager._new_session(options, Policy(strict=strict))

    return open_it


def test_a_start_that_fails_by_chance_is_tried_again(opened: Open, script: Script) -> None:
    script.fail_starts = 1
    session = opened()
    session.begin_segment(Policy())
    assert (script.attached, script.killed) == (2, 1)
    assert session.manifest.state is SessionState.RUNNING
    assert session.manifest.notes == (
        Note.of(NoteCode.STARTED_TWICE, sampler="scripted", segment=0, detail="bad luck"),
    )
    assert session.manifest.segments[0].error is None


def test_there_is_no_third_try(opened: Open, script: Script) -> None:
    script.fail_starts = 2
    session = opened()
    with pytest.raises(SamplerFailed, match=r"bad luck \(the second of two tries; the first: bad luck\)"):
        session.begin_segment(Policy())
    assert (script.attached, script.killed) == (2, 2)
    assert session.attachment is None
    assert "two tries" in (session.manifest.segments[0].error or "")


def test_what_will_not_pass_is_tried_once(opened: Open, script: Script) -> None:
    script.died = True
    with pytest.raises(SamplerFailed, match="it died"):
        opened().begin_segment(Policy())
    assert script.attached == 1


def test_a_sampler_that_was_stopped_is_the_reason_of_the_end(
    opened: Open, script: Script, said: list[str]
) -> None:
    session = opened()
    session.begin_segment(Policy())
    script.warning = "somebody stopped it"
    session.end("the sampler ended unexpectedly")
    assert session.manifest.error == "the sampler ended unexpectedly: somebody stopped it"
    assert session.manifest.notes == (Note.of(NoteCode.SAMPLER_INTERRUPTED, detail="somebody stopped it"),)
    assert said == ["sampling was interrupted: somebody stopped it"]


def test_sockets_with_a_timeout_at_the_start(opened: Open, script: Script) -> None:
    with timed_socket():
        assert not opened().plan.blocking
    assert opened().plan.blocking
    assert [live.timed_sockets for live in script.lives] == [True, False]


def test_sockets_that_get_a_timeout_later(opened: Open, said: list[str]) -> None:
    session = opened()
    assert not session.check_stops()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert not session.check_stops()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, TIMEOUT)
        assert session.check_stops()
        assert not session.check_stops()
    assert not session.plan.blocking
    assert session.plan.notes == (Note(NoteCode.NONBLOCKING_SOCKETS),)
    assert said == []


def test_blocking_is_decided_again_when_stacks_are_deeper(opened: Open, script: Script) -> None:
    session = opened()

    def deep(frames: int) -> bool:
        return deep(frames - 1) if frames else session.check_stops()

    script.most_frames = 800
    assert not session.check_stops()
    assert deep(900)
    assert not session.plan.blocking


def test_blocking_that_was_requested_is_not_kept_and_that_is_said(opened: Open, said: list[str]) -> None:
    session = opened(blocking=True)
    with timed_socket():
        assert session.check_stops()
        assert not session.check_stops()
    assert not session.plan.blocking
    assert said == [socket_message(blocking=False)]


def test_blocking_that_was_requested_is_not_kept_from_the_start(opened: Open, said: list[str]) -> None:
    with timed_socket():
        assert not opened(blocking=True).plan.blocking
    assert said == [socket_message(blocking=False)]


def test_blocking_that_calls_alone_do_not_need_is_no_matter_of_sockets(
    opened: Open, manager: SessionManager, said: list[str]
) -> None:
    opened(blocking=True).fallbacks.refuse(SamplerFailed("scripted", "sampling", "it ended", "try later"))
    session = opened(blocking=True, strict=False)
    assert session.plan.sampler == CALLS_ONLY
    assert not [line for line in said if "sockets" in line], said


def test_blocking_of_a_sampler_that_cannot_do_without_is_warned_about(opened: Open, said: list[str]) -> None:
    session = opened(native=True)
    with timed_socket():
        assert not session.check_stops()
        assert not session.check_stops()
    assert session.plan.blocking
    assert session.plan.notes == (Note(NoteCode.TIMEOUTS_RESTART),)
    assert said == [socket_message(blocking=True)]
