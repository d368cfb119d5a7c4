"""Sampler `inprocess`, which needs no permission: its ways, best first, and when the next one is taken."""

from __future__ import annotations

import platform
import posix
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import DamagedFile, InvalidOption, SamplerFailed
from profkit.model.notes import Note, NoteCode
from profkit.model.session import SamplerPlan, Segment, SessionState
from profkit.process.guard import say_once
from profkit.samplers.base import (
    Attachment,
    LiveStacks,
    Pauses,
    Recording,
    SegmentFiles,
    log_path,
    output_name,
    output_path,
    plain_plan,
)
from profkit.samplers.helper.reader import HAS_STATES
from profkit.samplers.inprocess.forks import FORKS
from profkit.samplers.inprocess.frames import ThreadWay
from profkit.samplers.inprocess.interpreter import InterpreterWay
from profkit.samplers.inprocess.timer import TimerWay
from profkit.samplers.inprocess.ways import FASTEST_HZ, NAMES, Kind, Request, Way, WayFailed
from profkit.samplers.options import SamplerOptions, check_common, check_rate, requested_rate, usual_rate_hz
from profkit.samplers.process_attachment import SAMPLING, START, STOP, check_folder
from profkit.samplers.stack_journal import (
    Inside,
    StackJournal,
    of_one_process,
    partial_notes,
    read_segment,
    recording_of,
)
from profkit.transforms.simplify import without_own_threads

NAME = "inprocess"
_STOP_TIMEOUT_S = 5.0
Maker = tuple[Kind, Callable[[Request], Way]]
WAYS: tuple[Maker, ...] = (
    *(((Kind.INTERPRETER, InterpreterWay),) if HAS_STATES else ()),
    (Kind.TIMER, TimerWay),
    (Kind.THREAD, ThreadWay),
)
"""The ways to sample with this version of Python, best first."""
MOST_FORKS = 10
"""Most forks in `_FORKS_S` with a subinterpreter: to end one and make another takes 20 to 50 ms."""
_FORKS_S = 10.0


class InProcessAttachment(Attachment):
    pauses = Pauses(0.0005, 1.1, 0.005)

    def __init__(self, request: Request, index: int, ways: tuple[Maker, ...] = WAYS) -> None:
        """Start the first way that can be started; raises `SamplerFailed`."""
        self._request, self._index, self._ways = request, index, list(ways)
        self._was_running = self._stopping = False
        self._forks: deque[float] = deque()
        """Times of the last forks."""
        self._failure: SamplerFailed | None = None
        """Failure after a fork, which the next poll raises."""
        self._steps: list[str] = []
        """Messages that are not logged yet: what logs may wait for a thread that waits for the lock."""
        with FORKS.lock:
            self._way = self._next(None)
            FORKS.live.append(self)
        self._log_steps()

    @property
    def kind(self) -> Kind:
        """How the stacks are read."""
        return self._way.kind

    def segment(self) -> Segment:
        """See `Attachment.segment`; the sampler has no process of its own."""
        return Segment(self._index, started_ns=0)

    def poll(self) -> SessionState:
        """See `Attachment.poll`; takes the next way if one fails."""
        try:
            return self._poll()
        finally:
            self._log_steps()

    def _poll(self) -> SessionState:
        with FORKS.lock:
            if self._failure is not None:
                raise self._failure
            try:
                self._was_running = self._way.is_running() or self._was_running
            except WayFailed as failure:
                if self._stopping:
                    self._close()
                    raise _failed(STOP, failure) from failure
                self._way.stop()
                self._way.await_end()
                self._way = self._next(failure)
            if self._was_running and self._way.has_ended():
                self._close()
                return SessionState.SUCCESS
            return SessionState.RUNNING if self._was_running else SessionState.PREPARING

    def request_stop(self) -> None:
        with FORKS.lock:
            self._stopping = True
            self._way.stop()

    def stop_timeout_s(self) -> float:
        """See `Attachment.stop_timeout_s`: it ends with the current round."""
        return _STOP_TIMEOUT_S

    def kill(self) -> None:
        with FORKS.lock:
            self.request_stop()
            self._way.await_end()
            self._close()

    def before_fork(self) -> None:
        """Make the process one that can fork."""
        self._way.before_fork()

    def after_fork(self) -> None:
        """Continue in the parent; without a subinterpreter if the program forks often."""
        if self._stopping or self._failure is not None:
            return
        try:
            if self._forks_often() and self._way.kind is Kind.INTERPRETER and self._request.idle:
                self._way = self._next(WayFailed("the program forks often"))
                return
            try:
                self._way.after_fork()
            except WayFailed as failure:
                self._way = self._next(failure)
        except SamplerFailed as failure:
            self._failure = failure

    def _forks_often(self) -> bool:
        now_s = self._request.clock.monotonic_s()
        self._forks.append(now_s)
        while now_s - self._forks[0] > _FORKS_S:
            self._forks.popleft()
        return len(self._forks) > MOST_FORKS

    def in_child(self) -> None:
        """Forget everything in a forked child."""
        self._way.in_child()

    def _next(self, failure: WayFailed | None) -> Way:
        """Return the next way, started; raises `SamplerFailed` with the first failure if there is none.

        The first one is the cause. Others may come of it, as the next ways support less.
        """
        failed = [] if failure is None else [(self._way.kind, failure)]
        while self._ways:
            kind, maker = self._ways.pop(0)
            reasons = ((left.value, str(error)) for left, error in failed)
            request = replace(self._request, left=(*self._request.left, *reasons))
            way = maker(request)
            try:
                way.start()
            except WayFailed as error:
                failed.append((kind, error))
            else:
                self._request = request
                self._steps += [_step(left, kind, error) for left, error in failed]
                return way
        self._close()
        raise _failed(SAMPLING if self._was_running else START, failed[0][1]) from failed[0][1]

    def _log_steps(self) -> None:
        while self._steps:
            say_once(self._steps.pop(0))

    def _close(self) -> None:
        if self in FORKS.live:
            FORKS.live.remove(self)


def _step(left: Kind, taken: Kind, failure: WayFailed) -> str:
    reason = "; ".join(filter(None, (str(failure), failure.fix)))
    return f"{NAMES[left]} cannot sample this program: {reason}; sampling with {NAMES[taken]} instead"


def _failed(stage: str, failure: WayFailed) -> SamplerFailed:
    fix = failure.fix or "use sampler='none' to record calls and wall times without samples"
    return SamplerFailed(NAME, stage, str(failure), fix)


Version = tuple[int, int]
DEFAULT_RATE_HZ = 100.0
_READER_SINCE = (3, 15)
_OUTSIDE = "leave it out, or use a sampler outside the process"


class InProcessSampler:
    name = NAME

    def find(self) -> str:
        return sys.executable

    def version(self) -> str:
        return platform.python_version()

    def check(self, options: SamplerOptions, version: Version = sys.version_info[:2]) -> None:
        check_common(options)
        for name, value in (
            ("blocking", options.blocking is True), ("native", options.native),
            ("subprocesses", options.subprocesses), ("gil", options.gil),
            ("async_stacks", options.async_stacks),
        ):  # fmt: skip
            if value:
                raise InvalidOption(name, True, f"sampler='{NAME}' does not support it: {_OUTSIDE}")
        if not options.idle and version < _READER_SINCE:
            fix = f"sampler='{NAME}' knows which threads wait since Python 3.15: {_OUTSIDE}"
            raise InvalidOption("idle", False, fix)
        fastest_hz = FASTEST_HZ[Kind.INTERPRETER if version >= _READER_SINCE else Kind.TIMER]
        check_rate(options, fastest_hz, f"sampler='{NAME}' supports 1 to {fastest_hz:g} Hz with this Python")

    def plan(self, options: SamplerOptions, live: LiveStacks) -> SamplerPlan:
        usual_hz = usual_rate_hz(options, DEFAULT_RATE_HZ)
        return plain_plan(NAME, options, requested_rate(options) or usual_hz)

    def attach(
        self, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock
    ) -> InProcessAttachment:
        """See `Sampler.attach`; only for the calling process."""
        if pid != posix.getpid():
            raise SamplerFailed(NAME, START, f"process {pid} is another one", "use another sampler for it")
        check_folder(NAME, folder)
        output = output_path(folder, index, NAME)
        output.unlink(missing_ok=True)  # of an earlier try: its existence says RUNNING
        log = log_path(folder, index)
        request = Request(pid, output, log, plan.rate_hz, plan.idle, plan.max_duration_s, clock)
        return InProcessAttachment(request, index)

    def read(self, files: SegmentFiles, segment: Segment, plan: SamplerPlan) -> Recording:
        """See `Sampler.read`; a journal without an end is read, too: the program was killed."""
        name = output_name(segment.index, NAME)
        journal = read_segment(files, name)
        try:
            notes = tuple(map(_note_of, journal.inside))
        except ValueError as damage:
            raise DamagedFile(files.path / name, str(damage)) from damage
        if not notes:
            raise DamagedFile(files.path / name, "it does not say how it was sampled")
        profile = of_one_process(without_own_threads(journal.profile))
        return recording_of(journal, profile, (*notes, *_rarity_notes(journal), *partial_notes(journal)))


def _note_of(inside: Inside) -> Note:
    """Return what to say about a way to sample; raises ValueError for an unknown one."""
    left = "; ".join(f"{Kind(kind).value}: {reason}" for kind, reason in inside.left)
    return Note.of(NoteCode.SAMPLED_INSIDE, kind=Kind(inside.kind).value, gil=int(inside.gil), detail=left)


def _rarity_notes(journal: StackJournal) -> tuple[Note, ...]:
    """Return a note if fewer samples were taken than requested, because each took long."""
    if journal.rarest == 1:
        return ()
    rate_hz = 1e9 / journal.profile.period_ns
    return (Note.of(NoteCode.SAMPLED_RARELY, rate_hz=rate_hz / journal.rarest, requested_hz=rate_hz),)
