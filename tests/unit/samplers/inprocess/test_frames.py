"""Rounds of frames: late ones count for the time since the last, and a failure is reported by `check`."""

from __future__ import annotations

import errno
import os
import posix
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import NoReturn

import pytest

from profkit.clock import SYSTEM_CLOCK, ManualClock
from profkit.process.background import is_gil_enabled
from profkit.samplers.inprocess import frames
from profkit.samplers.inprocess.frames import FrameRounds, Threads, ThreadWay, main_ident
from profkit.samplers.inprocess.timer import TimerWay
from profkit.samplers.inprocess.ways import (
    Kind,
    Request,
    WayFailed,
    check_frames,
    has_other_interpreters,
)
from profkit.samplers.stack_journal import Inside, StackJournal, read_journal
from tests.integration.harness import environment

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


def test_the_main_thread_has_the_number_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """gevent lists it by the number of a greenlet."""
    monkeypatch.setattr(threading, "_active", {77: threading.main_thread()})
    known = Threads(os.getpid())
    ident = threading.get_ident()
    assert known.tid(ident) == os.getpid()
    assert known.name(os.getpid(), os.getpid()) == "MainThread"
    with ThreadPoolExecutor(1) as others:
        assert others.submit(lambda: Threads(os.getpid()).tid(ident)).result() == os.getpid()


def test_the_main_thread_is_known_if_another_one_asks_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_MAIN", {})
    with ThreadPoolExecutor(1) as others:
        assert others.submit(main_ident).result() == threading.get_ident()


def test_other_threads_have_their_own_numbers_and_names(monkeypatch: pytest.MonkeyPatch) -> None:
    class Named(threading.Thread):
        @property
        def name(self) -> str:  # type: ignore[override]
            raise AssertionError("the program's code runs")

    thread = Named()
    thread.__dict__.update(_native_id=12, _name="worker")
    active = {5: thread, 6: SimpleNamespace(_native_id=None, _name="greenlet")}
    monkeypatch.setattr(threading, "_active", active)
    known = Threads(os.getpid())
    assert [known.tid(ident) for ident in (5, 6, 7)] == [12, 6, 7]
    assert known.name(os.getpid(), 12) == "worker"


BESIDE_AN_INTERPRETER = """
import importlib, sys
from profkit.samplers.inprocess.ways import has_other_interpreters
from profkit.samplers.inprocess.ways import WayFailed
from tests.unit.samplers.inprocess.test_frames import WAYS, request_in, sample_until_failure

make, request = WAYS[sys.argv[1]], request_in(sys.argv[2])
name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
interpreters = importlib.import_module(name)
assert not has_other_interpreters()
way = make(request)
way.start()
number = interpreters.create()
failures = []
for work in (lambda: make(request).start(), lambda: sample_until_failure(way)):
    try:
        work()
    except WayFailed as failure:
        failures.append("has subinterpreters" in str(failure))
assert has_other_interpreters()
way.stop()
way.await_end()
interpreters.destroy(number)
assert not has_other_interpreters()
assert failures == [True, True], failures
"""
WAYS: dict[str, type[TimerWay | ThreadWay]] = {"timer": TimerWay, "thread": ThreadWay}


def request_in(folder: str) -> Request:
    path = Path(folder)
    return Request(os.getpid(), path / "output", path / "log", 100.0, True, 60.0, SYSTEM_CLOCK)


@pytest.mark.parametrize("way", WAYS)
def test_frames_are_not_listed_beside_subinterpreters(tmp_path: Path, way: str) -> None:
    """CPython 3.12 and later may crash then. In a process of its own: others stop checking the GIL."""
    if sys.version_info < (3, 12):
        assert not has_other_interpreters()
        return
    done = subprocess.run(
        [sys.executable, "-c", BESIDE_AN_INTERPRETER, way, str(tmp_path)], env=environment(),
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_frames_of_3_13_are_not_read_without_a_gil(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading them can crash there, which 3.14 fixed."""
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    monkeypatch.setattr(sys, "version_info", (3, 14))
    check_frames()
    monkeypatch.setattr(sys, "version_info", (3, 13))
    with pytest.raises(WayFailed, match="cannot read the frames of other threads"):
        check_frames()


def sample_until_failure(way: TimerWay | ThreadWay) -> None:
    until_s = SYSTEM_CLOCK.monotonic_s() + 30
    while SYSTEM_CLOCK.monotonic_s() < until_s:
        way.is_running()
        SYSTEM_CLOCK.sleep(0.001)
