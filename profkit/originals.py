"""Unpatched functions of the standard library, as CPython defines them, in programs that patch it.

gevent and eventlet replace `time.sleep`, `os.waitpid`, `select.poll`, locks and threads by cooperative
ones. freezegun replaces clocks, and debuggers wrap `os.posix_spawn` and thread starts. Code in a profiled
program takes these functions from `REAL`, and those of `os` from the module `posix`, which none of them
changes. `REAL` is an object because freezegun replaces the attributes of modules.
"""

from __future__ import annotations

import _thread
import select
import sys
import time
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading


class Originals:
    """Unpatched functions and types; a plain class, because making a dataclass takes a millisecond."""

    __slots__ = (
        "allocate_lock", "get_ident", "get_native_id", "monotonic", "perf_counter_ns", "poll", "rlock",
        "sleep", "start_new_thread", "time_ns",
    )  # fmt: skip

    def __init__(self, clocks: ModuleType, threads: ModuleType, polls: ModuleType) -> None:
        self.sleep: Callable[[float], None] = clocks.sleep
        self.monotonic: Callable[[], float] = clocks.monotonic
        self.time_ns: Callable[[], int] = clocks.time_ns
        self.perf_counter_ns: Callable[[], int] = clocks.perf_counter_ns
        self.start_new_thread: Callable[..., int] = threads.start_new_thread
        self.allocate_lock: Callable[[], threading.Lock] = threads.allocate_lock
        self.rlock: Callable[[], threading._RLock] = threads.RLock
        self.get_ident: Callable[[], int] = threads.get_ident
        self.get_native_id: Callable[[], int] = threads.get_native_id
        self.poll: Callable[[], select.poll] = polls.poll


def unpatched(module: ModuleType, names: tuple[str, ...]) -> ModuleType:
    """Return `module`, or a new instance of this C module if one of the names was replaced."""
    if all(_is_from_c(getattr(module, name, None)) for name in names):
        return module
    import importlib.util  # takes a millisecond, and is needed only in patched programs

    name = module.__name__
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return module
    fresh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fresh)
    sys.modules[name] = module  # loading an extension module registers the new instance
    return fresh


def _is_from_c(value: object) -> bool:
    if isinstance(value, type):
        return not any(isinstance(member, FunctionType) for member in vars(value).values())
    return isinstance(value, BuiltinFunctionType)


def _find() -> Originals:
    clocks = unpatched(time, ("sleep", "monotonic", "time_ns", "perf_counter_ns"))
    names = ("start_new_thread", "allocate_lock", "RLock", "get_ident", "get_native_id")
    return Originals(clocks, unpatched(_thread, names), unpatched(select, ("poll",)))


REAL = _find()
"""Unpatched functions of this process."""
