"""Statements of C++: shared objects that run in blocks.

What they export, `measuring.cpp.source` describes. Their setups' guards are in force for a whole thread, for
as long as the object may run blocks: so of several, each gets a thread, which does what it is given.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

from .measured import InThisThread, Measured

T = TypeVar("T")

STATEMENT, NOTHING = "profkit_measure", "profkit_measure_empty"
"""Functions that a shared object exports: the statement, and what a block costs as such."""

_BLOCK = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64)
_READY = ctypes.CFUNCTYPE(None, _BLOCK, ctypes.c_void_p)
_Block = Callable[[int, int], bytes | None]


def within(path: str, function: str, work: Callable[[Measured], T]) -> T:
    """Run a shared object's setup in this thread, and `work` while its variables and guards last.

    Raises what `work` raises, and RuntimeError with what the user's code threw.
    """
    done: list[T] = []
    raised: list[BaseException] = []

    def ready(block: _Block, context: int) -> None:
        try:
            done.append(work(_Blocks(block, context)))
        except BaseException as error:  # noqa: BLE001 - raised again where C++ is not in between
            raised.append(error)

    measure = getattr(ctypes.CDLL(path), function)
    measure.restype = ctypes.c_char_p
    thrown = measure(_READY(ready))
    if raised:
        raise raised[0]
    _raise_if_thrown(thrown)
    return done[0]


class _Blocks(InThisThread):
    """A shared object whose setup has run."""

    def __init__(self, block: _Block, context: int) -> None:
        self._block, self._context = block, context

    def run(self, number: int, probe: Callable[[], T]) -> tuple[T, T]:
        """As `Measured` has it."""
        block, none = partial(self._block, self._context, number), ()
        before = probe(*none)
        thrown = block(*none)
        after = probe(*none)
        _raise_if_thrown(thrown)
        return before, after


class Library:
    """A shared object with a thread of its own; raises RuntimeError with what the user's code threw."""

    def __init__(self, path: str, function: str, at_start: Callable[[], None] = lambda: None) -> None:
        """`at_start` is called in the object's thread before its setup."""
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._ready: SimpleQueue[BaseException | None] = SimpleQueue()
        live = partial(self._live, path, function, at_start)
        self._thread = threading.Thread(target=live, name=function, daemon=True)
        self._thread.start()
        failed = self._ready.get()
        if failed is not None:
            raise failed

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
        return self._blocks.run(number, probe)

    def close(self) -> None:
        """End what the setup made."""
        self._tasks.put(None)
        self._thread.join()

    def _live(self, path: str, function: str, at_start: Callable[[], None]) -> None:
        try:
            at_start()
            within(path, function, self._serve)
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that made the object
            self._ready.put(error)

    def _serve(self, blocks: Measured) -> None:
        self._blocks = blocks
        self._ready.put(None)
        while (task := self._tasks.get()) is not None:
            task()


def _raise_if_thrown(text: bytes | None) -> None:
    if text is not None:
        raise RuntimeError(text.decode("utf-8", "replace"))
