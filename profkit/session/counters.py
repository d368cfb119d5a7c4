"""Counters: counts of each region since the last tick, written by the hot path without a lock.

Every write of the hot path is one atomic operation on a deque or dictionary, so threads need no lock. The
ticker takes entries from the other end.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from profkit.model.region import Region
from profkit.samplers.options import SamplerOptions
from profkit.session.activity import Caller, remember_counters
from profkit.session.awaits import AwaitLooks, Awaits, await_times

if TYPE_CHECKING:
    from profkit.model.run import Run
    from profkit.model.session import CallDelta

OnBusy = Literal["share", "skip", "wait", "raise"]
ON_BUSY: tuple[OnBusy, ...] = ("share", "skip", "wait", "raise")

_T = TypeVar("_T")

_MOST_SESSIONS = 1000


@dataclass(frozen=True, slots=True)
class Policy:
    """Behaviour of a call if a session is busy, slow or fails."""

    on_busy: OnBusy = "share"
    strict: bool = False
    """True to raise sampler errors (before the user's function runs) instead of running unprofiled."""
    running_timeout_s: float = 60.0
    finished_timeout_s: float | None = None
    """None: the sampler's own timeout."""
    on_run: Callable[[Run], object] | None = None
    """Callback with the region's run of each session, after the session's end."""


class Recording(Protocol):
    """A trace that is being recorded."""

    def open_range(self, label: str) -> Callable[[], None]:
        """Open a range, and return what closes it."""

    def end(self) -> None:
        """End the trace and keep it."""


class Tracer(Protocol):
    """Tracer of one region's calls."""

    def begin(self, counters: Counters) -> Recording | None:
        """Start a trace; return None if it cannot be recorded. Raises ProfkitError for a strict policy."""


class Counters:
    """A region in this process, with its counts since the last drain.

    `live` is all that the hot path checks: it is true while a session counts this region. `refused`
    is true if the last call that asked for a session got none. `ranged` is true while calls are ranges in a
    trace: they are not `live` then. `flushes` is true if a call's end is written at once, because this
    process may be terminated any time. `leaves` is true if either is: the slow path has to leave the calls.
    """

    __slots__ = (
        "__weakref__",
        "awaits",
        "callers",
        "code",
        "durations",
        "flushes",
        "leaves",
        "live",
        "looks",
        "nested",
        "open_runs",
        "options",
        "policy",
        "raised",
        "ranged",
        "refused",
        "region",
        "sessions",
        "skipped",
        "suspended",
        "traced",
        "tracer",
    )

    def __init__(
        self, region: Region, options: SamplerOptions, policy: Policy, code: CodeType | None = None
    ) -> None:
        self.region, self.options, self.policy = region, options, policy
        self.code = code
        """Code object that contains a block."""
        self.live = self.refused = self.ranged = self.flushes = self.leaves = False
        self.tracer: Tracer | None = None
        """What traces the region's calls; None for most."""
        self.callers: dict[Caller, None] = {}
        """Threads (or greenlets) that are inside one or more calls of this function."""
        self.open_runs: list[None] = []
        """One entry for each run of this coroutine or generator in progress."""
        self.durations: deque[int] = deque()
        """Durations of outermost calls, in nanoseconds."""
        self.nested: deque[None] = deque()
        """Calls inside another call of this region, whose duration includes theirs."""
        self.suspended: deque[int] = deque()
        self.awaits: deque[Awaits] = deque()
        self.looks = AwaitLooks()
        self.raised: deque[None] = deque()
        self.skipped: deque[None] = deque()
        self.traced: deque[None] = deque()
        self.sessions: deque[str] = deque(maxlen=_MOST_SESSIONS)
        """Ids of the last sessions that this region took part in, oldest first."""
        remember_counters(self, of_block=code is not None)

    @property
    def owns_segments(self) -> bool:
        """True if whole segments belong to this region while it is active."""
        region = self.region
        return region.detached or region.all_threads

    @property
    def is_empty(self) -> bool:
        """True if there are no counts since the last drain."""
        return not any(self._counters())

    def has_joined(self, session: str) -> bool:
        """Return whether this region is counted in that session, the newest one that it took part in."""
        return bool(self.sessions) and self.sessions[-1] == session

    def forget(self) -> None:
        """Drop all counts: in a forked child they are the parent's."""
        self.live = self.flushes = self.leaves = False
        for counter in self._counters():
            counter.clear()
        self.sessions.clear()

    def drain(self, at_ns: int) -> CallDelta | None:
        """Return and clear the counts since the last drain, None if there are none."""
        self.looks.renew()
        if self.is_empty:
            return None
        # Not needed to decorate a function.
        from profkit.model.histogram import histogram_of
        from profkit.model.session import CallDelta

        return CallDelta(
            region=self.region.id,
            at_ns=at_ns,
            durations=histogram_of(_pop_entries(self.durations)),
            nested=_count(self.nested),
            skipped=_count(self.skipped),
            raised=_count(self.raised),
            suspended_ns=sum(_pop_entries(self.suspended)),
            awaits=await_times(_pop_entries(self.awaits)),
            traced_away=_count(self.traced),
        )

    def _counters(self) -> tuple[deque[Any], ...]:
        return (
            self.durations, self.nested, self.suspended, self.awaits, self.raised, self.skipped, self.traced
        )  # fmt: skip


def forget_gone(known: list[Counters]) -> None:
    """Drop counters without counts that only `known` refers to: their function is gone, as a closure's.

    Some stay: the first one, which names the session, and those with a callback.
    """
    # How many references these lines make depends on Python's version: they are counted with an object.
    *references, alone = [sys.getrefcount(each) for each in (*known, object())]
    known[:] = [
        counters
        for index, (counters, count) in enumerate(zip(known, references, strict=True))
        if not index or count > alone + 1 or not counters.is_empty or counters.policy.on_run is not None
    ]


def _pop_entries(counter: deque[_T]) -> Iterator[_T]:
    """Yield the deque's current entries; those that arrive meanwhile wait for the next drain."""
    for _ in range(len(counter)):
        yield counter.popleft()


def _count(counter: deque[None]) -> int:
    return sum(1 for _ in _pop_entries(counter))
