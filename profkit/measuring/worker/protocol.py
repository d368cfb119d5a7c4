"""Messages between driver (the pool's process), supervisor, zygote and child: JSON, and file descriptors."""

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
"""Driver to zygote: fork a child for the job whose descriptors follow."""
DESCRIPTORS = b"H"
"""Content of a packet with descriptors; a zygote that reads one of a dead child discards them."""
CANNOT_REPLY = 77
"""Exit status of a child whose job closed the descriptor of its reply (EX_NOPERM in sysexits.h)."""
DUMP_SIGNAL = 45
"""Signal that makes a worker print its threads' tracebacks: a real-time signal without known users."""

_LENGTH_BYTES = 4
_PIECE = 1 << 16
_MAX_DESCRIPTORS = 8


def blocking_socket(descriptor: int) -> socket.socket:
    """Return the socket of a descriptor in blocking mode; gevent's are non-blocking."""
    os.set_blocking(descriptor, True)
    return socket.socket(fileno=descriptor)


def send(channel: socket.socket, message: Message) -> None:
    """Write a message to a channel; raises OSError if the other end is closed."""
    text = json.dumps(message).encode("ascii")
    channel.sendall(len(text).to_bytes(_LENGTH_BYTES, "big") + text, socket.MSG_NOSIGNAL)


class Inbox:
    """Reader of messages from a channel, however the stream is split."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._arrived = bytearray()
        self.ended = False
        """True at the end of the stream."""

    def read(self) -> list[Message]:
        """Return the messages that the next chunk completes; waits for it if the channel is blocking."""
        try:
            piece = self._channel.recv(_PIECE)
        except BlockingIOError:
            return []
        except ConnectionResetError:  # the other end closed before it read everything
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
    """Return a new memory file that holds a message; the caller closes it.

    Unlike a channel, it never makes the writer wait for a reader.
    """
    return file_of(json.dumps(message).encode("ascii"))


def file_of(content: bytes) -> int:
    """Return a new memory file with this content, which can be sealed; the caller closes it."""
    descriptor = os.memfd_create("profkit-message", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    rest = memoryview(content)
    while rest:  # the kernel takes at most 2 GiB at once
        rest = rest[os.write(descriptor, rest) :]
    return descriptor


def from_file(descriptor: int) -> Message:
    """Return the message in a file, regardless of its position, and close it."""
    content = content_of(descriptor)
    os.close(descriptor)
    message: Message = json.loads(content)
    return message


def content_of(descriptor: int) -> bytearray:
    """Return the content of a file, regardless of its position."""
    pieces = bytearray()
    while piece := os.pread(descriptor, _PIECE, len(pieces)):
        pieces += piece
    return pieces


def identity_of(descriptor: int) -> tuple[int, int] | None:
    """Return a file's (device, inode), or None if closed: a job may close ours and reuse the number."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino


# Not socket.send_fds and recv_fds: in Python 3.11 they ignore their flags.


def send_descriptors(channel: socket.socket, descriptors: Sequence[int]) -> None:
    """Send copies of descriptors through a socket of packets."""
    rights = array.array("i", descriptors)
    channel.sendmsg([DESCRIPTORS], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)], socket.MSG_NOSIGNAL)


def receive_descriptors(channel: socket.socket) -> list[int]:
    """Receive descriptors, close-on-exec; empty at the channel's end."""
    descriptors = array.array("i")
    space = socket.CMSG_SPACE(_MAX_DESCRIPTORS * descriptors.itemsize)
    for _, _, rights in channel.recvmsg(1, space, socket.MSG_CMSG_CLOEXEC)[1]:
        descriptors.frombytes(rights)
    return list(descriptors)


class Fresh(TypedDict):
    """State of executions: shared by all, or restored for each."""

    decided: bool | None
    """True if each execution has its own state; None: undecided."""
    changes: list[str]
    """State that an execution changes."""
    globals: list[list[str]]
    """(module, name) of the globals that are restored for each execution."""
    function: bool
    """True if the function's own state, such as its closure, is restored for each execution."""
    why_not: str
    """Reason why executions share a state that they change."""


UNDECIDED: Fresh = {"decided": None, "changes": [], "globals": [], "function": False, "why_not": ""}
SHARED: Fresh = {**UNDECIDED, "decided": False}


class Case(TypedDict):
    """One statement, callable or library to measure."""

    stmt: str | None
    setup: str
    global_setup: str
    language: str
    """ "python" or "c++"."""
    level: str
    """ "function" or "module": the scope of a Python statement's names."""
    payload: bool
    """True for the callable in the job's payload, or for a statement that reads the names in it."""
    library: str | None
    """Path of a C++ statement's shared object."""
    fresh: NotRequired[Fresh]
    """For Python only; `SHARED` if missing."""


class JobMessage(TypedDict):
    """The part of a message that `perform` reads; `apply_surroundings` applies the environment before."""

    mode: str
    """ "timer", "callgrind", "attribution" or "canary"."""
    num_threads: int
    imports: NotRequired[list[str]]
    cases: list[Case]
    number: list[int | None]
    """Executions per block for each case; None: chosen by the worker."""
    runs: int | None
    """Maximum executions of each statement, including warm-ups."""
    blocks: NotRequired[int | None]
    block_s: NotRequired[float]
    min_run_time_s: NotRequired[float]
    """For this process."""
    seed: NotRequired[int]
    repeats: NotRequired[int]
    warm: NotRequired[int]
    """Warm-up executions before counting, fewer for slow statements."""
    memory_limit_bytes: NotRequired[int | None]
    """For the process and its descendants."""
    dump_prefix: NotRequired[str]
    """Prefix of the paths of Callgrind's dumps."""


class Times(TypedDict):
    """A timed case."""

    number: int
    times_s: list[float]
    """Time per execution, for each block."""
    cpu_s: float
    wall_s: float
    involuntary: int
    loop_s: float
    """Loop overhead per execution that was subtracted; 0 if it is part of the times."""
    loop_spread_s: float
    """Difference between the minima of two halves of the loop times."""
    fresh: Fresh


FUNCTION = "setup and statement"
"""Name of the function that executes a statement."""
NOTHING = "<baseline>"
"""File name of the same loop, empty."""
CALL = "<call of the callable>"
"""File name of code that is not the user's."""


class Counts(TypedDict):
    """A counted case, with the paths of its dumps."""

    number: int
    dumps: list[str]
    """One per repeat."""
    baseline_dumps: list[str]
    """Dumps of the same loop, empty."""
    fresh: Fresh


class Attributed(Counts):
    """A case counted by Python function: one dump of each kind."""

    stubs: list[tuple[int, str, str, int]]
    """Address of each function's stub, with the function's qualified name, file and first line."""


class StartOver(TypedDict):
    """A case that only another process can measure, with what that process must know."""

    fresh: Fresh
