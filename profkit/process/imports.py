"""The lock under which threads import parts of profkit, so that none does when the program has ended.

CPython stops daemon threads wherever they are when a program ends. If one is in an import, it keeps the lock
of imports, and the program may wait for that forever: its last garbage collection takes it (seen with 3.15).
"""

from __future__ import annotations

import atexit
import os

from profkit.process.locks import new_rlock

IMPORTING = new_rlock()
"""Held while a thread imports parts of profkit, and from the end of the program on."""


def is_importing() -> bool:
    """Return whether this thread holds the lock, as a signal handler may find."""
    return IMPORTING._is_owned()  # type: ignore[attr-defined,no-any-return]


def _hold() -> None:
    IMPORTING.acquire()


def _after_fork_in_child() -> None:
    if not is_importing():  # else this thread goes on with its import
        IMPORTING._at_fork_reinit()  # type: ignore[attr-defined]


atexit.register(_hold)
os.register_at_fork(after_in_child=_after_fork_in_child)
