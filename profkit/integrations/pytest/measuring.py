"""Measuring of calls for tests: in isolated processes if the call can be sent there, else in this one.

Timings of several pytest processes take turns, so that they do not disturb each other.
"""

from __future__ import annotations

import fcntl
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest

from profkit.config import CONFIG
from profkit.errors import CannotTravel
from profkit.integrations.pytest.settings import MarkSettings
from profkit.measuring.api import measure_here, measure_packed
from profkit.measuring.decorated.calls import Moment, in_process_run, now
from profkit.measuring.orders import MeasureOptions, work_order
from profkit.measuring.runner.jobs import Task
from profkit.measuring.transfer.payload import Payload, pack, what_and_where
from profkit.model.measurement import MeasuredRun
from profkit.model.notes import Note, NoteCode
from profkit.model.workorder import WorkOrder
from profkit.store.files import make_folder
from profkit.store.measured import keep_measured

_LOCK = ".timing.lock"


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A call to measure, packed before the test runs it: it may change its arguments."""

    order: WorkOrder
    payload: Payload | None = None
    refusal: CannotTravel | None = None
    """Why it cannot be sent to another process."""

    @property
    def why_here(self) -> str:
        """Why it can only be timed in this process; empty if it is measured elsewhere."""
        if self.payload is not None or self.order.mode.counts:
            return ""
        if self.refusal is None:
            return "isolated=False asks for it"
        return f"{self.refusal.what} cannot be sent to another process: {self.refusal.detail}"

    def close(self) -> None:
        """Release what it holds, if it is not measured."""
        if self.payload is not None:
            self.payload.close()

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Release what it holds if the call raises."""
        if kind is not None:
            self.close()

    def isolated(self) -> MeasuredRun:
        """Measure it in processes of their own, and keep the run; an error is in the run."""
        task = Task(self.order, self.payload, self.refusal)
        with timing_alone(needed=self.order.mode.times):
            (run,) = measure_packed([task], keep=keep)
        return run

    def here(self) -> MeasuredRun:
        """Time it in this process, with its own arguments, and keep the run."""
        # What only another process can have.
        plain = replace(self.order, processes=None, env=(), memory_limit_bytes=None, fresh=None)
        with timing_alone():
            run = measure_here(plain)
        noted = Note.of(NoteCode.IN_PROCESS, detail=self.why_here)
        return kept(replace(run, info=replace(run.info, notes=(*run.info.notes, noted))))


def prepare(
    label: str, asked: MarkSettings, function: Callable[..., object], args: Sequence[object],
    kwargs: Mapping[str, object], more: MeasureOptions | None = None,
) -> PreparedCall:  # fmt: skip
    """Pack a call as it is now; raises UsageError for options that do not fit."""
    options: MeasureOptions = {**asked.measuring(), **(more or {})}
    options["args"], options["kwargs"], options["label"] = args, kwargs, label
    order = work_order(function, **options)
    if not asked.isolated:
        return PreparedCall(order)
    try:
        return PreparedCall(order, pack(function, args, kwargs))
    except CannotTravel as refusal:
        return PreparedCall(order, refusal=refusal)


class MeasuringTest:
    """Measurement of a whole test: its call is packed before pytest runs it, and measured afterwards.

    A test that cannot be sent to another process has the time of its one call, since its fixtures would not
    be set up again for others.
    """

    def __init__(self, item: pytest.Item, asked: MarkSettings) -> None:
        self._isolated = asked.isolated
        function, kwargs = _call_of(item)
        self._described = what_and_where(function, (), kwargs)
        self._call = prepare(item.nodeid, asked, function, (), kwargs)
        self._start: Moment = now()

    def close(self) -> None:
        """Measure nothing: the test has failed."""
        self._call.close()

    def finish(self) -> tuple[MeasuredRun, str]:
        """Measure the call after it has succeeded; return its run, and why it was timed here, if it was."""
        end, why = now(), self._call.why_here
        if not why:
            return self._call.isolated(), ""
        if not self._isolated:
            return self._call.here(), why
        run = kept(in_process_run(self._call.order, self._described, [(self._start, end)], why))
        return run, f"only its one call, since {why}"


def _call_of(item: pytest.Item) -> tuple[Callable[..., object], dict[str, object]]:
    """Return a test's function, and its fixtures as arguments."""
    function = getattr(item, "obj", None)
    if not callable(function):
        return item.runtest, {}
    if not isinstance(item, pytest.Function):
        return function, {}
    names = inspect.signature(function).parameters
    return function, {name: value for name, value in item.funcargs.items() if name in names}


@contextmanager
def timing_alone(*, needed: bool = True) -> Iterator[None]:
    """Wait until no other pytest process here times something, as workers of pytest-xdist may.

    The system releases the lock when a process ends. If there can be no file for it, nobody waits.
    """
    try:
        make_folder(CONFIG.spool)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(CONFIG.spool / _LOCK, flags, 0o600)
    except OSError:
        yield
        return
    try:
        if needed:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        # Closing is not enough: a process that the test forked may still hold the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def keep(run: MeasuredRun) -> None:
    """Write a run to the spool."""
    keep_measured(CONFIG.spool, run)


def kept(run: MeasuredRun) -> MeasuredRun:
    """Write a run to the spool, and return it."""
    keep(run)
    return run
