"""Blocks: labelled `with` statements, found in stacks by their frame and the lines of their body."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from profkit import tracing
from profkit.errors import UsageError
from profkit.originals import REAL
from profkit.session.account import Account
from profkit.session.activity import OPEN_BLOCKS, is_open_in
from profkit.session.entry import enter, leave, results_of
from profkit.session.guard import ignore
from profkit.session.withbody import CONTEXTLIB, GENERATORS, body_lines, line_at, statement_frame

if TYPE_CHECKING:
    from profkit.model.region import Region
    from profkit.model.run import Run


class BlockSource(Protocol):
    """Who makes accounts for blocks: a profiler."""

    @property
    def active(self) -> bool:
        """Whether anything is profiled."""

    @property
    def every(self) -> int:
        """Of so many entries the first is profiled."""

    def block_account(self, frame: FrameType, line: int, body: frozenset[int] | None) -> Account:
        """The account of a `with` statement; `body` None: enter and exit lie in different frames."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A `with` statement under a profiler; holds what its key names, so that no identity is used twice."""

    account: Account
    turn: Iterator[int]
    code: CodeType
    source: BlockSource


_STATEMENTS: dict[tuple[int, int, int], _Statement] = {}
"""By identity of the code, offset of the instruction, identity of the profiler."""


class Block:
    """One `with` statement at work; its `run` is there once it was entered."""

    __slots__ = ("_joined", "_nested", "_open", "_source", "_start", "_tid", "account", "frame_id")

    _now = staticmethod(REAL.perf_counter_ns)

    def __init__(self, source: BlockSource) -> None:
        self._source = source
        self.account: Account | None = None
        self._open = self._joined = False
        self._tid: int | None = None

    def __enter__(self) -> Self:
        source = self._source
        if not source.active:
            return self
        if self._open:
            raise UsageError("this block is entered already", "make a new profiled() for each `with`")
        frame = sys._getframe(1)
        if frame.f_code.co_flags & GENERATORS or frame.f_code.co_filename == CONTEXTLIB:
            frame = statement_frame(frame)
        key = id(frame.f_code), frame.f_lasti, id(source)
        statement = _STATEMENTS.get(key) or _learned(source, frame)
        if statement is None:
            return self
        account = self.account = statement.account
        if source.every > 1 and next(statement.turn) % source.every:
            account.skipped.append(None)
            return self
        self.frame_id = id(frame)
        self._nested = bool(OPEN_BLOCKS) and is_open_in(account, frame)
        self._start = self._now()  # at the recursion limit this raises, before anything is counted
        OPEN_BLOCKS[self] = None
        self._open = True  # no interrupt can come between this and `try`: none of it is a call
        try:
            if not account.live:
                self._join(account, frame)
            else:
                self._joined = True
            self._start = self._now()
        except BaseException:
            self._open = False
            OPEN_BLOCKS.pop(self, None)
            raise
        return self

    def _join(self, account: Account, frame: FrameType) -> None:
        apart = account.region.detached and not account.region.all_threads
        self._tid = REAL.get_native_id() if apart else None
        self._joined = enter(account, frame, self._tid)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        account = self.account
        if not self._open or account is None:
            return
        try:
            wall_ns = self._now() - self._start
        finally:  # a handler of a signal may raise after any call
            self._open = False
            OPEN_BLOCKS.pop(self, None)
        if not self._joined:
            return
        if self._nested:
            account.nested.append(None)
        else:
            account.durations.append(wall_ns)
        if kind is not None:
            account.raised.append(None)
        if account.covers:
            leave(account, self._tid)

    @property
    def region(self) -> Region | None:
        """The block's region, None before it was entered."""
        return self.account.region if self.account is not None else None

    @property
    def runs(self) -> tuple[Run, ...]:
        """This process's runs of the block, oldest first; asking may end a sampler's segment."""
        return results_of(self.account) if self.account is not None else ()

    @property
    def run(self) -> Run | None:
        """The newest of `runs`; None where no session could be had."""
        runs = self.runs
        return runs[-1] if runs else None

    def report(self) -> str:
        """The newest run as text, as `profkit report` prints it; empty where there is none."""
        run = self.run
        if run is None:
            return ""
        from profkit.render.text.report import report_text

        return report_text(run)

    def _repr_html_(self) -> str | None:
        """The newest run as notebooks show it; None where there is none."""
        run = self.run
        return None if run is None else run._repr_html_()


def _learned(source: BlockSource, frame: FrameType) -> _Statement | None:
    """Return the statement that `frame` is entering; None if profkit failed to make it out."""
    try:
        return tracing.unseen(_learn, source, frame)
    except BaseException as error:  # noqa: BLE001 - raised where the program is to see it
        ignore(error, "looking at a `with` statement")
        return None


def _learn(source: BlockSource, frame: FrameType) -> _Statement:
    code, offset = frame.f_code, frame.f_lasti
    account = source.block_account(frame, line_at(code, offset), body_lines(code, offset))
    statement = _Statement(account, itertools.count(), code, source)
    return _STATEMENTS.setdefault((id(code), offset, id(source)), statement)
