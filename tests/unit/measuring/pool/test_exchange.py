"""The exchange of a job with a zygote that is made here."""

from __future__ import annotations

import os
import signal
import socket
import struct
from collections.abc import Callable, Iterable, Iterator

import pytest

from profkit.clock import ManualClock
from profkit.errors import WorkerDied
from profkit.measuring.pool.command import Output
from profkit.measuring.pool.exchange import JobExchange
from profkit.measuring.pool.jobs import Job, Reply, ZygoteFacts
from profkit.measuring.worker.protocol import send

LARGE = "x" * 150_000
"""Several chunks of a reply, and less than a socket holds."""


class EndedZygote:
    """A zygote whose child ended before anything of its reply was read."""

    facts = ZygoteFacts(1, "", ())
    folder = excess_bytes = None
    child_was_stopped = False
    control = 0

    def __init__(self) -> None:
        self.packets = iter([struct.pack(">i", 4711), struct.pack(">i", signal.SIGKILL)])

    def wait(
        self, others: Iterable[int], deadline_s: float, stop: Callable[[], bool], pause_s: float = 1.0
    ) -> frozenset[int]:
        return frozenset([self.control])

    def packet(self) -> bytes:
        return next(self.packets)

    def sweep(self) -> None: ...


@pytest.fixture
def channels() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        yield ours, theirs


def result(ours: socket.socket) -> Reply:
    output = Output()
    try:
        job = Job("a", {}, 1.0)
        exchange = JobExchange(EndedZygote(), job, ours, output, ManualClock())  # type: ignore[arg-type]
        return exchange.result(lambda: False)
    finally:
        output.close()


def test_a_large_reply_of_a_child_that_has_ended(channels: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = channels
    send(theirs, {"ok": True, "text": LARGE})
    theirs.close()
    assert result(ours).message["text"] == LARGE


def test_a_child_that_ended_without_a_reply(channels: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = channels
    theirs.close()
    with pytest.raises(WorkerDied, match="SIGKILL"):
        result(ours)


def test_a_process_that_holds_the_channel_of_a_child_that_has_ended(
    channels: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = channels
    os.write(theirs.fileno(), b"\0\0")
    with pytest.raises(WorkerDied, match="SIGKILL"):
        result(ours)
