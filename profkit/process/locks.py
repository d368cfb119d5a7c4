"""Reentrant locks for `with` statements that signal handlers may interrupt."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from profkit.originals import REAL

if TYPE_CHECKING:
    from threading import _RLock


class _InterruptibleRLock(REAL.rlock):  # type: ignore[misc,name-defined] # it is a type
    """Lock that is free if an exception comes when a `with` statement has just taken it.

    CPython 3.14 runs signal handlers between that and the beginning of the block, which would leave the lock
    taken. The end of the block is C code, which no handler precedes.
    """

    def __enter__(self) -> bool:
        held = self._recursion_count()
        try:
            taken: bool = self.acquire()
        except BaseException:
            if self._recursion_count() > held:
                self.release()
            raise
        return taken


def new_rlock() -> _RLock:
    """Return a lock that a `with` statement takes and enters without an interrupt."""
    lock: _RLock = _InterruptibleRLock() if sys.version_info[:2] == (3, 14) else REAL.rlock()
    return lock
