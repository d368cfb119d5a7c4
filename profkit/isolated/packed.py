"""A packed call that waits: small ones in memory, since descriptors are few, large ones in their file."""

from __future__ import annotations

import os
import threading

from profkit.measuring.travel.parcel import Parcel

_SMALL_BYTES = 1 << 20
_MOST_FILES = 64


class PackedCall:
    """A function with its arguments as they were when it was packed; `open` gives a descriptor of it."""

    _files = 0
    _lock = threading.Lock()

    def __init__(self, parcel: Parcel) -> None:
        self.coroutine, self.packages = parcel.coroutine, parcel.packages
        self._parcel: Parcel | None = None
        self._bytes = b""
        size = os.fstat(parcel.fd).st_size
        if size > _SMALL_BYTES and self._count(1):
            self._parcel = parcel
        else:
            self._bytes = _read(parcel.fd, size)
            parcel.close()

    def open(self) -> int:
        """Return a descriptor that the caller closes."""
        if self._parcel is not None:
            return os.dup(self._parcel.fd)
        descriptor = os.memfd_create("profkit-call", os.MFD_CLOEXEC)
        rest, done = memoryview(self._bytes), 0
        while done < len(rest):  # the kernel takes at most 2 GiB at once
            done += os.pwrite(descriptor, rest[done:], done)
        return descriptor

    def close(self) -> None:
        """Give up what is packed."""
        self._bytes = b""
        if self._parcel is not None:
            self._parcel.close()
            self._parcel = None
            self._count(-1)

    @classmethod
    def begin(cls) -> None:
        """Start over in a process that was forked off: another thread may have held the lock."""
        cls._lock = threading.Lock()

    @classmethod
    def _count(cls, change: int) -> bool:
        with cls._lock:
            if cls._files + change > _MOST_FILES:
                return False
            cls._files += change
            return True


def _read(descriptor: int, size: int) -> bytes:
    pieces = bytearray()
    while len(pieces) < size:
        pieces += os.pread(descriptor, size - len(pieces), len(pieces))
    return bytes(pieces)
