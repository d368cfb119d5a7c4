"""Rounds of the sampling loop, with processes and a clock that do what a test tells them."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from pathlib import Path

import pytest

from profkit.model.profile import ThreadState
from profkit.samplers.helper import proc_files
from profkit.samplers.helper.journal import ASKED, DURATION, ENDED, UNKNOWN, WAITING, WORKING, Journal
from profkit.samplers.helper.reader import (
    HOLDS_GIL,
    ON_CPU,
    Changing,
    Denied,
    Ended,
    Frameless,
    Process,
    TooDeep,
    Unexpected,
)
from profkit.samplers.helper.sampling import Sampling, Unreadable
from profkit.samplers.helper.thread_states import STOPPED
from profkit.samplers.stack_journal import StackJournal, read_journal

PERIOD_S = 0.01


class Frame:
    """A frame as CPython 3.14 and 3.15 report it."""

    def __init__(self, name: str, line: int = 1) -> None:
        self.funcname, self.filename, self.lineno = name, f"{name}.py", line
        self.location = self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frame) and other.funcname == self.funcname

    def __hash__(self) -> int:
        return hash(self.funcname)


class Scripted(Process):
    """A process whose reads are given: stacks leaf first, or exceptions."""

    def __init__(self, reads: Iterable[str | Exception], pid: int = 7) -> None:
        self.pid, self.seen, self.function, self.is_partial = pid, {}, -1, False
        self.is_stopped = False
        self._reads = iter(reads)
        self.running, self.states, self.closed = True, list[str](), False
        self.thread_states: Iterator[str] = repeat(UNKNOWN)

    def is_running(self) -> bool:
        return self.running

    def state(self, tid: int, *, is_new: bool = True) -> str:
        state = next(self.thread_states)
        self.is_stopped = state == STOPPED
        return state

    def close(self) -> None:
        self.closed = True

    def threads(self) -> dict[int, list[object]]:
        read = next(self._reads, "f")
        if isinstance(read, Exception):
            raise read
        return {1: [Frame(name) for name in reversed(read)]}

    def threads_in(self, state: str) -> dict[int, list[object]]:
        self.states.append(state)
        return self.threads()


class Stage:
    """A sampling loop that is asked to stop after some rounds, and its journal."""

    def __init__(self, folder: Path, process: Process, retries: int = 2,
                 opened: Callable[[int], Process] | None = None) -> None:  # fmt: skip
        self.now_s, self.rounds = 100.0, 0
        self.path = folder / "stacks"
        self.journal = Journal(str(self.path), process.pid, PERIOD_S, lambda pid, tid: f"{pid}/{tid}")
        self.sampling = Sampling(process, self.journal, lambda: self.now_s, retries, opened)
        self.late_s: dict[int, float] = {}
        self.written: list[int] = []

    def run(self, rounds: int, duration_s: float = 1e9) -> str:
        """Sample for some rounds; keep the size of the journal at each."""

        def wait(seconds: float) -> str | None:
            self.written.append(self.path.stat().st_size if self.path.exists() else 0)
            if self.rounds == rounds:
                return ASKED
            self.now_s += seconds + self.late_s.get(self.rounds, 0.0)
            self.rounds += 1
            return None

        reason = self.sampling.run(PERIOD_S, duration_s, wait)
        self.sampling.write(reason)
        return reason

    def read(self) -> StackJournal:
        return read_journal(self.path.read_bytes())


def changing(times: int) -> list[Exception]:
    return [Changing("it moves")] * times


def leaves(journal: StackJournal, pid: int = 7) -> Counter[str]:
    """Weights of the leaves of a process."""
    profile, counted = journal.profile, Counter[str]()
    for sample in profile.samples:
        if profile.threads[sample.thread].pid == pid:
            counted[profile.frames[profile.stacks[sample.stack][-1]].name] += sample.weight
    return counted


FRAMELESS = Frameless("it waits for the GIL")


@pytest.mark.parametrize(
    ("reads", "rounds", "weights", "repeated", "dropped", "unseen"),
    [
        (["ab", "ab", "ac", "ab"], 4, {"b": 3, "c": 1}, 0, {}, 0),
        (["a", *changing(2), "b", *changing(1), "c"], 3, {"a": 1, "b": 1, "c": 1}, 2, {}, 0),
        ([*changing(3), "ab", *changing(6), "ab"], 5, {"b": 2}, 0, {"": 1, "b": 2}, 0),
        (["f", *changing(3)] * 100, 200, {"f": 100}, 0, {"f": 100}, 0),
        (["f"] * 50 + changing(3 * 100) + ["f"] * 10, 160, {"f": 60}, 0, {"f": 100}, 100),
        (["f"] * 50 + changing(3 * 1000), 150, {"f": 50}, 0, {"f": 100}, 99),
        (["a", *[FRAMELESS] * 3, *changing(3)], 3, {"a": 1, "f": 1}, 0, {"a": 1}, 0),
        (["a", *[FRAMELESS] * 3, Ended("it ended")], 3, {"a": 1, "f": 1}, 0, {"a": 1}, 0),
    ],
    ids=[
        "each round is a sample", "a stack that changes is read again", "by the function seen before",
        "some rounds are only lost", "what cannot be read for long is not seen", "until it ends",
        "no thread can be read", "no thread any more",
    ],
)  # fmt: skip
def test_rounds(
    reads: list[str | Exception], rounds: int, weights: dict[str, int], repeated: int,
    dropped: dict[str, int], unseen: int, tmp_path: Path,
) -> None:  # fmt: skip
    stage = Stage(tmp_path, Scripted(reads))
    assert stage.run(rounds) == ASKED
    journal = stage.read()
    assert leaves(journal) == weights
    assert (journal.rounds, journal.repeated, journal.skipped) == (sum(weights.values()), repeated, 0)
    assert journal.dropped == {(name, name and f"{name}.py"): times for name, times in dropped.items()}
    assert (journal.partial, journal.unseen_ns) == (0, pytest.approx(unseen * PERIOD_S * 1e9))


def test_samples_have_the_states_of_their_threads(tmp_path: Path) -> None:
    process = Scripted(["ab", "ab", "ab", "ac"])
    process.thread_states = iter([WORKING, WAITING, WAITING, WORKING])
    stage = Stage(tmp_path, process)
    stage.run(4)
    profile = stage.read().profile
    assert [(profile.state_of(sample.stack), sample.weight) for sample in profile.samples] == [
        (ThreadState.WORKING, 1), (ThreadState.WAITING, 2), (ThreadState.WORKING, 1)
    ]  # fmt: skip
    assert len(set(profile.stacks)) == 2


def test_a_stopped_process_does_not_work(tmp_path: Path) -> None:
    process = Scripted([])
    process.thread_states = iter([WORKING] * 50 + [STOPPED] * 500 + [WAITING] * 50)
    stage = Stage(tmp_path, process)
    assert stage.run(600) == ASKED, "for longer than one that cannot be read"
    journal = stage.read()
    assert Counter({journal.profile.state_of(one.stack): one.weight for one in journal.profile.samples}) == {
        ThreadState.WORKING: 50, ThreadState.WAITING: 50
    }  # fmt: skip
    assert (journal.rounds, journal.dropped) == (100, {("f", "f.py"): 500})
    assert journal.unseen_ns == pytest.approx(500 * PERIOD_S * 1e9)


def test_the_first_stack_is_written_at_once_and_later_ones_twice_a_second(tmp_path: Path) -> None:
    stage = Stage(tmp_path, Scripted([]))
    stage.run(200)
    writes = [
        number for number, size in enumerate(stage.written) if size > max(stage.written[:number], default=0)
    ]
    assert writes[0] == 1, "after the first round"
    assert len(writes) == 5, "in two seconds"


def test_threads_on_a_processor_are_read_if_another_has_no_frames(tmp_path: Path) -> None:
    process = Scripted(["a", *[FRAMELESS] * 3, "b", FRAMELESS, *changing(1), "b", "a", FRAMELESS, "a"])
    stage = Stage(tmp_path, process)
    stage.run(5)
    journal = stage.read()
    assert (journal.rounds, journal.repeated, journal.partial, journal.dropped) == (5, 1, 2, {})
    assert process.states == [ON_CPU, ON_CPU, HOLDS_GIL], "the holder of the GIL is read if that fails"
    assert leaves(journal) == {"a": 3, "b": 2}


@pytest.mark.parametrize("reads", [["a", "a", Ended()], ["a", *changing(99)]], ids=["ended", "changing"])
def test_the_end_of_the_process_ends_it(reads: list[str | Exception], tmp_path: Path) -> None:
    process = Scripted(reads)
    process.running = False
    stage = Stage(tmp_path, process)
    assert stage.run(9) == ENDED
    assert stage.read().dropped == {}


def test_the_duration_ends_it(tmp_path: Path) -> None:
    stage = Stage(tmp_path, Scripted([]))
    assert stage.run(999, duration_s=0.5) == DURATION
    assert stage.rounds == pytest.approx(0.5 / PERIOD_S, abs=2)


def test_after_two_seconds_without_a_stack_it_gives_up(tmp_path: Path) -> None:
    stage = Stage(tmp_path, Scripted(["a", *changing(10_000)]))
    with pytest.raises(Unreadable, match="2 s: it moves"):
        stage.run(9999)
    assert 2 / PERIOD_S < stage.rounds < 2.1 / PERIOD_S


def test_a_stack_that_is_too_deep_is_read_twice_at_most(tmp_path: Path) -> None:
    stage = Stage(tmp_path, Scripted(["a", *[TooDeep("Too many frames")] * 3, "b", "b"]), retries=9)
    stage.run(4)
    journal = stage.read()
    assert (journal.rounds, journal.repeated, journal.dropped) == (3, 1, {("a", "a.py"): 1})


def test_late_rounds_are_skipped_and_the_grid_is_kept(tmp_path: Path) -> None:
    stage = Stage(tmp_path, Scripted([]))
    stage.late_s[5] = 3.5 * PERIOD_S
    stage.run(10)
    assert stage.read().skipped == 3
    assert (stage.now_s - 100.0) / PERIOD_S == pytest.approx(9 + 3 + 0, abs=1e-6)


@pytest.mark.parametrize("error", [Denied("no"), Unexpected("what?")])
def test_other_failures_of_the_process_end_it(error: Exception, tmp_path: Path) -> None:
    with pytest.raises(type(error)):
        Stage(tmp_path, Scripted(["a", error])).run(9)


def test_children_are_sampled_and_others_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[int, Scripted] = {8: Scripted(["x"] * 300, 8), 9: Scripted([Unexpected("no Python")] * 300, 9),
                                 10: Scripted([Changing("it starts"), *"yyy", Denied("no more")], 10),
                                 11: Scripted([Ended()] * 99, 11)}  # fmt: skip
    monkeypatch.setattr(proc_files, "children", lambda pid: sorted(made))
    monkeypatch.setattr(proc_files, "command", lambda pid: f"python {pid}.py")
    stage = Stage(tmp_path, Scripted([]), opened=lambda pid: made[pid])
    stage.run(300)
    journal = stage.read()
    assert journal.commands == {8: "python 8.py", 10: "python 10.py"}
    assert journal.left_out == {9: "no Python", 10: "no more"}
    assert {thread.pid for thread in journal.profile.threads} == {7, 8, 10}


def test_a_child_that_ends_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = Scripted([*"xxx", Ended()], 8)
    pids = [8]
    monkeypatch.setattr(proc_files, "children", lambda pid: pids)
    monkeypatch.setattr(proc_files, "command", lambda pid: "python")

    def opened(pid: int) -> Process:
        pids.clear()
        return child

    stage = Stage(tmp_path, Scripted([]), opened=opened)
    stage.run(50)
    assert child.closed
    assert stage.read().dropped == {}
    assert leaves(stage.read(), 8) == {"x": 2}


def test_a_child_that_was_read_before_its_exec_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = [Scripted(["a", *changing(10_000)], 8), Scripted(["x"] * 300, 8)]
    commands = iter(["before", "after"])
    monkeypatch.setattr(proc_files, "children", lambda pid: [8])
    monkeypatch.setattr(proc_files, "command", lambda pid: next(commands))
    stage = Stage(tmp_path, Scripted([]), opened=lambda pid: images.pop(0))
    stage.run(200)
    journal = stage.read()
    assert (journal.commands, journal.left_out) == ({8: "after"}, {})
    assert leaves(journal, 8)["x"] > 100


def test_the_sampler_is_no_child_of_a_program_that_adopts_it(tmp_path: Path) -> None:
    """The program is a subreaper, as init of a container is."""
    program = f"""
import ctypes, os, subprocess, sys, time
sys.path.insert(0, {str(Path(__file__).parents[4])!r})
from profkit.samplers.helper import proc_files

ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
other = os.fork()
if not other:
    time.sleep(60)
target, (reading, writing), (waiting, going) = os.getpid(), os.pipe(), os.pipe()
launcher = os.fork()
if not launcher:
    if not os.fork():  # the watchdog
        if not os.fork():  # the sampler
            os.read(waiting, 1)
            os.write(writing, repr(proc_files.children(target)).encode())
            os._exit(0)
        os.wait()
    os._exit(0)
os.waitpid(launcher, 0)
os.write(going, b"!")
print(os.read(reading, 100).decode() == repr([other]))
os.kill(other, 9)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr) == ("True\n", "")
