"""Looking at the program's sockets, which must stay as they are."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
from collections.abc import Iterator
from types import FrameType

import pytest

from profkit.clock import ManualClock
from profkit.process.sockets import SocketWatch

TIMEOUT = struct.pack("ll", 0, 300_000)


@contextlib.contextmanager
def timed_socket(option: int = socket.SO_RCVTIMEO) -> Iterator[socket.socket]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setsockopt(socket.SOL_SOCKET, option, TIMEOUT)
        yield ours


def test_a_program_without_timeouts() -> None:
    readable, writable = os.pipe()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(0.3)  # Python's own, which the kernel does not know
        assert not SocketWatch(clock=ManualClock()).timed()
    os.close(readable)
    os.close(writable)


@pytest.mark.parametrize("option", [socket.SO_RCVTIMEO, socket.SO_SNDTIMEO])
def test_each_kind_of_timeout_is_found(option: int) -> None:
    with timed_socket(option):
        assert SocketWatch(clock=ManualClock()).timed()
    assert not SocketWatch(clock=ManualClock()).timed()


def test_every_descriptor_comes_to_its_turn() -> None:
    watch = SocketWatch(2, ManualClock())
    with timed_socket():
        looks = len(os.listdir("/proc/self/fd")) // 2 + 2
        assert [watch.timed() for _ in range(looks)].count(True) >= 1
        assert [watch.timed() for _ in range(looks)].count(True) >= 1


class SlowMachine(ManualClock):
    """One on which each look at the clock takes 10 ms."""

    def monotonic_s(self) -> float:
        self.advance(0.01)
        return super().monotonic_s()


def test_looks_take_a_hundredth_of_the_time() -> None:
    clock = SlowMachine()
    watch = SocketWatch(clock=clock)
    with timed_socket():
        assert watch.timed()
        assert not watch.timed()
        clock.advance(1.0)
        assert watch.timed()


def test_a_default_timeout_does_not_reach_the_programs_socket() -> None:
    with timed_socket() as ours:
        socket.setdefaulttimeout(5)
        try:
            assert SocketWatch(clock=ManualClock()).timed()
        finally:
            socket.setdefaulttimeout(None)
        assert os.get_blocking(ours.fileno())


class Struck(Exception):
    """What the program's signal handler raises."""


def test_an_exception_of_a_signal_handler_leaves_the_programs_sockets_open() -> None:
    def strike(_signum: int, _frame: FrameType | None) -> None:
        raise Struck

    before = signal.signal(signal.SIGALRM, strike)
    struck = 0
    try:
        with timed_socket() as ours:
            number = ours.fileno()
            for microseconds in range(1, 1500):
                try:
                    signal.setitimer(signal.ITIMER_REAL, microseconds * 1e-6)
                    for _ in range(20):
                        SocketWatch(clock=ManualClock()).timed()
                    signal.setitimer(signal.ITIMER_REAL, 0)
                except Struck:
                    struck += 1
                assert os.fstat(number)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert struck > 500
