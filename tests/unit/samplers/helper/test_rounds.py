"""The journal of rounds, of a process and a sampler that a test plays; and opens of real files."""

from __future__ import annotations

import itertools
import os
import select
from collections.abc import Iterator
from pathlib import Path

import pytest

from profkit.samplers.helper import proc_files
from profkit.samplers.helper.rounds import HEADER, Opens, Rounds
from profkit.samplers.thread_rounds import ProcessRounds, read_rounds
from tests.unit.samplers.helper.made_processes import PID, MadeProcess, new_files_closed

READ = "0 0x7 0x7f00 0x1"


class Stage:
    """A process, a sampler's log, a clock, and an observer of the rounds."""

    def __init__(self, folder: Path) -> None:
        proc = folder / "proc"
        self.process = MadeProcess(proc)
        self.output, self.log, self._uptime = folder / "rounds", proc / "self" / "fd" / "1", proc / "uptime"
        self.log.parent.mkdir(parents=True)
        self.log.write_text("an earlier line\n")
        self.now_ms = 0
        self.advance(5_000)
        self.process.thread(PID, "R", times=(0, 0, 0))

    def observe(self, *, stops: bool = False, children: bool = False) -> Rounds:
        return Rounds(PID, str(self.output), stops=stops, children=children)

    def advance(self, by_ms: int) -> None:
        self.now_ms += by_ms
        self._uptime.write_text(f"{self.now_ms / 1000:.2f} 77.5\n")

    def round(self, rounds: Rounds, *, after_ms: int = 0) -> None:
        """Have the sampler take a round, and observe it."""
        self.advance(after_ms)
        self.process.be_listed()
        rounds.take()

    def say(self, line: str) -> None:
        with self.log.open("a") as file:
            file.write(line)

    def read(self) -> ProcessRounds:
        return read_rounds(self.output.read_bytes())[PID]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr(proc_files, "PROC", str(tmp_path / "proc"))
    with new_files_closed():
        yield Stage(tmp_path)


def test_states_and_times_of_each_round(stage: Stage) -> None:
    rounds = stage.observe()
    for letter in "RRSR":
        stage.process.thread(PID, letter, READ, times=(1_000_000 * stage.now_ms, 0, stage.now_ms))
        stage.process.be_listed()
        stage.advance(10)
        rounds.take()
    rounds.take()  # nothing has happened
    rounds.write()
    found = stage.read()
    assert (found.rounds, found.failed) == (4, [])
    (thread,) = found.threads[PID]
    assert (thread.first, bytes(thread.letters)) == (0, b"wwsw")
    assert (thread.times[0].round, thread.times[-1].round) == (1, 4)
    assert thread.times[-1].cpu_s - thread.times[0].cpu_s == pytest.approx(0.03)
    assert found.clock[-1] == (4, 5_040)


def test_rounds_that_are_seen_late_have_the_same_states(stage: Stage) -> None:
    rounds = stage.observe()
    for _ in range(3):
        stage.round(rounds)
    rounds.write()
    assert [bytes(thread.letters) for thread in stage.read().threads[PID]] == [b"www"]


def test_a_thread_that_begins_later(stage: Stage) -> None:
    rounds = stage.observe()
    for tids in ((), (), (7,), (7,)):
        for tid in tids:
            stage.process.thread(tid, "S", READ)
        stage.round(rounds)
    stage.process.end(7)
    stage.round(rounds)
    stage.process.thread(7, "R")
    stage.round(rounds)
    rounds.write()
    found = stage.read()
    assert [(one.first, bytes(one.letters)) for one in found.threads[7]] == [(2, b"ss"), (5, b"w")]
    assert [(one.first, bytes(one.letters)) for one in found.threads[PID]] == [(0, b"wwwwww")]


def test_it_is_written_each_second(stage: Stage) -> None:
    rounds = stage.observe()
    for _ in range(99):
        stage.round(rounds, after_ms=10)
    assert not stage.output.exists()
    stage.advance(10)
    rounds.take()
    written = stage.output.read_bytes()
    assert written.startswith(HEADER.encode())
    assert stage.read().rounds == 99
    stage.round(rounds)
    assert stage.output.read_bytes() == written
    rounds.write()
    assert stage.output.read_bytes().startswith(written)
    assert stage.read().rounds == 100


def test_a_pause_is_in_the_clock(stage: Stage) -> None:
    rounds = stage.observe()
    for pause_ms in (10, 10, 2_500, 10):
        stage.round(rounds, after_ms=pause_ms)
    rounds.write()
    clock = stage.read().clock
    assert ((2, 5_020), (3, 7_520)) in itertools.pairwise(clock)


def test_failed_rounds_and_the_first_sample_are_known_from_the_log(stage: Stage) -> None:
    rounds = stage.observe()
    stage.round(rounds)
    stage.say("py-spy> Sampling process 100 times a second. Press Control-C to exit.\n")
    stage.round(rounds)
    stage.say(f"WARN Failed to get stack trace from {PID}: No such process\nhalf a li")
    stage.round(rounds)
    stage.say(f"ne\nFailed to get stack trace from {PID + 1}: of an unknown process\n")
    rounds.write()
    found = stage.read()
    assert (found.trials, found.failed) == (1, [3])


def test_children_are_observed_if_they_are_sampled(stage: Stage) -> None:
    child = MadeProcess(stage.process.folder.parent, PID + 1)
    child.thread(PID + 1, "S", READ)
    (stage.process.folder / "task" / str(PID) / "children").write_text(f"{PID + 1} {PID + 2} ")
    alone, rounds = stage.observe(), stage.observe(children=True)
    stage.advance(100)
    for observer in (alone, rounds):
        observer.take()
    for process in (stage.process, child, child):
        process.be_listed()
    stage.say(f"Failed to get stack trace from {PID + 1}: Bad address\n")
    rounds.take()
    rounds.write()
    found = read_rounds(stage.output.read_bytes())
    assert [(pid, one.rounds) for pid, one in found.items()] == [(PID, 1), (PID + 1, 2)]
    assert found[PID + 1].failed == [2]
    assert [bytes(one.letters) for one in found[PID + 1].threads[PID + 1]] == [b"ss"]


def test_a_process_that_has_ended(stage: Stage) -> None:
    rounds = stage.observe()
    stage.round(rounds)
    stage.process.end(PID)
    stage.round(rounds)
    rounds.write()
    assert [bytes(one.letters) for one in stage.read().threads[PID]] == [b"w"]


def test_failures_are_reported(stage: Stage) -> None:
    with pytest.raises(FileNotFoundError):
        Rounds(PID + 1, str(stage.output), stops=False, children=False)
    rounds = stage.observe()
    stage.output.mkdir()
    with pytest.raises(IsADirectoryError):
        rounds.write()


def test_each_descriptor_is_closed_on_exec(stage: Stage) -> None:
    before = set(os.listdir("/proc/self/fd"))
    rounds = stage.observe()
    rounds.take()
    for name in set(os.listdir("/proc/self/fd")) - before:
        if os.path.lexists(f"/proc/self/fd/{name}"):
            assert not os.get_inheritable(int(name))


@pytest.fixture
def opens() -> Iterator[Opens]:
    made = Opens()
    yield made
    os.close(made.descriptor)


def open_and_close(*paths: str | Path) -> None:
    for path in paths:
        os.close(os.open(path, os.O_RDONLY))


def test_opens_come_in_order_and_each_counts(opens: Opens, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.touch()
    second.touch()
    a, b = opens.watch(str(first)), opens.watch(str(second))
    assert opens.read() == []
    open_and_close(first, first, second, first, second, second)
    assert select.select([opens.descriptor], (), (), 30)[0], "it can be waited for"
    assert opens.read() == [a, a, b, a, b, b]
    assert opens.read() == []


def test_files_in_a_folder_are_not_the_folder(opens: Opens, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.touch()
    folder = opens.watch(str(tmp_path))
    open_and_close(inside, tmp_path, inside)
    assert opens.read() == [folder]
    with inside.open("w") as file:
        file.write("text")
    assert opens.read() == []


def test_threads_of_a_process_are_listed(opens: Opens) -> None:
    paths = [f"/proc/{os.getpid()}/{name}" for name in ("task", "stat")]
    task, stat = map(opens.watch, paths)
    for _ in range(3):
        os.listdir(paths[0])
        open_and_close(paths[1])
    open_and_close(f"{paths[0]}/{os.getpid()}/stat")
    assert opens.read() == [task, stat] * 3


def test_a_list_by_a_descriptor_is_no_open(opens: Opens) -> None:
    path = f"/proc/{os.getpid()}/task"
    descriptor = os.open(path, os.O_RDONLY)
    opens.watch(path)
    assert os.listdir(descriptor)
    os.close(descriptor)
    assert opens.read() == []


def test_a_file_that_is_missing(opens: Opens, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        opens.watch(str(tmp_path / "missing"))
