"""Threads of profkit's own in the profiled program, which no signal of the program's is delivered to."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from time import sleep


def background(name: str, work: Callable[[], object]) -> threading.Thread:
    """A daemon thread that is yet to be started; see `start`."""
    return threading.Thread(target=work, name=name, daemon=True)


def start(thread: threading.Thread) -> None:
    """Start a thread that blocks all signals.

    The kernel gives a process's signal to any thread that does not block it: one that the program
    blocks, in order to wait for it, would otherwise end the program here. Raises RuntimeError where
    there can be no threads any more: at interpreter shutdown.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        thread.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def await_end(thread: threading.Thread) -> None:
    """Wait until a started thread is gone for the system too, which may be a little after `join`."""
    thread.join()
    while os.path.exists(f"/proc/self/task/{thread.native_id}"):
        sleep(0)
