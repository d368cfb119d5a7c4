"""A session and its sampler: second tries, what somebody did to it, and sockets that appear meanwhile."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.config import read_config
from profkit.errors import SamplerFailed
from profkit.model.notes import Note, NoteCode
from profkit.model.region import CALLS_ONLY
from profkit.model.session import SessionState
from profkit.samplers.options import Blocking, SamplerOptions
from profkit.session.counters import Policy
from profkit.session.failures import Failures
from profkit.session.fallbacks import socket_message
from profkit.session.manager import SessionManager
from profkit.session.session import Session
from tests.stand_ins.scripted_sampler import Script, scripted_fallbacks
from tests.support.example_counters import counters_of
from tests.unit.process.test_sockets import TIMEOUT, timed_socket

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
        return manager._new_session(counters_of(options=options, strict=strict))

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
