"""The signal of the timer way: it is taken if it is free, and given back."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import FrameType

import pytest

from profkit.clock import SYSTEM_CLOCK, Clock, ManualClock
from profkit.samplers.inprocess import frames
from profkit.samplers.inprocess.timer import SIGNAL, TimerWay, _on_signal
from profkit.samplers.inprocess.ways import Request, WayFailed
from profkit.samplers.stack_journal import read_journal


def way_to(output: Path, rate_hz: float = 1.0, *, idle: bool = True, clock: Clock = SYSTEM_CLOCK) -> TimerWay:
    return TimerWay(Request(os.getpid(), output, output.with_suffix(".log"), rate_hz, idle, 60.0, clock))


def hasty_clock() -> Clock:
    """Return a clock by which a second passes with each look at it, in C code."""
    clock = ManualClock()
    clock.monotonic_s = count(1.0).__next__  # type: ignore[method-assign]
    return clock


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "output"


def test_the_signal_is_taken_and_given_back(output: Path) -> None:
    clock = ManualClock()
    way = way_to(output, clock=clock)
    way.start()
    assert not way.is_running()
    clock.advance(1.0)
    signal.raise_signal(SIGNAL)
    assert way.is_running()
    way.stop()
    assert way.has_ended()
    assert signal.getsignal(SIGNAL) is signal.SIG_DFL
    journal = read_journal(output.read_bytes())
    assert [inside.kind for inside in journal.inside] == ["timer"]
    assert (journal.rounds, journal.ended_normally) == (1, True)
    leaves = {journal.profile.frames[stack[-1]].name for stack in journal.profile.stacks}
    assert "test_the_signal_is_taken_and_given_back" in leaves


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
    elsewhere(way.stop)
    before = output.read_bytes()
    assert signal.getsignal(SIGNAL) is _on_signal
    signal.raise_signal(SIGNAL)
    assert output.read_bytes() == before
    again = way_to(output)
    again.start()
    again.stop()
    assert signal.getsignal(SIGNAL) is signal.SIG_DFL


def test_another_thread_continues_what_the_main_thread_has_begun(output: Path) -> None:
    """As the ticker does after a minute."""
    clock = ManualClock()
    first, second = way_to(output, clock=clock), way_to(output.with_suffix(".2"), clock=clock)
    first.start()
    elsewhere(lambda: (first.stop(), second.start()))
    assert second.is_running()  # though the main thread may run C code for long, without a sample
    clock.advance(1.0)
    signal.raise_signal(SIGNAL)
    second.stop()
    assert read_journal(output.with_suffix(".2").read_bytes()).rounds == 1
    assert signal.getsignal(SIGNAL) is signal.SIG_DFL


def test_a_forked_child_gives_the_signal_back(output: Path) -> None:
    way = way_to(output)
    way.start()
    way.in_child()
    assert signal.getsignal(SIGNAL) is signal.SIG_DFL
    way.stop()
    assert not output.exists()


def test_other_threads_cannot_start_it(output: Path) -> None:
    with pytest.raises(WayFailed, match="the main thread has not started it"):
        elsewhere(way_to(output).start)


def test_it_does_not_know_which_threads_wait(output: Path) -> None:
    with pytest.raises(WayFailed, match="which threads wait"):
        way_to(output, idle=False).start()


def test_a_program_that_uses_the_signal_keeps_it(output: Path) -> None:
    signal.signal(SIGNAL, signal.SIG_IGN)
    try:
        with pytest.raises(WayFailed, match="uses SIGURG"):
            way_to(output).start()
    finally:
        signal.signal(SIGNAL, signal.SIG_DFL)
    with blocked(SIGNAL), pytest.raises(WayFailed, match="uses SIGURG"):
        way_to(output).start()


def test_a_program_takes_the_signal_for_itself_later(output: Path) -> None:
    way = way_to(output)
    way.start()
    signal.signal(SIGNAL, signal.SIG_IGN)
    try:
        with pytest.raises(WayFailed, match="uses SIGURG"):
            way.is_running()
        way.stop()
        assert signal.getsignal(SIGNAL) is signal.SIG_IGN
    finally:
        signal.signal(SIGNAL, signal.SIG_DFL)


def test_the_kernels_timeouts_of_sockets_are_not_restarted(output: Path) -> None:
    way, (one, other) = way_to(output), socket.socketpair()
    way.start()
    with one, other:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 300_000))
        with pytest.raises(WayFailed, match="timeout of a socket"):
            way_to(output).start()
    way.stop()


def test_event_loops_are_not_woken(output: Path) -> None:
    loop = asyncio.new_event_loop()
    loop.add_signal_handler(signal.SIGUSR2, int)
    with pytest.raises(WayFailed, match="wake an event loop"):
        way_to(output).start()
    loop.close()


@pytest.mark.parametrize("is_closed", [False, True])
def test_numbers_of_signals_that_the_program_reads_are_its_own(output: Path, is_closed: bool) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    if is_closed:
        os.close(writing)
    try:
        with pytest.raises(WayFailed, match="reads the numbers"):
            way_to(output).start()
        assert signal.getsignal(SIGNAL) is signal.SIG_DFL
    finally:
        assert signal.set_wakeup_fd(-1) == (-1 if is_closed else writing)
        os.close(reading)
        if not is_closed:
            os.close(writing)


def test_a_program_at_the_limit_of_recursion_gets_no_exception(output: Path) -> None:
    way = way_to(output, clock=hasty_clock())
    way.start()

    def recurse() -> None:
        """Send the signal from each depth, as deep as there is room for the handler itself."""
        depths.append(None)
        signal.raise_signal(SIGNAL)
        recurse()

    depths: list[None] = []
    with pytest.raises(RecursionError) as raised:
        recurse()
    assert raised.traceback[-1].name in ("recurse", "_on_signal")
    assert way.is_running()
    signal.raise_signal(SIGNAL)
    way.stop()
    journal = read_journal(output.read_bytes())
    lost = sum(journal.dropped.values())
    assert 0 < lost < 100
    assert journal.rounds + lost >= len(depths)


@pytest.mark.parametrize("error", [RecursionError("the program's"), TimeoutError(), KeyboardInterrupt()])
def test_exceptions_of_the_programs_handlers_are_raised(
    output: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """They interrupt a sample, and come from its frames."""
    clock = ManualClock()
    way = way_to(output, clock=clock)

    def handle(*_: object) -> None:
        raise error

    def list_frames() -> dict[int, FrameType]:
        signal.raise_signal(signal.SIGUSR1)
        return {}

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        way.start()
        clock.advance(1.0)
        with monkeypatch.context() as patches:
            patches.setattr(frames, "current_frames", list_frames)
            with pytest.raises(type(error)):
                signal.raise_signal(SIGNAL)
    finally:
        way.stop()
        signal.signal(signal.SIGUSR1, before)
    assert way.is_running()


def test_a_failure_of_its_own_is_reported_by_the_next_poll(
    output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ManualClock()
    way = way_to(output, clock=clock)
    way.start()
    clock.advance(1.0)
    with monkeypatch.context() as patches:
        patches.setattr(frames, "current_frames", lambda: {}["x"])
        signal.raise_signal(SIGNAL)
    with pytest.raises(WayFailed, match="KeyError: 'x'"):
        way.is_running()
    way.stop()


def test_a_stop_does_not_wait_for_a_handler_that_waits_for_it(
    output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, stopped = ManualClock(), threading.Event()
    way = way_to(output, clock=clock)
    way.start()
    clock.advance(1.0)
    stopping = threading.Thread(target=lambda: (way.stop(), stopped.set()))

    def list_frames() -> dict[int, FrameType]:
        """Wait, as a signal handler of the program does that interrupts a sample and forks."""
        stopping.start()
        assert stopped.wait(30)
        return {}

    with monkeypatch.context() as patches:
        patches.setattr(frames, "current_frames", list_frames)
        signal.raise_signal(SIGNAL)
    stopping.join()
    assert way.has_ended()
    assert not output.exists()  # nothing is written after the end


def elsewhere(work: Callable[[], object]) -> None:
    """Run something in another thread, and raise its exception here."""
    with ThreadPoolExecutor(1) as threads:
        threads.submit(work).result()


@contextmanager
def blocked(number: int) -> Iterator[None]:
    signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    yield
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
