"""Signals that are held back: each comes again, also if a handler raises."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from profkit.process.signals import interrupted_by_termination, signals_delayed


@pytest.fixture
def handled() -> Iterator[list[int]]:
    """The numbers of handled signals; the handler of SIGHUP raises."""
    numbers: list[int] = []

    def handle(number: int, _frame: object) -> None:
        numbers.append(number)
        if number == signal.SIGHUP:
            raise RuntimeError("SIGHUP")

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield numbers
    for number, handler in before.items():
        signal.signal(number, handler)


def test_both_signals_come_after_the_clean_up(handled: list[int]) -> None:
    def body() -> None:
        with interrupted_by_termination():
            try:
                os.kill(os.getpid(), signal.SIGHUP)
            finally:
                os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(RuntimeError, match="SIGHUP"):
        body()
    assert handled == [signal.SIGHUP, signal.SIGTERM]


def test_both_signals_come_after_an_undisturbed_body(handled: list[int]) -> None:
    def body() -> None:
        with signals_delayed():
            for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGHUP):
                os.kill(os.getpid(), number)
            assert handled == []

    with pytest.raises(RuntimeError, match="SIGHUP"):
        body()
    assert handled == [signal.SIGHUP, signal.SIGTERM]


def test_without_a_signal_nothing_is_sent(handled: list[int]) -> None:
    with interrupted_by_termination(), signals_delayed():
        pass
    assert handled == []
