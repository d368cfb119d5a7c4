"""The lines of a `with` statement's body, from the tables of the code that runs it.

CPython's exception table says which handler covers which instructions; its format is described in
Objects/exception_handling_notes.txt of CPython. The body of a `with` is what its own handler covers,
directly or by way of handlers of inner statements.
"""

from __future__ import annotations

import opcode
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import CO_ASYNC_GENERATOR, CO_GENERATOR
from types import CodeType, FrameType
from typing import NamedTuple

_BEFORE_WITH = opcode.opmap.get("BEFORE_WITH")
_UNIT = 2  # bytes of an instruction

CONTEXTLIB = contextmanager.__code__.co_filename
"""The file whose frames enter blocks for others."""
GENERATORS = CO_GENERATOR | CO_ASYNC_GENERATOR
"""The flags of code that may be run by contextlib."""


class _Entry(NamedTuple):
    start: int
    end: int
    target: int


def statement_frame(frame: FrameType) -> FrameType:
    """The frame in which a block's body runs, given the one that entered the block.

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
    """Lines of the body of the `with` statement whose enter is the instruction at `offset`.

    None where that instruction enters no `with` statement: somebody called `__enter__`. The
    statement's own line is left out, unless the body stands on it.
    """
    if _BEFORE_WITH is None or code.co_code[offset] != _BEFORE_WITH:
        return None
    entries = sorted(_entries(code.co_exceptiontable))
    handler = _handler(entries, offset + _UNIT)
    if handler is None:
        return None
    lines: set[int] = set()
    for start, end, line in code.co_lines():
        if line is not None and any(_leads_to(entries, at, handler) for at in range(start, end, _UNIT)):
            lines.add(line)
    own = line_at(code, offset)
    return frozenset(lines - {own} or lines)


def line_at(code: CodeType, offset: int) -> int:
    """The line of the instruction at `offset`, 0 where it has none."""
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
    """Start, length, target and depth of each entry, in units of instructions."""
    numbers = _numbers(table)
    for start in numbers:
        length, target, _depth = next(numbers), next(numbers), next(numbers)
        yield _Entry(start * _UNIT, (start + length) * _UNIT, target * _UNIT)


def _numbers(table: bytes) -> Iterator[int]:
    """Six bits a byte, most significant first; bit 6 says that more follow."""
    value = 0
    for byte in table:
        value = value << 6 | byte & 0x3F
        if not byte & 0x40:
            yield value
            value = 0
