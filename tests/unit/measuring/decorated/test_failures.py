"""Failures of profkit around measured calls are logged, and the function runs; the program's own pass."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
from collections.abc import Callable
from typing import Any

import pytest

from profkit.process import guard
from tests.unit.measuring.decorated.test_backlog import BatchContext, watched

STEPS = ("is_measurable", "choose", "begin", "end", "enqueue")


class OfTheProgram(Exception):
    """An exception that only the program can throw."""


OWN = [TypeError("unexpected"), MemoryError(), OSError(24, "too many open files"), AttributeError("_lock")]
OF_THE_PROGRAM = [OfTheProgram("time is up"), KeyboardInterrupt(), SystemExit(3)]


def name_of(error: object) -> str:
    return type(error).__name__ if isinstance(error, BaseException) else str(error)


def failing(function: Callable[..., Any], step: str, error: BaseException) -> Any:
    """Return the measured function; one step of its watch raises an error."""

    def fail(*_: object) -> None:
        raise error

    watch = BatchContext().watch(function)
    setattr(watch, step, fail)
    return watched(watch, function)


def descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture(autouse=True, scope="module")
def first_call() -> None:
    """Import what the first call needs: libffi, for one, keeps a descriptor of its own."""
    context = BatchContext()
    context.measured(descriptors)()
    context.backlog.drop()


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_LOGGED", set())


@pytest.mark.parametrize("error", OWN, ids=name_of)
@pytest.mark.parametrize("step", STEPS)
def test_the_function_runs_once_and_one_warning_says_why(
    step: str, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[int] = []

    def double(n: int) -> int:
        calls.append(n)
        return 2 * n

    before, wrapped = descriptors(), failing(double, step, error)
    assert [wrapped(n) for n in (1, 2, 3)] == [2, 4, 6]
    assert calls == [1, 2, 3]
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert name_of(error) in record.getMessage()
    assert descriptors() == before


@pytest.mark.parametrize("step", STEPS)
def test_a_coroutine_runs_too(step: str) -> None:
    async def double(n: int) -> int:
        return 2 * n

    assert asyncio.run(failing(double, step, TypeError("unexpected"))(3)) == 6


@pytest.mark.parametrize("step", ["end", "abandon"])
def test_what_the_function_raises_is_not_replaced(step: str) -> None:
    error = OfTheProgram("mine")

    def fail() -> None:
        raise error

    with pytest.raises(OfTheProgram) as caught:
        failing(fail, step, TypeError("unexpected"))()
    assert caught.value is error
    assert caught.value.__context__ is None


@pytest.mark.parametrize("error", OF_THE_PROGRAM, ids=name_of)
@pytest.mark.parametrize("step", STEPS)
def test_what_is_the_programs_passes(step: str, error: BaseException) -> None:
    def nothing() -> None: ...

    before, wrapped = descriptors(), failing(nothing, step, error)
    with pytest.raises(type(error)) as caught:
        wrapped()
    assert caught.value is error
    assert descriptors() == before


def test_a_coroutine_that_never_starts_is_forgotten_quietly(caplog: pytest.LogCaptureFixture) -> None:
    async def double(n: int) -> int:
        return 2 * n

    failing(double, "abandon", TypeError("unexpected"))(3).close()
    gc.collect()
    assert "unexpected" in caplog.text
