"""Who stays stopped, by a manual clock and a real process; who has a socket open."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from profkit.clock import ManualClock
from profkit.measuring.pool.launching import POLL_S, StopDetector, holders, socket_number
from profkit.measuring.worker.processes import is_stopped


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as started:
        yield started
        started.kill()


def stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)


def resume(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGCONT)
    os.waitpid(process.pid, os.WCONTINUED)


def test_stopped_twice_is_stopped(process: subprocess.Popen[bytes]) -> None:
    clock = ManualClock()
    lookout, all_of = StopDetector(clock), lambda: [process.pid, os.getpid()]
    stop(process)
    assert lookout.stays_stopped(all_of) == set()
    clock.advance(POLL_S)
    assert lookout.stays_stopped(all_of) == {process.pid}


def test_nobody_is_looked_at_more_than_once_a_second(process: subprocess.Popen[bytes]) -> None:
    clock = ManualClock()
    lookout = StopDetector(clock)
    assert lookout.stays_stopped(lambda: [process.pid]) == set()
    clock.advance(POLL_S / 2)
    assert lookout.stays_stopped(lambda: pytest.fail("looked too early")) == set()


def test_one_that_went_on_in_between_is_not(process: subprocess.Popen[bytes]) -> None:
    clock = ManualClock()
    lookout = StopDetector(clock)
    for _ in range(3):
        stop(process)
        assert lookout.stays_stopped(lambda: [process.pid]) == set()
        clock.advance(POLL_S)
        resume(process)
        assert lookout.stays_stopped(lambda: [process.pid]) == set()
        clock.advance(POLL_S)


def test_who_does_not_exist_is_not_stopped() -> None:
    assert not is_stopped(2**22 + 1)
    assert not is_stopped(os.getpid())


def test_holders_of_a_socket() -> None:
    ours, theirs = socket.socketpair()
    number = socket_number(theirs.fileno())
    assert holders(number) == set()
    argv = [sys.executable, "-c", "input()"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, pass_fds=[theirs.fileno()]) as process:
        theirs.close()
        assert holders(number) == {process.pid}
        process.communicate(b"\n")
    assert holders(number) == set()
    ours.close()
