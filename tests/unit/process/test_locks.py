"""Locks that exceptions of signal handlers interrupt."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from profkit.process.background import BackgroundThread
from profkit.process.locks import _InterruptibleRLock, new_rlock


class Interrupt(Exception):
    """An exception of a signal handler."""


Repeat = Callable[[Callable[[], object]], None]


@pytest.fixture
def interrupted() -> Iterator[Repeat]:
    """A function that repeats another until a handler raises, a thousand times."""

    def handle(*_: object) -> None:
        raise Interrupt

    def repeat(work: Callable[[], object]) -> None:
        for _ in range(1000):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0001)
                while True:
                    work()
            except Interrupt:
                pass

    before = signal.signal(signal.SIGALRM, handle)
    yield repeat
    signal.signal(signal.SIGALRM, before)


def is_free(lock: Any) -> bool:
    """Return whether another thread can take a lock."""
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(lock.acquire(False)))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("make", [new_rlock, _InterruptibleRLock])
def test_an_interrupt_leaves_no_lock_taken(interrupted: Repeat, make: Callable[[], Any]) -> None:
    lock = make()

    def take() -> None:
        with lock:
            pass

    interrupted(take)
    assert is_free(lock)


def test_an_interrupt_leaves_the_outer_block_its_lock(interrupted: Repeat) -> None:
    lock = new_rlock()

    def take() -> None:
        with lock:
            pass

    with lock:
        interrupted(take)
        assert not is_free(lock)
    assert is_free(lock)


def test_an_interrupt_does_not_end_waiting_for_a_thread(interrupted: Repeat) -> None:
    thread = BackgroundThread(lambda: None)
    thread.start()
    interrupted(thread.await_end)
    assert not thread.is_alive()
    thread.await_end()
