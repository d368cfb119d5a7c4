"""Functions of the standard library as CPython defines them, whatever the program has put in their place.

gevent and eventlet replace `time.sleep`, `os.waitpid`, `select.poll`, locks and threads by cooperative ones,
freezegun replaces clocks, debuggers wrap `os.posix_spawn` and thread starts. Code that runs inside a
profiled program takes these functions from `REAL`, and those of `os` from the module `posix`, which none of
them changes. `REAL` is an object because freezegun replaces the attributes of modules.
"""

from __future__ import annotations

import _thread
import select
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading


@dataclass(frozen=True, slots=True)
class Originals:
    """Unpatched functions and types."""

    sleep: Callable[[float], None]
    monotonic: Callable[[], float]
    time_ns: Callable[[], int]
    perf_counter_ns: Callable[[], int]
    start_new_thread: Callable[..., int]
    allocate_lock: Callable[[], threading.Lock]
    rlock: Callable[[], threading._RLock]
    get_ident: Callable[[], int]
    get_native_id: Callable[[], int]
    poll: Callable[[], select.poll]


def unpatched(module: ModuleType, names: tuple[str, ...]) -> ModuleType:
    """Return `module`, or a second instance of this C module if one of the names was replaced."""
    if all(_is_from_c(getattr(module, name, None)) for name in names):
        return module
    import importlib.util  # takes a millisecond, and is needed in patched programs alone

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
    threads = unpatched(_thread, ("start_new_thread", "allocate_lock", "RLock", "get_ident", "get_native_id"))
    polls = unpatched(select, ("poll",))
    return Originals(
        sleep=clocks.sleep,
        monotonic=clocks.monotonic,
        time_ns=clocks.time_ns,
        perf_counter_ns=clocks.perf_counter_ns,
        start_new_thread=threads.start_new_thread,
        allocate_lock=threads.allocate_lock,
        rlock=threads.RLock,
        get_ident=threads.get_ident,
        get_native_id=threads.get_native_id,
        poll=polls.poll,
    )


REAL = _find()
"""The unpatched functions of this process."""
