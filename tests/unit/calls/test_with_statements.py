"""The lines of a `with` body, told by the code's own tables; the functions below are the golden input."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import inspect
import opcode
import sys
from collections.abc import Callable
from types import TracebackType

import pytest

from profkit.calls import with_statements
from profkit.calls.with_statements import are_understood, body_lines, line_at

SEEN: list[tuple[int, frozenset[int] | None]] = []


class Probe:
    def __enter__(self) -> None:
        frame = sys._getframe(1)
        body = body_lines(frame.f_code, frame.f_lasti)
        first = frame.f_code.co_firstlineno
        SEEN.append(
            (line_at(frame.f_code, frame.f_lasti) - first, body and frozenset(line - first for line in body))
        )

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        return None


def plain() -> None:
    with Probe():
        len("within")
    len("after")


def one_line() -> None:
    with Probe(): len("within")  # fmt: skip # noqa: E701


def statements_within() -> None:
    with Probe():
        len("within")
        try:  # no instruction stands on this line in some versions
            int("x")
        except ValueError:
            for _ in range(2):
                len("handled")
        finally:
            len("finally")
    len("after")


def leaves_early() -> None:
    for number in range(3):
        with Probe():
            if number:
                continue
            len("first")
        len("between")


def nested() -> None:
    with contextlib.nullcontext(), Probe():
        with Probe():
            len("inner")
        len("outer")


def returns() -> int:
    with Probe():
        return len("within")


def calls_enter_itself() -> None:
    Probe().__enter__()


def by_exit_stack() -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(Probe())


async def awaits() -> None:
    with Probe():
        await asyncio.sleep(0)
        async with asyncio.Lock():
            len("held")


class AsyncProbe:
    def __init__(self, steps: int = 0) -> None:
        self._steps = steps

    async def __aenter__(self) -> None:
        for _ in range(self._steps):
            await asyncio.sleep(0)
        frame = sys._getframe(1)
        body = body_lines(frame.f_code, frame.f_lasti)
        first = frame.f_code.co_firstlineno
        SEEN.append(
            (line_at(frame.f_code, frame.f_lasti) - first, body and frozenset(line - first for line in body))
        )

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await asyncio.sleep(0)


async def async_statements() -> None:
    async with AsyncProbe():
        await asyncio.sleep(0)
        async with AsyncProbe(2) as first, AsyncProbe(1):
            len(str(first))
        await AsyncProbe().__aenter__()
    len("after")


async def async_statement_on_lines() -> None:
    async with (
        AsyncProbe(1) as first,
        AsyncProbe() as second,
    ):
        len(str(first))
    len(str(second))


@pytest.mark.parametrize(
    ("function", "seen"),
    [
        (plain, [(1, {2})]),
        (one_line, [(1, {1})]),
        (statements_within, [(1, {2, 4, 5, 6, 7, 9})]),
        (leaves_early, [(2, {3, 4, 5})] * 3),
        (nested, [(1, {2, 3, 4}), (2, {3})]),
        (returns, [(1, {2})]),
        (calls_enter_itself, [(1, None)]),
        (awaits, [(1, {2, 3, 4})]),
        (async_statements, [(1, {2, 3, 4, 5}), (3, {4}), (3, {4}), (5, None)]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_body_lines(function: Callable[[], object], seen: list[tuple[int, set[int] | None]]) -> None:
    SEEN.clear()
    result = function()
    if inspect.iscoroutine(result):
        asyncio.run(result)
    without_code = {3} if function is statements_within else set()
    assert [(line, body and body - without_code) for line, body in SEEN] == seen


def test_an_async_statement_on_several_lines() -> None:
    SEEN.clear()
    asyncio.run(async_statement_on_lines())
    assert [body and 5 in body and 6 not in body for _, body in SEEN] == [True, True]


def test_an_exit_stack_enters_no_statement_of_the_program() -> None:
    SEEN.clear()
    by_exit_stack()
    assert SEEN[0][1] is None


def test_this_python_is_understood() -> None:
    are_understood.cache_clear()
    assert are_understood()


def test_a_python_with_other_instructions_can_import_it_and_is_not_understood(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unknown = ("BEFORE_WITH", "LOAD_SPECIAL", "CALL", "GET_AWAITABLE")
    known = {name: code for name, code in opcode.opmap.items() if name not in unknown}
    monkeypatch.setattr(opcode, "opmap", known)
    spec = importlib.util.spec_from_file_location("renamed_instructions", with_statements.__file__)
    assert spec is not None
    assert spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    assert not copy.are_understood()
