from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.errors import SamplerFailed, SamplerTimeout
from profkit.model.session import Segment, SessionState
from profkit.samplers.base import Pauses, await_state, log_path, output_of, output_path

PREPARING, RUNNING, PROCESSING, SUCCESS, FAILED, _ = SessionState


class Recited:
    """An attachment that recites states, and then stays in the last one."""

    def __init__(self, *states: SessionState | Exception, interval_s: float = 1.0) -> None:
        self.polls = 0
        self._states: Iterator[SessionState | Exception] = iter(states)
        self._last: SessionState | Exception = PREPARING
        self.pauses = Pauses(interval_s, 2, math.inf)

    def segment(self) -> Segment:
        return Segment(0, 0)

    def poll(self) -> SessionState:
        self.polls += 1
        self._last = next(self._states, self._last)
        if isinstance(self._last, Exception):
            raise self._last
        return self._last

    def request_stop(self) -> None: ...

    def stop_timeout_s(self) -> float:
        return 1.0

    def resident_bytes(self) -> int:
        return 0

    def kill(self) -> None: ...


def test_polls_until_the_state_is_there():
    clock = ManualClock()
    attachment = Recited(PREPARING, PREPARING, RUNNING)
    assert await_state(attachment, RUNNING, 60, clock, "-") is RUNNING
    assert (attachment.polls, clock.monotonic_s()) == (3, 1 + 2)


@pytest.mark.parametrize("past", [PROCESSING, SUCCESS, FAILED])
def test_a_state_past_the_wanted_one_ends_the_wait(past: SessionState):
    assert await_state(Recited(PREPARING, past), RUNNING, 60, ManualClock(), "-") is past


def test_one_deadline_however_the_interval_grows():
    clock = ManualClock(start_s=100)
    attachment = Recited(RUNNING)
    with pytest.raises(
        SamplerTimeout, match=r"pyspy was not SUCCESS within 10 s; raise the_option"
    ) as caught:
        await_state(attachment, SUCCESS, 10, clock, "the_option", sampler="pyspy")
    assert clock.monotonic_s() == 110
    assert attachment.polls == 5, "at 0, 1, 3, 7 and, last, at the deadline"
    assert caught.value.timeout_s == 10


def test_a_look_is_taken_even_without_time():
    assert await_state(Recited(RUNNING), RUNNING, 0, ManualClock(), "-") is RUNNING
    with pytest.raises(SamplerTimeout):
        await_state(Recited(PREPARING), RUNNING, 0, ManualClock(), "-")


def test_the_state_at_the_deadline_counts():
    assert await_state(Recited(PREPARING, RUNNING, interval_s=50), RUNNING, 10, ManualClock(), "-") is RUNNING


def test_what_a_poll_raises_passes():
    with pytest.raises(SamplerFailed):
        await_state(Recited(PREPARING, SamplerFailed("x", "start", "y", "z")), RUNNING, 9, ManualClock(), "-")


def test_backing_off():
    waits = [Pauses(0.05, 1.5, 1.0).after_s(attempt) for attempt in range(20)]
    assert waits[0] == 0.05
    assert waits == sorted(waits)
    assert waits[-1] == 1.0
    assert Pauses(0.0003, 1.03, 0.005).after_s(10**9) == 0.005


def test_files_are_named_by_their_segment(tmp_path: Path):
    for index, stem in ((0, "segment-000"), (41, "segment-041"), (1234, "segment-1234")):
        outputs = [output_path(tmp_path, index, sampler) for sampler in ("pyspy", "cpython")]
        assert outputs == [tmp_path / f"{stem}.speedscope.json", tmp_path / f"{stem}.stacks"]
        assert log_path(tmp_path, index) == tmp_path / f"{stem}.log"
        assert output_of(log_path(tmp_path, index).name) is None
        assert [output_of(path.name) for path in outputs] == [(index, "pyspy"), (index, "cpython")]


@pytest.mark.parametrize("number", ["", "1", "0001", "-01", "٣٣٣", "9" * 10])
def test_other_files_are_no_outputs(number: str):
    assert output_of(f"segment-{number}.speedscope.json") is None
