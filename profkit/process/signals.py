"""Signal handling for clean-up: interrupt on SIGTERM and SIGHUP, delay signals, or wait for them."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

_ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interrupted_by_termination() -> Iterator[None]:
    """Interrupt the body on SIGTERM and SIGHUP as on Ctrl-C; after its clean-up they end the process."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    with _handled(_ENDING, interrupt):
        yield


@contextmanager
def signals_delayed() -> Iterator[None]:
    """Delay SIGINT, SIGTERM and SIGHUP until the body has ended."""
    # Blocking is not enough: the system gives the signal to another thread, and Python runs its handler here.
    with _handled((signal.SIGINT, *_ENDING)):
        yield


@contextmanager
def interruptions() -> Iterator[Callable[[float], bool]]:
    """Yield a function that waits for some seconds, and returns early with True if it should stop.

    SIGINT, SIGTERM and SIGHUP say so. Only the last two end the process after the body.
    """
    stop = threading.Event()
    with _handled((signal.SIGINT, *_ENDING), stop.set, dropped=(signal.SIGINT,)):
        yield stop.wait


@contextmanager
def _handled(
    numbers: Collection[int], react: Callable[[], None] | None = None, dropped: Collection[int] = ()
) -> Iterator[None]:
    """React to signals in the body, and send them again after it, except `dropped` ones.

    Ignored signals stay ignored. Does nothing outside the main thread, where handlers cannot be set.
    """
    caught: list[int] = []

    def handle(number: int, _frame: FrameType | None) -> None:
        caught.append(number)
        if react is not None:
            react()

    is_main = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.getsignal(number) for number in numbers if is_main}
    # None: set by C, and Python cannot restore it.
    before = {one: handler for one, handler in handlers.items() if handler not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        with ExitStack() as stack:  # each once, in order, also if a handler of an earlier one raises
            for number in reversed(dict.fromkeys(caught)):
                if number not in dropped:
                    stack.callback(os.kill, os.getpid(), number)
