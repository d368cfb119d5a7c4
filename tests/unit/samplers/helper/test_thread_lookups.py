"""States of threads and their times, from folders that stand for /proc."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.samplers.helper import proc_files, thread_lookups
from profkit.samplers.helper.thread_lookups import Process
from tests.unit.samplers.helper.made_processes import VARIABLES, MadeProcess, futex, new_files_closed

READ = "0 0x7 0x7f00 0x1"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MadeProcess]:
    monkeypatch.setattr(proc_files, "PROC", str(tmp_path))
    monkeypatch.setattr(thread_lookups, "_SETTLED_S", 0.0)
    with new_files_closed():
        yield MadeProcess(tmp_path)


def process_of(made: MadeProcess, *, stops: bool = False) -> Process:
    process = Process(made.pid, 0, stops=stops)
    for number, tid in enumerate(process.find_threads()):
        process.add_thread(tid, number)
    return process


@pytest.mark.parametrize(
    ("letter", "call", "state"),
    [
        ("R", READ, "w"),
        ("S", READ, "s"),
        ("D", READ, "s"),
        ("S", "running", "s"),
        ("S", "-1 0x0 0x0", "w"),
        ("S", futex(VARIABLES), "g"),
        ("S", futex(VARIABLES - 1), "g"),
        ("S", futex(VARIABLES + 0x1000), "s"),
        ("S", futex(0x8000), "s"),
        ("S", futex(0xA000), "s"),
        ("T", READ, "p"),
        ("t", READ, "w"),
    ],
)
def test_states(letter: str, call: str, state: str, made: MadeProcess) -> None:
    made.thread(1, letter, call)
    process = process_of(made)
    process.look(2)
    assert list(process.take_runs()) == [f"s 0 {state}2"]
    assert list(process.take_runs()) == []


@pytest.mark.parametrize(
    ("letter", "call", "state"),
    [
        ("t", READ, "s"), ("t", futex(VARIABLES), "g"), ("t", "-1 0x0 0x0", "w"), ("t", "running", "w"),
        ("R", READ, "s"), ("R", "running", "w"), ("S", "running", "s"), ("T", READ, "p"),
    ],
)  # fmt: skip
def test_a_thread_that_the_sampler_stops_still_is_in_its_system_call(
    letter: str, call: str, state: str, made: MadeProcess
) -> None:
    made.thread(1, letter, call)
    process = process_of(made, stops=True)
    process.look(1)
    assert list(process.take_runs()) == [f"s 0 {state}1"]


def test_a_thread_that_the_sampler_has_just_continued_is_looked_up_again(
    made: MadeProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.thread(1, "R")
    process = process_of(made, stops=True)
    monkeypatch.setattr("time.sleep", lambda _: made.thread(1, "S", READ))
    process.look(1)
    assert list(process.take_runs()) == ["s 0 s1"]


def test_a_state_that_stays_is_looked_up_less_often(made: MadeProcess) -> None:
    made.thread(1, "S", READ)
    process = process_of(made)
    for _ in range(320):
        process.look(1)
    made.thread(1, "R")
    for _ in range(20):
        process.look(1)
    (runs,) = process.take_runs()
    found = re.fullmatch(r"s 0 s(\d+)w(\d+)", runs)
    assert found is not None
    waited, worked = map(int, found.groups())
    assert waited + worked == 340
    assert waited - 320 <= 10, "a thirty-second of the rounds"
    made.thread(1, "S", READ)
    process.look(1)
    assert list(process.take_runs()) == ["s 0 s1"], "at once, since the state is new"


def test_threads_come_and_go(made: MadeProcess) -> None:
    made.thread(1, "R")
    process = process_of(made)
    process.look(1)
    made.thread(2, "S", READ)
    assert process.find_threads() == [2]
    process.add_thread(2, 1)
    process.look(1)
    made.end(2)
    assert process.find_threads() == []
    process.look(1)
    assert sorted(process.take_runs()) == ["s 0 w3", "s 1 s1"]
    made.thread(2, "R")
    assert process.find_threads() == [2], "its id is used again"


def test_a_process_that_has_ended_has_no_threads(made: MadeProcess) -> None:
    with pytest.raises(FileNotFoundError):
        Process(made.pid + 1, 0, stops=False)
    made.thread(1, "R")
    process = process_of(made)
    process.look(1)
    made.end(1)
    process.look(1)
    assert process.find_threads() == []
    assert list(process.take_runs()) == ["s 0 w2"]


def test_times_are_those_of_threads_that_have_run(made: MadeProcess) -> None:
    made.thread(1, "R", times=(5_000_000, 2_000_000, 3))
    made.thread(2, "S")
    (made.folder / "task" / "2" / "schedstat").unlink()  # of a kernel without it
    process = process_of(made)
    assert list(process.new_times()) == ["c 0 0 5000 2000 3"]
    assert list(process.new_times()) == []
    made.thread(1, "R", times=(6_000_000, 2_000_000, 4))
    process.rounds = 7
    assert list(process.new_times()) == ["c 0 7 6000 2000 4"]


def test_a_round_begins_with_a_list_of_threads(made: MadeProcess) -> None:
    process = process_of(made)
    begun = [process.begins_round(is_list=is_list) for is_list in (False, True, False, False, True, False)]
    assert begun == [False, False, True, False, False, True]
    assert process.rounds == 2


def test_a_sampler_that_stops_threads_lists_them_again(made: MadeProcess) -> None:
    process = process_of(made, stops=True)
    lists = "ls" + "llls" + "lls" + "ls" + "llllls"
    begun = "".join("x" if process.begins_round(is_list=one == "l") else one for one in lists)
    assert begun == "lx" + "lllx" + "lls" + "lx" + "lllllx"


def test_few_files_stay_open(made: MadeProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_lookups, "_MOST_OPEN", 2)
    for tid in range(5):
        made.thread(tid, "R")
    process = process_of(made)
    for _ in range(2):
        process.look(1)
        assert sum(thread.file >= 0 for thread in process._threads.values()) == 5
        assert len(list(process.take_runs())) == 5
        assert sum(thread.file >= 0 for thread in process._threads.values()) == 2


def test_a_real_thread_that_waits_for_a_lock_does_not_wait_for_the_gil() -> None:
    lock, tids = threading.Lock(), list[int]()

    def wait() -> None:
        tids.append(threading.get_native_id())
        with lock:
            pass

    with lock, new_files_closed():
        thread = threading.Thread(target=wait)
        thread.start()
        process = Process(threading.get_native_id(), 0, stops=False)
        while not tids:
            SYSTEM_CLOCK.sleep(0.001)
        process.add_thread(tids[0], 0)
        while not any("s1" in runs for runs in process.take_runs()):
            process.look(1)
    thread.join()
