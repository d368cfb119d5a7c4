"""Opens of files by any process, in order, from inotify(7); it reports those of files in /proc, too."""

from __future__ import annotations

import posix
import sys

_IN_CLOSE_NOWRITE, _IN_OPEN = 0x10, 0x20
_WANTED = _IN_CLOSE_NOWRITE | _IN_OPEN
"""The kernel makes one event of equal ones in a row: those of closes separate those of opens."""
_FLAGS = posix.O_NONBLOCK | posix.O_CLOEXEC
_HEADER_BYTES, _MOST_BYTES = 16, 1 << 16
"""Size of `struct inotify_event` without its name, and the most bytes read at once."""


class Opens:
    """Reader of the opens of watched files."""

    def __init__(self) -> None:
        """Raise OSError if the user has too many such readers, and ImportError without ctypes."""
        import ctypes  # here, since it takes 3 ms, in which the sampler can start

        self._libc, self._errno = ctypes.CDLL(None, use_errno=True), ctypes.get_errno
        self.descriptor = self._checked(self._libc.inotify_init1(_FLAGS))

    def watch(self, path: str) -> int:
        """Return the number of a watch on a file or folder; raises OSError."""
        return self._checked(self._libc.inotify_add_watch(self.descriptor, path.encode(), _WANTED))

    def read(self) -> list[int]:
        """Return the watches whose files have been opened since the last call, in order."""
        try:
            data = posix.read(self.descriptor, _MOST_BYTES)
        except BlockingIOError:
            return []
        found, place = list[int](), 0
        while place < len(data):
            watch, mask, _, name_bytes = (
                int.from_bytes(data[place + start : place + start + 4], sys.byteorder)
                for start in (0, 4, 8, 12)
            )
            if mask & _IN_OPEN and not name_bytes:  # with a name, it is a file in the folder
                found.append(watch)
            place += _HEADER_BYTES + name_bytes
        return found

    def _checked(self, result: int) -> int:
        if result < 0:
            code = self._errno()
            raise OSError(code, posix.strerror(code))
        return result
