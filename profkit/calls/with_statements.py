"""`with` statements in bytecode: the frame that runs one, its line, and the lines of its body.

Up to 3.13, BEFORE_WITH calls `__enter__`. Since 3.14, LOAD_SPECIAL pushes the method and CALL calls it
(`Python/codegen.c`, `codegen_with_inner`). In an `async with`, SEND runs what `__aenter__` has returned, and
GET_AWAITABLE before it has 1 as its argument (`codegen_async_with_inner`). A version that does it in another
way is recognized by trying: its blocks have no known body.
"""

from __future__ import annotations

import opcode
import sys
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from inspect import CO_ASYNC_GENERATOR, CO_GENERATOR
from types import CodeType, FrameType
from typing import NamedTuple, TypeVar

from profkit.model.region import digest_of, digest_of_lines

CONTEXTLIB = contextmanager.__code__.co_filename
"""File of contextlib, whose frames enter blocks on behalf of others."""
GENERATORS = CO_GENERATOR | CO_ASYNC_GENERATOR
"""Flags of code that contextlib can run."""

_Key = TypeVar("_Key")
_T = TypeVar("_T")

_UNIT = 2  # bytes per instruction
_BEFORE_WITH = opcode.opmap.get("BEFORE_WITH")
_CALL, _SEND = opcode.opmap.get("CALL"), opcode.opmap.get("SEND")
_AFTER_SEND = {opcode.opmap.get(name) for name in ("END_SEND", "NOP")}


def _instruction(name: str, argument: int) -> bytes | None:
    return bytes((opcode.opmap[name], argument)) if name in opcode.opmap else None


def _caches(name: str) -> int:
    """Return how many inline cache entries follow an instruction, each as long as one."""
    return sum(getattr(opcode, "_cache_format", {}).get(name, {}).values())


_LOADS_ENTER = _instruction("LOAD_SPECIAL", 0)
"""Its argument is SPECIAL___ENTER__ in pycore_ceval.h."""
_AWAITS_ENTER = _instruction("GET_AWAITABLE", 1)
_MOST_BETWEEN = 2
"""Maximum number of instructions between GET_AWAITABLE and SEND."""
_CALL_CACHES, _SEND_CACHES = _caches("CALL"), _caches("SEND")


class _Entry(NamedTuple):
    start: int
    end: int
    target: int


class Statement(NamedTuple):
    """A place in code that enters a block; it references the code, so that no id is reused."""

    code: CodeType
    line: int
    body: frozenset[int] | None
    """Lines of the statement's body; None if enter and exit are in different frames."""
    digest: str
    """Digest of the body's code, else of all code."""


_MOST_STATEMENTS = 10_000
_STATEMENTS: dict[tuple[int, int], Statement] = {}
"""Statements by id of the code and offset of the instruction: a new label on a line is no new statement."""


def statement_at(code: CodeType, offset: int) -> Statement:
    """Return the statement that the instruction at `offset` enters."""
    known = _STATEMENTS.get((id(code), offset))
    if known is None:
        body = body_lines(code, offset)
        digest = digest_of(code) if body is None else digest_of_lines(code, body)
        return keep(_STATEMENTS, (id(code), offset), Statement(code, line_at(code, offset), body, digest))
    return known


def keep(kept: dict[_Key, _T], key: _Key, value: _T) -> _T:
    """Keep and return a value of a statement, the first one of several threads.

    If there are too many, as of generated code, all others are forgotten.
    """
    if len(kept) >= _MOST_STATEMENTS:
        kept.clear()
    return kept.setdefault(key, value)


def statement_frame(frame: FrameType) -> FrameType:
    """Return the frame in which a block's body runs, given the one that entered the block.

    A generator that contextlib runs as a context manager enters the block for the frame that entered
    the context manager; so does an ExitStack.
    """
    back = frame.f_back
    while back is not None and (_is_contextlib(frame) or (_is_generator(frame) and _is_contextlib(back))):
        frame, back = back, back.f_back
    return frame


def _is_contextlib(frame: FrameType) -> bool:
    return frame.f_code.co_filename == CONTEXTLIB


def _is_generator(frame: FrameType) -> bool:
    return bool(frame.f_code.co_flags & GENERATORS)


def body_lines(code: CodeType, offset: int) -> frozenset[int] | None:
    """Return the lines of the body of the `with` statement that the instruction at `offset` enters.

    Return None if it enters no `with` statement, as for a direct call of `__enter__`. The
    statement's own line is excluded, unless the body is on it.
    """
    entered = _entered(code.co_code, offset)
    if entered is None:
        return None
    entries = sorted(_entries(code.co_exceptiontable))
    handler = _handler(entries, entered)
    if handler is None:
        return None
    lines: set[int] = set()
    for start, end, line in code.co_lines():
        if line is not None and any(_leads_to(entries, at, handler) for at in range(start, end, _UNIT)):
            lines.add(line)
    own = line_at(code, offset)
    return frozenset(lines - {own} or lines)


def _entered(code: bytes, offset: int) -> int | None:
    """Return the offset behind the instruction that runs `__enter__` or `__aenter__`; None for others."""
    if code[offset] == _BEFORE_WITH:
        return offset + _UNIT
    if code[max(0, offset - _UNIT)] == _SEND:  # where 3.12 says that it is
        offset -= _UNIT
    before = [code[at : at + _UNIT] for at in range(offset - _UNIT, -1, -_UNIT)[: 1 + _MOST_BETWEEN]]
    if code[offset] == _CALL and _LOADS_ENTER in before[:1]:
        return offset + _UNIT * (1 + _CALL_CACHES)
    if code[offset] == _SEND and _AWAITS_ENTER in before:
        end = offset + _UNIT * (1 + _SEND_CACHES + code[offset + 1])
        return next(at for at in range(end, len(code), _UNIT) if code[at] not in _AFTER_SEND)
    return None


@cache
def are_understood() -> bool:
    """Return whether this Python enters `with` statements in a way that `body_lines` knows."""
    seen: list[bool] = []
    _example(_Example(seen))
    return seen == [True]


class _Example:
    def __init__(self, seen: list[bool]) -> None:
        self._seen = seen

    def __enter__(self) -> None:
        frame = sys._getframe(1)
        self._seen.append(
            body_lines(frame.f_code, frame.f_lasti) == frozenset({frame.f_code.co_firstlineno + 2})
        )

    def __exit__(self, *error: object) -> None:
        return None


def _example(example: _Example) -> None:
    with example:
        id(example)


def line_at(code: CodeType, offset: int) -> int:
    """Return the line of the instruction at `offset`, 0 if it has none."""
    return next((line or 0 for start, end, line in code.co_lines() if start <= offset < end), 0)


def _handler(entries: list[_Entry], offset: int) -> int | None:
    at = bisect_right(entries, offset, key=lambda entry: entry.start) - 1
    return entries[at].target if at >= 0 and offset < entries[at].end else None


def _leads_to(entries: list[_Entry], offset: int, handler: int) -> bool:
    seen: set[int] = set()
    at = _handler(entries, offset)
    while at is not None and at not in seen:
        if at == handler:
            return True
        seen.add(at)
        at = _handler(entries, at)
    return False


def _entries(table: bytes) -> Iterator[_Entry]:
    """Yield the entries of a table of start, length, target and depth, in units of instructions."""
    numbers = _numbers(table)
    for start in numbers:
        length, target, _depth = next(numbers), next(numbers), next(numbers)
        yield _Entry(start * _UNIT, (start + length) * _UNIT, target * _UNIT)


def _numbers(table: bytes) -> Iterator[int]:
    """Yield numbers of six bits per byte, most significant first; bit 6 is set if more follow."""
    value = 0
    for byte in table:
        value = value << 6 | byte & 0x3F
        if not byte & 0x40:
            yield value
            value = 0
