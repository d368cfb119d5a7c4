"""Traces by another profiler, such as torch's: one region's call starts a trace; others are ranges in it.

A region with a tracer starts a trace when it is entered, and the trace ends with that call. Meanwhile
functions and blocks of all regions are ranges in it: their calls take the slow path, which opens and closes
ranges. When no trace is recorded, a call only reads one more attribute.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from profkit.model.region import RegionKind
from profkit.process.locks import new_rlock
from profkit.session import activity
from profkit.session.activity import Caller, all_counters
from profkit.session.counters import Counters, Recording

_TRACEABLE = frozenset({RegionKind.FUNCTION, RegionKind.BLOCK, RegionKind.TEST, RegionKind.COMPILATION})
"""Regions that can be ranges: those that are entered and left once per call."""


class _State:
    def __init__(self) -> None:
        self.lock = new_rlock()
        self.recording: Recording | None = None
        self.owner: tuple[Caller, Counters] | None = None
        self.ranges: list[tuple[Caller, Counters, Callable[[], None]]] = []


_STATE = _State()


def has_range(counters: Counters) -> bool:
    """Return whether a call of this region is traced, or is a range in a trace."""
    return counters.tracer is not None or _STATE.recording is not None


def open_range(counters: Counters) -> None:
    """Start a trace if the region has a tracer and none is recorded; open a range in the trace."""
    if counters.region.kind not in _TRACEABLE:
        return
    with _STATE.lock:
        caller = activity.current_caller()
        if _STATE.owner == (caller, counters) and counters.region.kind is RegionKind.FUNCTION:
            _end()  # an exception of a signal handler came before the call that began it
        if _STATE.recording is None:
            if counters.tracer is None or (recording := counters.tracer.begin(counters)) is None:
                return
            _STATE.recording, _STATE.owner = recording, (caller, counters)
            for other in all_counters():
                if isinstance(other, Counters) and other.region.kind in _TRACEABLE:
                    other.live = False
        close = _STATE.recording.open_range(counters.region.key.label)
        counters.ranged, counters.leaves, counters.live = True, True, False
        _STATE.ranges.append((caller, counters, close))


def close_range(counters: Counters) -> None:
    """Close the caller's innermost range of a region, if there is one; end the trace that it began with."""
    with _STATE.lock:
        caller = activity.current_caller()
        places = [place for place, (by, of, _) in enumerate(_STATE.ranges) if of is counters and by == caller]
        if not places:
            return
        _STATE.ranges.pop(places[-1])[2]()
        if len(places) == 1 and _STATE.owner == (caller, counters):
            _end()


def _end() -> None:
    recording, ranges = _STATE.recording, _STATE.ranges
    _forget()
    for _, _, close in reversed(ranges):  # of other threads
        close()
    if recording is not None:
        recording.end()


def _forget() -> None:
    _STATE.recording, _STATE.owner, _STATE.ranges = None, None, []
    for counters in all_counters():
        if isinstance(counters, Counters):
            counters.ranged, counters.leaves = False, counters.flushes


def _after_fork_in_child() -> None:
    _STATE.lock = new_rlock()
    if _STATE.recording is not None:
        _forget()


os.register_at_fork(after_in_child=_after_fork_in_child)
