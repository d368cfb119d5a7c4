"""Blocks: labelled `with` statements, found in stacks by their frame and the lines of their body."""

from __future__ import annotations

import itertools
import opcode
import sys
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import CO_ASYNC_GENERATOR, CO_GENERATOR
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from profkit import tracing
from profkit.calls.slow_path import enter, leave, results_of
from profkit.errors import UsageError
from profkit.originals import REAL
from profkit.process.guard import ignore
from profkit.session.activity import OPEN_BLOCKS, is_open_in
from profkit.session.counters import Counters

if TYPE_CHECKING:
    from profkit.model.region import Region
    from profkit.model.run import Run

_BEFORE_WITH = opcode.opmap.get("BEFORE_WITH")
_UNIT = 2  # bytes per instruction

CONTEXTLIB = contextmanager.__code__.co_filename
"""File of contextlib, whose frames enter blocks on behalf of others."""
GENERATORS = CO_GENERATOR | CO_ASYNC_GENERATOR
"""Flags of code that contextlib can run."""


class _Entry(NamedTuple):
    start: int
    end: int
    target: int


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


class BlockSource(Protocol):
    """Factory of counters for blocks: a profiler."""

    @property
    def active(self) -> bool:
        """True if anything is profiled."""

    @property
    def every(self) -> int:
        """Interval N of profiled entries: the first of every N is profiled."""

    def block_counters(self, frame: FrameType, line: int, body: frozenset[int] | None) -> Counters:
        """Return the counters of a `with` statement; `body` None: enter and exit are in different frames."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A `with` statement under a profiler; it references the objects of its key, so that no id is reused."""

    counters: Counters
    turn: Iterator[int]
    code: CodeType
    source: BlockSource


_STATEMENTS: dict[tuple[int, int, int], _Statement] = {}
"""Statements by id of the code, offset of the instruction, and id of the profiler."""


class Block:
    """Context manager of one `with` statement; its `run` is available once it was entered."""

    __slots__ = ("_joined", "_nested", "_open", "_source", "_start", "_tid", "counters", "frame_id")

    _now = staticmethod(REAL.perf_counter_ns)

    def __init__(self, source: BlockSource) -> None:
        self._source = source
        self.counters: Counters | None = None
        self._open = self._joined = False
        self._tid: int | None = None

    def __enter__(self) -> Self:
        source = self._source
        if not source.active:
            return self
        if self._open:
            raise UsageError("this block is active already", "create a new profiled() for each `with`")
        frame = sys._getframe(1)
        if frame.f_code.co_flags & GENERATORS or frame.f_code.co_filename == CONTEXTLIB:
            frame = statement_frame(frame)
        key = id(frame.f_code), frame.f_lasti, id(source)
        statement = _STATEMENTS.get(key) or _learned(source, frame)
        if statement is None:
            return self
        counters = self.counters = statement.counters
        if source.every > 1 and next(statement.turn) % source.every:
            counters.skipped.append(None)
            return self
        self.frame_id = id(frame)
        self._nested = bool(OPEN_BLOCKS) and is_open_in(counters, frame)
        self._start = self._now()  # at the recursion limit this raises, before anything is counted
        OPEN_BLOCKS[self] = None
        self._open = True  # no interrupt can occur between this and `try`: there is no call
        try:
            if not counters.live:
                self._join(counters, frame)
            else:
                self._joined = True
            self._start = self._now()
        except BaseException:
            self._open = False
            OPEN_BLOCKS.pop(self, None)
            raise
        return self

    def _join(self, counters: Counters, frame: FrameType) -> None:
        apart = counters.region.detached and not counters.region.all_threads
        self._tid = REAL.get_native_id() if apart else None
        self._joined = enter(counters, frame, self._tid)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        counters = self.counters
        if not self._open or counters is None:
            return
        try:
            wall_ns = self._now() - self._start
        finally:  # a signal handler may raise after any call
            self._open = False
            OPEN_BLOCKS.pop(self, None)
        if not self._joined:
            return
        if self._nested:
            counters.nested.append(None)
        else:
            counters.durations.append(wall_ns)
        if kind is not None:
            counters.raised.append(None)
        if counters.covers:
            leave(counters, self._tid)

    @property
    def region(self) -> Region | None:
        """Region of the block, None before it is entered."""
        return self.counters.region if self.counters is not None else None

    @property
    def runs(self) -> tuple[Run, ...]:
        """Runs of the block in this process, oldest first; reading may end a sampler's segment."""
        return results_of(self.counters) if self.counters is not None else ()

    @property
    def run(self) -> Run | None:
        """Newest of `runs`; None if there was no session."""
        runs = self.runs
        return runs[-1] if runs else None

    def report(self) -> str:
        """Return the newest run as text, as `profkit report` prints it; empty if there is none."""
        run = self.run
        if run is None:
            return ""
        from profkit.render.text.sampled import sampled_text

        return sampled_text([run])

    def _repr_html_(self) -> str | None:
        """Return the newest run as HTML for notebooks; None if there is none."""
        run = self.run
        return None if run is None else run._repr_html_()


def _learned(source: BlockSource, frame: FrameType) -> _Statement | None:
    """Return the statement that `frame` is entering; None if profkit failed to analyse it."""
    try:
        return tracing.unseen(_learn, source, frame)
    except BaseException as error:  # noqa: BLE001 - raised if it is the program's
        ignore(error, "inspecting a `with` statement")
        return None


def _learn(source: BlockSource, frame: FrameType) -> _Statement:
    code, offset = frame.f_code, frame.f_lasti
    counters = source.block_counters(frame, line_at(code, offset), body_lines(code, offset))
    statement = _Statement(counters, itertools.count(), code, source)
    return _STATEMENTS.setdefault((id(code), offset, id(source)), statement)
