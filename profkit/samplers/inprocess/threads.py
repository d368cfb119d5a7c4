"""Threads of this process as CPython lists them: by its own numbers, which `threading` may not know."""

from __future__ import annotations

import _thread
import posix
import sys

from profkit.originals import REAL
from profkit.samplers.helper import proc_files

_MAIN: dict[int, int] = {}
"""Number of the main thread, by pid, once the main thread has asked for it."""
_HAS_OTHERS = sys.version_info >= (3, 12)
"""True if the frames of other interpreters are listed, which may crash (python/cpython#158364)."""
_INTERPRETERS = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"


class Threads:
    """The kernel's numbers and the names of the threads of this process."""

    def __init__(self, pid: int) -> None:
        self._pid, self._main = pid, main_ident()
        self._names: dict[int, str] = {}

    def tid(self, ident: int) -> int:
        """Return the kernel's number of a thread, else Python's, and note its name.

        Runs no code of the program, such as a property of a subclass of `Thread`.
        """
        if ident == self._main:
            return self._pid
        known = getattr(sys.modules.get("threading"), "_active", None)
        thread = known.get(ident) if isinstance(known, dict) else None
        state = getattr(thread, "__dict__", {})
        tid, name = state.get("_native_id"), state.get("_name")
        if type(tid) is not int:
            return ident
        if type(name) is str:
            self._names[tid] = name
        return tid

    def name(self, pid: int, tid: int) -> str:
        """Return the name of a thread: Python's if there is one, else the kernel's."""
        return self._names.get(tid) or proc_files.thread_name(pid, tid)


def main_ident() -> int | None:
    """Return Python's number of the main thread; None if that is not known."""
    if sys.version_info >= (3, 13):
        return _thread._get_main_thread_ident()
    pid = posix.getpid()
    if REAL.get_native_id() == pid:
        _MAIN[pid] = REAL.get_ident()
    main = getattr(sys.modules.get("threading"), "_main_thread", None)
    return _MAIN.get(pid) or getattr(main, "_ident", None)


def has_other_interpreters() -> bool:
    """Return whether the program has subinterpreters, with which listing all frames may crash."""
    module = sys.modules.get(_INTERPRETERS) if _HAS_OTHERS else None
    return module is not None and len(module.list_all()) > 1
