"""Signals of the timer way: a free one is taken, and given back."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.samplers.inprocess.timer import TimerWay
from profkit.samplers.inprocess.ways import Request, WayFailed
from profkit.samplers.stack_journal import read_journal

LAST = signal.SIGRTMAX - 1


def way_to(output: Path, rate_hz: float = 1.0, *, idle: bool = True) -> TimerWay:
    return TimerWay(
        Request(os.getpid(), output, output.with_suffix(".log"), rate_hz, idle, 60.0, SYSTEM_CLOCK)
    )


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "output"


def test_a_free_signal_is_taken_and_given_back(output: Path) -> None:
    signal.signal(LAST, signal.SIG_IGN)
    try:
        way = way_to(output)
        way.start()
        assert not way.is_running()
        assert signal.getsignal(LAST) is signal.SIG_IGN
        signal.raise_signal(LAST - 1)
        assert way.is_running()
        way.stop()
        assert way.has_ended()
        assert signal.getsignal(LAST - 1) is signal.SIG_DFL
    finally:
        signal.signal(LAST, signal.SIG_DFL)
    journal = read_journal(output.read_bytes())
    assert (journal.kind, journal.rounds, journal.ended_normally) == ("timer", 1, True)
    leaves = {journal.profile.frames[stack[-1]].name for stack in journal.profile.stacks}
    assert "test_a_free_signal_is_taken_and_given_back" in leaves


def test_alarms_remain_the_programs(output: Path) -> None:
    way = way_to(output, 100.0)
    handler = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 100)
    try:
        way.start()
        way.stop()
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 90
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


def test_a_stop_by_another_thread_leaves_a_handler_that_does_nothing(output: Path) -> None:
    way = way_to(output)
    way.start()
    stopping = threading.Thread(target=way.stop)
    stopping.start()
    stopping.join()
    before = output.read_bytes()
    assert signal.getsignal(LAST) == way._handle
    signal.raise_signal(LAST)
    assert output.read_bytes() == before
    signal.signal(LAST, signal.SIG_DFL)


def test_other_threads_cannot_start_it(output: Path) -> None:
    failures: list[str] = []

    def start() -> None:
        try:
            way_to(output).start()
        except WayFailed as failure:
            failures.append(str(failure))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert failures == ["the main thread has not started it"]


def test_it_does_not_know_which_threads_wait(output: Path) -> None:
    with pytest.raises(WayFailed, match="which threads wait"):
        way_to(output, idle=False).start()


def test_without_a_free_signal_it_is_not_possible(output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "getsignal", lambda _: signal.SIG_IGN)
    with pytest.raises(WayFailed, match="uses all real-time signals"):
        way_to(output).start()
