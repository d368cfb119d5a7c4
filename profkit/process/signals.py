"""Ending tidily: signals that would end the program at once let it clean up first."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ending_tidily() -> Iterator[None]:
    """SIGTERM and SIGHUP interrupt the body as Ctrl-C does; after its clean-up they end the process.

    A signal that is ignored stays ignored. Outside of the main thread, which has no say in signals, nothing
    changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[int] = []

    def interrupt(number: int, _frame: FrameType | None) -> NoReturn:
        caught.append(number)
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in _ENDING}
    for number, handler in before.items():
        if handler not in (signal.SIG_IGN, None):
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # one that C set, which Python cannot put back
                signal.signal(number, handler)
        if caught:
            os.kill(os.getpid(), caught[0])


@contextmanager
def undisturbed() -> Iterator[None]:
    """What would interrupt the body comes after it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[int] = []
    # A blocked signal would not do: the system gives it to another thread, and Python runs its handler here.
    before = {
        number: signal.signal(number, lambda number, _frame: caught.append(number))
        for number in (signal.SIGINT, *_ENDING)
        if signal.getsignal(number) not in (signal.SIG_IGN, None)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if caught:
            os.kill(os.getpid(), caught[0])
