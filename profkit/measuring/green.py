"""Signals and polling under gevent and eventlet, which replace `threading` with green threads.

A green thread runs in the program's thread that started it, and yields to others only in functions that
the library has replaced.
"""

from __future__ import annotations

import select
import signal
import time
from collections.abc import Iterable

from profkit.clock import SYSTEM_CLOCK
from profkit.originals import REAL

_PAUSE_S = 0.005
_POLLIN = 1
"""POLLIN of poll(2); eventlet's `select` lacks the constants."""


def leave_signals(starter: int) -> None:
    """Block all signals in this thread, if it is not `starter`: `REAL.get_ident()` of its starting thread."""
    if REAL.get_ident() != starter:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


def readable(descriptors: Iterable[int], timeout_s: float) -> set[int]:
    """Wait until descriptors are readable or closed at the other end, and return those that are."""
    if not hasattr(select, "poll"):  # eventlet removes it
        return _readable_of_eventlet(descriptors, timeout_s)
    poller = select.poll()
    for descriptor in descriptors:
        poller.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in poller.poll(timeout_s * 1000)}


def _readable_of_eventlet(descriptors: Iterable[int], timeout_s: float) -> set[int]:
    poller, deadline_s = REAL.poll(), SYSTEM_CLOCK.monotonic_s() + timeout_s
    for descriptor in descriptors:
        poller.register(descriptor, _POLLIN)
    while not (ready := poller.poll(0)) and SYSTEM_CLOCK.monotonic_s() < deadline_s:
        time.sleep(_PAUSE_S)  # lets other green threads run
    return {descriptor for descriptor, _ in ready}
