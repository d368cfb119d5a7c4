"""Blocks: start and end of a labelled `with` statement; `with_statements` finds the lines of its body."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from profkit import torch_tracing
from profkit.calls.slow_path import enter, leave, results_of
from profkit.calls.with_statements import (
    CONTEXTLIB,
    GENERATORS,
    Statement,
    are_understood,
    keep,
    statement_at,
    statement_frame,
)
from profkit.errors import UsageError
from profkit.originals import REAL
from profkit.process.guard import ignore, say_once
from profkit.session.activity import OPEN_BLOCKS, is_open_in
from profkit.session.counters import Counters

if TYPE_CHECKING:
    from profkit.model.region import Region
    from profkit.model.run import Run

_NOT_UNDERSTOOD = (
    "this Python enters `with` statements in a way that profkit does not know, so a block's samples are all "
    "those of its thread while it is open: update profkit"
)


class BlockSource(Protocol):
    """Factory of counters for blocks: a profiler."""

    @property
    def active(self) -> bool:
        """True if anything is profiled."""

    @property
    def every(self) -> int:
        """Interval N of profiled entries: the first of every N is profiled."""

    def block_counters(self, statement: Statement, module: str) -> Counters:
        """Return the counters of a `with` statement."""


@dataclass(frozen=True, slots=True)
class _ProfiledStatement:
    """A `with` statement under a profiler; it references the objects of its key, so that no id is reused."""

    counters: Counters
    turn: Iterator[int]
    code: CodeType
    source: BlockSource


_STATEMENTS: dict[tuple[int, int, int], _ProfiledStatement] = {}
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
            if counters.owns_segments or counters.leaves:
                leave(counters, self._tid)
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
        if counters.owns_segments or counters.leaves:
            leave(counters, self._tid)

    @property
    def region(self) -> Region | None:
        """Region of the block, None before it is entered."""
        return self.counters.region if self.counters is not None else None

    @property
    def runs(self) -> tuple[Run, ...]:
        """Runs of the block in this process, oldest first; reading may end a sampler's segment."""
        return tuple(results_of(self.counters))[::-1] if self.counters is not None else ()

    @property
    def run(self) -> Run | None:
        """Newest of `runs`; None if there was no session."""
        return next(results_of(self.counters), None) if self.counters is not None else None

    def report(self) -> str:
        """Return the newest run as text, as `profkit report` prints it; empty if there is none."""
        run = self.run
        if run is None:
            return ""
        from profkit.render.registry import SAMPLED

        return SAMPLED.text([run])

    def _repr_html_(self) -> str | None:
        run = self.run
        return None if run is None else run._repr_html_()


def _learned(source: BlockSource, frame: FrameType) -> _ProfiledStatement | None:
    """Return the statement that `frame` is entering; None if profkit failed to analyse it."""
    try:
        return torch_tracing.unseen(_learn, source, frame)
    except BaseException as error:  # noqa: BLE001 - raised if it is the program's
        ignore(error, "inspecting a `with` statement")
        return None


def _learn(source: BlockSource, frame: FrameType) -> _ProfiledStatement:
    code, offset = frame.f_code, frame.f_lasti
    statement = statement_at(code, offset)
    if statement.body is None and not are_understood():
        say_once(_NOT_UNDERSTOOD)
    counters = source.block_counters(statement, str(frame.f_globals.get("__name__", "")))
    profiled = _ProfiledStatement(counters, itertools.count(), code, source)
    return keep(_STATEMENTS, (id(code), offset, id(source)), profiled)
