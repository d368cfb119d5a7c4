"""The protocol of driver, supervisor, zygote and child: JSON objects, and descriptors beside single bytes."""

from __future__ import annotations

import array
import json
import os
import socket
from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

Message = dict[str, Any]
"""A JSON object."""

FORK = b"F"
"""Driver to zygote: fork a child for the job whose descriptors come next."""
HANDED = b"H"
"""A packet with descriptors; a zygote that reads one meant for a child that died lets them go."""
CANNOT_ANSWER = 77
"""Exit status of a child whose job closed the descriptor of its answer (EX_NOPERM in sysexits.h)."""
DUMP_SIGNAL = 45
"""Has a worker print the tracebacks of its threads: a real-time signal that nobody is known to use."""

_LENGTH_BYTES = 4
_PIECE = 1 << 16
_MOST_DESCRIPTORS = 8


def blocking_socket(descriptor: int) -> socket.socket:
    """The socket behind a descriptor, whose calls wait: those of gevent do not."""
    os.set_blocking(descriptor, True)
    return socket.socket(fileno=descriptor)


def send(channel: socket.socket, message: Message) -> None:
    """Write a message to a channel; raises OSError where the other end is gone."""
    text = json.dumps(message).encode("ascii")
    channel.sendall(len(text).to_bytes(_LENGTH_BYTES, "big") + text, socket.MSG_NOSIGNAL)


class Inbox:
    """What comes out of a channel, whatever pieces it arrives in."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._arrived = bytearray()
        self.ended = False
        """Nothing more will come."""

    def read(self) -> list[Message]:
        """The messages that the next piece completes; waits for one where the channel is blocking."""
        try:
            piece = self._channel.recv(_PIECE)
        except BlockingIOError:
            return []
        except ConnectionResetError:  # the other end closed with something of ours unread
            piece = b""
        self.ended = not piece
        self._arrived += piece
        return list(iter(self._take, None))

    def _take(self) -> Message | None:
        end = _LENGTH_BYTES + int.from_bytes(self._arrived[:_LENGTH_BYTES], "big")
        if len(self._arrived) < max(end, _LENGTH_BYTES):
            return None
        message: Message = json.loads(self._arrived[_LENGTH_BYTES:end])
        del self._arrived[:end]
        return message


def in_file(message: Message) -> int:
    """A new file in memory that holds a message; the caller closes it.

    Nobody waits for a reader as with a channel, however large the message is.
    """
    descriptor = os.memfd_create("profkit-message", os.MFD_CLOEXEC)
    rest = memoryview(json.dumps(message).encode("ascii"))
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    return descriptor


def from_file(descriptor: int) -> Message:
    """The message that a file holds, wherever its position is; closes it."""
    pieces = bytearray()
    while piece := os.pread(descriptor, _PIECE, len(pieces)):
        pieces += piece
    os.close(descriptor)
    message: Message = json.loads(pieces)
    return message


def identity_of(descriptor: int) -> tuple[int, int] | None:
    """What a descriptor stands for, None if it is closed: a job may close ours and open files of its own."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino


# Not socket.send_fds and recv_fds: Python 3.11's take flags and ignore them.


def hand(channel: socket.socket, descriptors: Sequence[int]) -> None:
    """Send copies of descriptors through a socket of packets."""
    rights = array.array("i", descriptors)
    channel.sendmsg([HANDED], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)], socket.MSG_NOSIGNAL)


def handed(channel: socket.socket) -> list[int]:
    """Wait for descriptors; programs that are started do not inherit them. Empty at the channel's end."""
    descriptors = array.array("i")
    space = socket.CMSG_SPACE(_MOST_DESCRIPTORS * descriptors.itemsize)
    for _, _, rights in channel.recvmsg(1, space, socket.MSG_CMSG_CLOEXEC)[1]:
        descriptors.frombytes(rights)
    return list(descriptors)


class Fresh(TypedDict):
    """Whether each execution has a state of its own, such as arguments that nothing has changed."""

    decided: bool | None
    """None: to be found out."""
    changes: list[str]
    """What an execution changes."""
    globals: list[list[str]]
    """(module, name) of what each execution has anew besides."""
    function: bool
    """Whether it has what belongs to the function anew, such as its closure."""
    why_not: str
    """Why executions share a state that they change."""


UNDECIDED: Fresh = {"decided": None, "changes": [], "globals": [], "function": False, "why_not": ""}
SHARED: Fresh = {**UNDECIDED, "decided": False}


class Arm(TypedDict):
    """One statement, callable or library to measure."""

    stmt: str | None
    setup: str
    global_setup: str
    language: str
    """ "python" or "c++"."""
    level: str
    """ "function" or "module": where a Python statement's names live."""
    parcel: bool
    """Whether it is the callable that came as the job's parcel."""
    library: str | None
    """Path of a C++ statement's shared object."""
    fresh: NotRequired[Fresh]
    """Of Python; shared if it is missing."""


class Job(TypedDict):
    """What `perform` reads of a message; its surroundings are in force already."""

    mode: str
    """ "timer", "callgrind" or "canary"."""
    num_threads: int
    imports: NotRequired[list[str]]
    arms: list[Arm]
    number: list[int | None]
    """Executions in a block for each arm; None: to be found out."""
    runs: int | None
    """Most executions of each statement, warm-ups included."""
    blocks: NotRequired[int | None]
    block_s: NotRequired[float]
    min_run_time_s: NotRequired[float]
    """Of this process."""
    seed: NotRequired[int]
    repeats: NotRequired[int]
    warm: NotRequired[int]
    """Executions before anything is counted, where they do not take long."""
    memory_limit_bytes: NotRequired[int | None]
    """Of the process and what it starts."""
    dump_prefix: NotRequired[str]
    """Callgrind's dumps are files whose paths begin with it."""


class Times(TypedDict):
    """A timed arm."""

    number: int
    times_s: list[float]
    """Of one execution, for each block."""
    cpu_s: float
    wall_s: float
    involuntary: int
    loop_s: float
    """What the loop costs for each execution, as it was subtracted; 0 where it is a part of the times."""
    loop_spread_s: float
    """Between the least of half the loops, and the least of the other half."""
    fresh: Fresh


class Counts(TypedDict):
    """A counted arm: paths of dumps."""

    number: int
    dumps: list[str]
    """One for each repeat."""
    baseline_dumps: list[str]
    """Of the same loop around nothing."""
    fresh: Fresh


class StartOver(TypedDict):
    """An arm that only another process can measure, which is told this."""

    fresh: Fresh


class Answer(TypedDict):
    """What `perform` returns."""

    ok: bool
    arms: NotRequired[Sequence[Times | Counts | StartOver]]
    versions: NotRequired[dict[str, str]]
    """Of the modules that a canary imported; empty where a module tells none."""
