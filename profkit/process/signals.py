"""Signal handling for clean-up: interrupt on SIGTERM and SIGHUP, delay signals, or wait for them."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import NoReturn

_ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interrupted_by_termination() -> Iterator[None]:
    """Interrupt the body on SIGTERM and SIGHUP as on Ctrl-C; after its clean-up they end the process.

    Ignored signals stay ignored. Does nothing outside the main thread, where handlers cannot be set.
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
            if handler is not None:  # None: set by C, and Python cannot restore it
                signal.signal(number, handler)
        _send_again(caught)


@contextmanager
def signals_delayed() -> Iterator[None]:
    """Delay SIGINT, SIGTERM and SIGHUP until the body has ended."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[int] = []
    # Blocking is not enough: the system gives the signal to another thread, and Python runs its handler here.
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
        _send_again(caught)


@contextmanager
def interruptions() -> Iterator[Callable[[float], bool]]:
    """Yield a function that waits for some seconds, and returns early with True if it should stop.

    SIGINT, SIGTERM and SIGHUP say so. Only the last two end the process after the body. Use it in the main
    thread.
    """
    caught: list[int] = []
    stop = threading.Event()

    def note(number: int, _frame: FrameType | None) -> None:
        caught.append(number)
        stop.set()

    before = {
        number: signal.signal(number, note)
        for number in (signal.SIGINT, *_ENDING)
        if signal.getsignal(number) not in (signal.SIG_IGN, None)
    }
    try:
        yield stop.wait
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _send_again([number for number in caught if number != signal.SIGINT])


def _send_again(numbers: list[int]) -> None:
    """Send each signal to this process once, in order, also if a handler of an earlier one raises."""
    with ExitStack() as stack:
        for number in reversed(dict.fromkeys(numbers)):
            stack.callback(os.kill, os.getpid(), number)
