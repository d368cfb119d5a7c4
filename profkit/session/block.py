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

    __slots__ = ("_account", "_frame", "_joined", "_nested", "_open", "_source", "_start", "_tid")

    _now = staticmethod(REAL.perf_counter_ns)

    def __init__(self, source: BlockSource) -> None:
        self._source = source
        self._account: Account | None = None
        self._open = self._joined = False

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
        account = self._account = statement.account
        if source.every > 1 and next(statement.turn) % source.every:
            account.skipped.append(None)
            return self
        self._enter(account, frame)
        return self

    def _enter(self, account: Account, frame: FrameType) -> None:
        """Count the block as open and have a session; leaves nothing behind if it is interrupted.

        `__exit__` needs no deeper stack than this: at the recursion limit a block that was entered can end.
        """
        self._frame, self._tid, self._open = id(frame), None, True
        self._nested = bool(account.open_runs) and is_open_in(account, frame)
        try:
            account.open_runs.append(None)
            OPEN_BLOCKS.setdefault(self._frame, []).append(account)
            if account.region.detached and not account.region.all_threads:
                self._tid = REAL.get_native_id()
            self._joined = account.live or enter(account, frame, self._tid)
            self._start = self._now()
        except BaseException:
            self._close(account)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        account = self._account
        if not self._open or account is None:
            return
        try:
            wall_ns = self._now() - self._start
        finally:  # a handler of a signal may raise after any call
            self._close(account)
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
        return self._account.region if self._account is not None else None

    @property
    def runs(self) -> tuple[Run, ...]:
        """This process's runs of the block, oldest first; asking may end a sampler's segment."""
        return results_of(self._account) if self._account is not None else ()

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

    def _close(self, account: Account) -> None:
        self._open = False
        if account.open_runs:
            account.open_runs.pop()
        opened = OPEN_BLOCKS.get(self._frame)
        if opened is not None:
            if account in opened:
                opened.remove(account)
            if not opened:
                OPEN_BLOCKS.pop(self._frame, None)


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
