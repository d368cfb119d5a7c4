"""Reentrant locks for `with` statements that signal handlers may interrupt, and the one for imports."""

from __future__ import annotations

import atexit
import os
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


IMPORTING = new_rlock()
"""Held while a thread imports parts of profkit, and from the end of the program on.

CPython stops daemon threads wherever they are when a program ends. If one is in an import, it keeps the lock
of imports, and the program may wait for that forever: its last garbage collection takes it (seen with 3.15).
"""


def is_importing() -> bool:
    """Return whether this thread holds the lock, as a signal handler may find."""
    return IMPORTING._is_owned()  # type: ignore[attr-defined,no-any-return]


def _after_fork_in_child() -> None:
    if not is_importing():  # else this thread goes on with its import
        IMPORTING._at_fork_reinit()  # type: ignore[attr-defined]


atexit.register(IMPORTING.acquire)
os.register_at_fork(after_in_child=_after_fork_in_child)
