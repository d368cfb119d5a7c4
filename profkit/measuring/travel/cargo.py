"""The file of a parcel, written once and from the memory that it copies; read by `worker.unpack`."""

from __future__ import annotations

import ctypes
import fcntl
import json
import mmap
import os
import sys
from collections.abc import Iterable
from pickle import PickleBuffer
from typing import Any

from profkit.measuring.travel.tensors import Storage
from profkit.measuring.worker.unpack import FOOTER, MAGIC, Index, Place

_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


class TooBig(Exception):
    """More would be sent than is allowed; never leaves this package."""


class Cargo:
    """A file in memory, as yet without its pickle; `sent_bytes` counts what was written."""

    def __init__(self, fd: int, most_bytes: int) -> None:
        self._fd, self._most_bytes, self._end = fd, most_bytes, 0
        self.sent_bytes = 0

    def write(self, data: Any) -> int:
        """Append something with the buffer protocol, as pickle does; raises `TooBig`."""
        view = memoryview(data).cast("B")
        self._write_at(self._end, view)
        self._end += len(view)
        return len(view)

    def load(
        self, buffers: Iterable[PickleBuffer], storages: Iterable[Storage], *, has_code: bool = False
    ) -> None:
        """Write what the pickle refers to, and the index, and seal the file; raises `TooBig`."""
        index = Index(
            buffers=[self._buffer(buffer.raw()) for buffer in buffers],
            storages=[self._storage(storage) for storage in storages],
            code_of=list(sys.version_info[:2]) if has_code else None,
        )
        text = json.dumps(index).encode()
        start = self._end
        self.write(text)
        self.write(FOOTER.pack(MAGIC, start, len(text)))
        fcntl.fcntl(self._fd, fcntl.F_ADD_SEALS, _SEALS)

    def _buffer(self, memory: memoryview) -> tuple[int, int]:
        place = self._place(_address(memory), len(memory))
        self._write_at(place, memory)
        return place, len(memory)

    def _storage(self, storage: Storage) -> Place:
        place, pieces = self._place(storage.address, storage.size), storage.pieces()
        for piece in pieces:
            at = place + piece[0]
            for memory in storage.read(piece):
                self._write_at(at, memory)
                at += len(memory)
        return Place(offset=place, size=storage.size, device=storage.device, pieces=pieces)

    def _place(self, address: int, size: int) -> int:
        """The next place that is, within its page, where the memory was: alignment changes speed."""
        place = self._end + (address - self._end) % mmap.PAGESIZE
        self._end = place + size
        return place

    def _write_at(self, offset: int, data: memoryview) -> None:
        self.sent_bytes += len(data)
        if self.sent_bytes > self._most_bytes:
            raise TooBig
        done = 0
        while done < len(data):  # the kernel takes at most 2 GiB at once
            done += os.pwrite(self._fd, data[done:], offset + done)


def _address(memory: memoryview) -> int:
    if memory.readonly or not len(memory):
        return 0
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))
