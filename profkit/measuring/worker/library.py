"""Statements of C++: shared objects that run in blocks.

What they export, `measuring.cpp.source` describes. Their setups' guards are in force for a whole thread, for
as long as the object may run blocks: so each gets a thread, which does what it is given.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")

STATEMENT, NOTHING = "profkit_measure", "profkit_measure_empty"
"""Functions that a shared object exports: the statement, and what a block costs as such."""

_BLOCK = ctypes.CFUNCTYPE(
    ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64)
)
_READY = ctypes.CFUNCTYPE(None, _BLOCK, ctypes.c_void_p)


class Library:
    """A shared object whose setup has run; raises RuntimeError with what the user's code threw."""

    def __init__(self, path: str, function: str, at_start: Callable[[], None] = lambda: None) -> None:
        """`at_start` is called in the object's thread before its setup."""
        self._at_start = at_start
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._ready: SimpleQueue[bytes | None] = SimpleQueue()
        self._callback = _READY(self._serve)
        self._measure = getattr(ctypes.CDLL(path), function)
        self._measure.restype = ctypes.c_char_p
        self._thread = threading.Thread(target=self._live, name=function, daemon=True)
        self._thread.start()
        _raise_if_thrown(self._ready.get())

    def do(self, task: Callable[[], T]) -> T:
        """Do something in the object's thread, as `Measured` has it."""
        done: list[T] = []
        raised: list[BaseException] = []
        ended = threading.Event()

        def whole() -> None:
            try:
                done.append(task())
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked
                raised.append(error)
            ended.set()

        self._tasks.put(whole)
        ended.wait()
        if raised:
            raise raised[0]
        return done[0]

    def run(self, number: int, probe: Callable[[], T]) -> tuple[T, T]:
        """Run a block, as `Measured` has it; in the object's thread."""
        block, none = partial(self._block, self._context, number, None, self._own_time), ()
        before = probe(*none)
        thrown = block(*none)
        after = probe(*none)
        _raise_if_thrown(thrown)
        return before, after

    def close(self) -> None:
        """End what the setup made."""
        self._tasks.put(None)
        self._thread.join()

    def _live(self) -> None:
        self._at_start()
        self._ready.put(self._measure(self._callback))

    def _serve(self, block: Callable[..., bytes | None], context: int) -> None:
        self._block, self._context = block, context
        self._own_time = ctypes.byref(ctypes.c_int64())  # not read: the probe may wait for CUDA
        self._ready.put(None)
        while (task := self._tasks.get()) is not None:
            task()


def _raise_if_thrown(text: bytes | None) -> None:
    if text is not None:
        raise RuntimeError(text.decode("utf-8", "replace"))
