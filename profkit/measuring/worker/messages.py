"""How driver, supervisor, zygote and child talk: JSON objects, and descriptors beside single bytes.

On a channel a message is its length (four bytes, big-endian) and ASCII-only JSON. In a file it is the
JSON alone. Descriptors are handed on as `unix(7)` says (SCM_RIGHTS), with one byte that says what for.
"""

from __future__ import annotations

import array
import json
import os
import socket
from collections.abc import Sequence
from typing import Any

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
