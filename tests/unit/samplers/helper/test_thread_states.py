"""States of real threads, read from /proc."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.samplers.helper import proc_files, thread_states
from profkit.samplers.helper.journal import GIL, WAITING, WORKING
from profkit.samplers.helper.thread_states import STOPPED, ThreadStates
from tests.unit.samplers.helper.made_processes import VARIABLES, MadeProcess, futex

PID = os.getpid()


@pytest.fixture
def sleeping() -> Iterator[int]:
    """Process id of a program that waits in the kernel."""
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process.pid
        process.kill()


def open_files() -> set[str]:
    links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    return {os.readlink(link) for link in links if os.path.lexists(link)}


def eventually(states: ThreadStates, tid: int, expected: str) -> bool:
    for _ in range(100):
        if states.state(tid) == expected:
            return True
        SYSTEM_CLOCK.sleep(0.02)
    return False


@pytest.mark.parametrize("keep_open", [True, False])
def test_a_thread_that_sleeps_waits(sleeping: int, keep_open: bool) -> None:
    states = ThreadStates(sleeping, keep_open=keep_open)
    assert eventually(states, sleeping, expected=WAITING)
    assert (f"/proc/{sleeping}/task/{sleeping}/stat" in open_files()) is keep_open
    states.close()
    assert f"/proc/{sleeping}/task/{sleeping}/stat" not in open_files()


def test_this_thread_works() -> None:
    assert ThreadStates(PID, keep_open=False).state(PID) == WORKING


def test_ended_threads_are_forgotten_in_the_sampled_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ThreadStates, "_look_up", lambda states, tid: WAITING)
    states = ThreadStates(PID, keep_open=False)
    for tid in range(1000):
        states.state(tid)
        states.close_others({tid})
    assert len(states._threads) < 20


@pytest.mark.parametrize("keep_open", [True, False])
def test_the_state_of_an_ended_thread_is_not_known(keep_open: bool) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    ) as process:
        states = ThreadStates(process.pid, keep_open=keep_open)
        assert eventually(states, process.pid, expected=WAITING)
    states.forget(process.pid)
    assert states.state(process.pid) == WORKING
    assert f"/proc/{process.pid}/task/{process.pid}/stat" not in open_files()


def test_files_of_ended_threads_are_closed_if_they_are_many(
    sleeping: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thread_states, "_MOST_UNUSED", 0)
    states = ThreadStates(sleeping, keep_open=True)
    states.state(sleeping)
    states.close_others({sleeping, 2})
    assert f"/proc/{sleeping}/task/{sleeping}/stat" in open_files()
    states.close_others(set())
    assert f"/proc/{sleeping}/task/{sleeping}/stat" not in open_files()


def test_few_files_stay_open(sleeping: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_states, "_FILES_END", 0)
    states = ThreadStates(sleeping, keep_open=True)
    assert eventually(states, sleeping, expected=WAITING)
    assert f"/proc/{sleeping}/task/{sleeping}/stat" not in open_files()


def test_a_state_that_stays_is_looked_up_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    found, looked_up = [WAITING], [0]

    def look_up(states: ThreadStates, tid: int) -> str:
        looked_up[0] += 1
        return found[0]

    monkeypatch.setattr(ThreadStates, "_look_up", look_up)
    states = ThreadStates(PID, keep_open=False)
    assert all(states.state(1) == WAITING for _ in range(8))
    assert looked_up == [8], "a state that is new is looked up in each round"
    assert all(states.state(1) == WAITING for _ in range(992))
    assert looked_up[0] < 120
    found[0] = WORKING
    late = sum(states.state(1) == WAITING for _ in range(100))
    assert late < 16
    states.forget(1)
    found[0] = WAITING
    assert states.state(1) == WAITING, "at once, if something else has changed"


def test_a_change_is_noticed_after_an_eighth_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [WAITING]
    monkeypatch.setattr(ThreadStates, "_look_up", lambda states, tid: found[0])
    for rounds in range(1, 200):
        found[0], states = WAITING, ThreadStates(PID, keep_open=False)
        for _ in range(rounds):
            states.state(1)
        found[0] = WORKING
        assert sum(states.state(1) == WAITING for _ in range(50)) <= rounds / 8


def test_a_process_that_is_stopped_is_seen_to_go_on_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proc_files, "PROC", str(tmp_path))
    made = MadeProcess(tmp_path)
    made.thread(1, "T")
    states = ThreadStates(made.pid, keep_open=False)
    assert {states.state(1) for _ in range(100)} == {STOPPED}
    made.thread(1, "R")
    assert states.state(1) == WORKING


@pytest.mark.parametrize(("gil", "expected"), [(True, GIL), (False, WAITING)])
def test_waits_for_the_gil_are_found_if_they_are_wanted(
    gil: bool, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proc_files, "PROC", str(tmp_path))
    made = MadeProcess(tmp_path)
    made.thread(1, "S", futex(VARIABLES))
    made.thread(2, "S", futex(0x8000))
    states = ThreadStates(made.pid, keep_open=False, gil=gil)
    assert [states.state(tid) for tid in (1, 2)] == [expected, WAITING]
