"""Rounds of frames: late ones count for the time since the last, and a failure is reported by `check`."""

from __future__ import annotations

import errno
import os
import posix
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NoReturn

import pytest

from profkit.clock import ManualClock
from profkit.samplers.inprocess import frames
from profkit.samplers.inprocess.frames import FrameRounds
from profkit.samplers.inprocess.ways import Kind, Request, WayFailed, is_gil_enabled
from profkit.samplers.stack_journal import Inside, StackJournal, read_journal

PERIOD_S = 0.01
PID = 77


class Scene:
    """Rounds with a clock of their own, in a process whose threads are set by the test."""

    def __init__(self, folder: Path) -> None:
        self.clock, self.output = ManualClock(), folder / "output"
        self.used_s = self.cost_s = 0.0
        """Processor time so far, and that of a round."""
        self.is_in_round = True
        request = Request(PID, self.output, folder / "log", 100.0, True, 60.0, self.clock)
        self.rounds = FrameRounds(request, Kind.THREAD, PERIOD_S, self.cpu_s)

    def cpu_s(self) -> float:
        """Return the processor time; it is asked for at the beginning and end of each round."""
        self.is_in_round = not self.is_in_round
        self.used_s += self.cost_s * self.is_in_round
        return self.used_s

    def sample(self, after_s: float = PERIOD_S) -> None:
        self.clock.advance(after_s)
        self.rounds.sample(-1)

    def journal(self) -> StackJournal:
        self.rounds.write("asked")
        return read_journal(self.output.read_bytes())


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    frame = sys._getframe()
    monkeypatch.setattr(sys, "_current_frames", lambda: {threading.get_ident(): frame, -1: frame, 12: frame})
    return Scene(tmp_path)


def raising(error: Exception) -> Callable[..., NoReturn]:
    def fail(*_: object) -> NoReturn:
        raise error

    return fail


def disk_with(room: int) -> Callable[[int, bytes], int]:
    """Return a `write` that has room for so many bytes."""
    write, left = posix.write, [room]

    def write_some(file: int, data: bytes) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = write(file, data[: left[0]])
        left[0] -= written
        return written

    return write_some


def weights(journal: StackJournal) -> dict[int, int]:
    found: dict[int, int] = {}
    for sample in journal.profile.samples:
        tid = journal.profile.threads[sample.thread].tid
        found[tid] = found.get(tid, 0) + sample.weight
    return found


def test_each_round_has_all_threads_but_ones_own(scene: Scene) -> None:
    for _ in range(5):
        scene.sample()
    journal = scene.journal()
    assert weights(journal) == {PID: 5, 12: 5}
    assert (journal.rounds, journal.pid) == (5, PID)
    assert journal.inside == (Inside("thread", gil=is_gil_enabled()),)
    assert {thread.name for thread in journal.profile.threads} == {"MainThread", ""}
    leaf = journal.profile.frames[journal.profile.stacks[0][-1]]
    assert (leaf.name, leaf.file) == ("scene", __file__)


def test_late_rounds_count_for_the_time_since_the_last(scene: Scene) -> None:
    scene.sample()
    scene.sample(0.055)
    scene.sample(0.0049)
    scene.sample(0.0049)
    scene.sample(0.0101)
    assert scene.journal().rounds == 1 + 5 + 0 + 1 + 1


def test_the_time_of_a_pause_does_not_count(scene: Scene) -> None:
    scene.sample()
    scene.clock.advance(5)
    scene.rounds.begin(PERIOD_S)
    scene.sample(0.0101)
    assert scene.journal().rounds == 2


def test_rounds_that_come_in_time_count_as_much_as_those_that_are_late_at_first(scene: Scene) -> None:
    scene.rounds.begin(PERIOD_S)
    begun_s = scene.clock.monotonic_s()
    for number, periods in enumerate((1.6, 2.0, 3.3, 4.0, 5.9, 6.0), 1):
        scene.sample(begun_s + periods * PERIOD_S - scene.clock.monotonic_s())
        assert scene.rounds._rounds == number


def test_the_first_round_may_be_due_at_once(scene: Scene) -> None:
    scene.rounds.begin(0.0)
    scene.sample(0.0)
    scene.sample(0.5 * PERIOD_S)
    assert scene.journal().rounds == 1


def test_it_writes_at_first_and_then_now_and_then(scene: Scene) -> None:
    sizes = []
    for _ in range(100):
        scene.sample()
        sizes.append(scene.output.stat().st_size)
    assert sizes[0] > 0
    assert len(set(sizes)) == 3


def test_a_write_that_fails_is_reported_later(scene: Scene) -> None:
    assert not scene.rounds.check()
    scene.output.mkdir()
    scene.sample()
    with pytest.raises(WayFailed, match="Is a directory"):
        scene.rounds.check()


@pytest.mark.parametrize("place", ["stack", "add"])
def test_an_interrupt_leaves_a_journal_that_can_be_read(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    scene.sample()
    broken = scene.rounds._journal
    original: Callable[..., object] = getattr(broken, place)

    def interrupted(*arguments: object) -> object:
        original(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(broken, place, interrupted)
    with pytest.raises(KeyboardInterrupt):
        scene.sample()
    scene.sample()
    journal = scene.journal()
    assert journal.rounds == 2
    assert sum(weights(journal).values()) == 4


def test_an_interrupted_frame_takes_the_place_of_the_samplers(scene: Scene) -> None:
    frame: FrameType = sys._getframe()
    scene.clock.advance(PERIOD_S)
    scene.rounds.sample(-1, frame)
    profile = scene.journal().profile
    leaves = {profile.frames[stack[-1]].name for stack in profile.stacks}
    assert "test_an_interrupted_frame_takes_the_place_of_the_samplers" in leaves


def test_rounds_that_take_long_are_taken_less_often_and_count_as_much(scene: Scene) -> None:
    for _ in range(10):
        scene.sample()
    scene.cost_s = 0.009
    for _ in range(1000):
        scene.sample()
    used_s = scene.used_s
    for _ in range(1000):
        scene.sample()
    assert 0.025 < (scene.used_s - used_s) / (1000 * PERIOD_S) < 0.05
    journal = scene.journal()
    assert 10 + 2000 - 32 < journal.rounds <= 10 + 2000
    assert set(weights(journal).values()) == {journal.rounds}
    assert journal.rarest == 32


def test_one_round_that_takes_long_changes_nothing(scene: Scene) -> None:
    for number in range(100):
        scene.cost_s = 0.1 * (number % 10 == 5)
        scene.sample()
    assert (scene.journal().rounds, scene.journal().rarest) == (100, 1)


def test_rounds_are_taken_more_often_again(scene: Scene) -> None:
    for scene.cost_s in (0.009, 0.0001):
        for _ in range(200):
            scene.sample()
    written = scene.output.read_bytes()
    scene.rounds.write()
    assert b"q 32\n" in written
    assert b"q 1\n" in written


def test_rounds_of_any_length_are_at_most_some_seconds_apart(scene: Scene) -> None:
    scene.cost_s = 5.0
    for _ in range(3000):
        scene.sample()
    assert scene.rounds.interval_s == pytest.approx(2.56)


@pytest.mark.parametrize("error", [RecursionError(), MemoryError()])
def test_a_program_at_its_limit_loses_samples_which_are_counted(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    for _ in range(3):
        scene.sample()
    with monkeypatch.context() as patches:
        patches.setattr(frames, "frames_of", raising(error))
        with pytest.raises(type(error)):
            scene.sample()
    scene.rounds.error = error
    assert scene.rounds.check()
    for _ in range(5):
        scene.sample()
    journal = scene.journal()
    assert (journal.rounds, journal.dropped) == (1 + 5, {("", ""): 3})


def test_another_failure_ends_the_sampling(scene: Scene) -> None:
    scene.rounds.error = KeyError("x")
    with pytest.raises(WayFailed, match="KeyError: 'x'"):
        scene.rounds.check()
    scene.sample()
    assert not scene.output.exists()


def test_a_disk_that_is_full_for_a_while_costs_what_it_has_no_room_for(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(50):
        scene.sample()
    before = scene.output.read_bytes()
    with monkeypatch.context() as patches:
        patches.setattr(posix, "write", disk_with(20))
        for _ in range(50):
            scene.sample()
    assert scene.output.read_bytes() == before
    scene.rounds.write("asked")
    with pytest.raises(WayFailed, match="No space left on device"):
        scene.rounds.check()
    assert read_journal(before).rounds == 41


def test_subinterpreters_of_the_program_end_the_sampling(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.sample()
    monkeypatch.setattr(frames, "has_other_interpreters", lambda: True)
    scene.sample()
    with pytest.raises(WayFailed, match="subinterpreters"):
        scene.rounds.check()
    assert scene.journal().rounds == 1
