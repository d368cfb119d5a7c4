"""Rounds of frames: late ones count for the time since the last, and a failure is reported by `check`."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from profkit.clock import ManualClock
from profkit.samplers.inprocess import frames
from profkit.samplers.inprocess.frames import FrameRounds
from profkit.samplers.inprocess.ways import Kind, Request, WayFailed
from profkit.samplers.stack_journal import StackJournal, read_journal

PERIOD_S = 0.01
PID = 77


class Scene:
    """Rounds with a clock of their own, in a process whose threads are set by the test."""

    def __init__(self, folder: Path) -> None:
        self.clock, self.output = ManualClock(), folder / "output"
        self.rounds = FrameRounds(
            Request(PID, self.output, folder / "log", 100.0, True, 60.0, self.clock), Kind.THREAD, PERIOD_S
        )

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
    assert weights(journal) == {threading.get_native_id(): 5, 12: 5}
    assert (journal.rounds, journal.kinds, journal.pid) == (5, ("thread",), PID)
    names = {thread.name for thread in journal.profile.threads}
    assert threading.current_thread().name in names
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


def test_threads_that_threading_does_not_know(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "threading", None)
    assert frames.main_ident() is None
    scene.sample()
    assert weights(scene.journal()) == {threading.get_ident(): 1, 12: 1}
