"""Lines at which tasks of asyncio are suspended in a whole program, and how often they are looked at.

Samplers see that the event loop waits, but not for what. A thread of profkit looks at its tasks.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from types import CoroutineType, FrameType
from typing import TYPE_CHECKING

from profkit.model.region import RegionKind
from profkit.originals import REAL
from profkit.process.background import current_frames, is_gil_enabled
from profkit.process.guard import ignore
from profkit.session.awaits import Awaits, place_of

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from profkit.session.counters import Counters
    from profkit.session.session import Session

LOOK_S, SEARCH_S, IDLE_S = 0.1, 0.25, 1.0
"""Time between looks at tasks; between looks for an event loop; and if no whole program is profiled."""
_EARLY = 0.9
"""Part of the pause that must have passed, since the thread may have other work, too."""
_COST = 0.005
"""Largest part of the time that looks may take."""
_MOST_TASKS = 200
"""Tasks of a loop that one look follows, about; of more, each look follows others."""
_MOST_THREADS, _DEEPEST = 50, 200
"""Stacks in which event loops are looked for, and frames of each."""
_RUNNING = {"run_forever": "/asyncio/base_events.py", "run": "/asyncio/runners.py"}
"""Functions that run an event loop, with their files; loops in C are known by their runner."""


class TaskLooks:
    """Looks at the tasks of a program's event loops, several times a second if it has any."""

    def __init__(self) -> None:
        self.pause_s = SEARCH_S
        """Time until the next look."""
        self._looks, self._last_ns = 0, 0
        self._session: Session | None = None

    def look(self, session: Session | None) -> None:
        """Count the time since the last look for each line at which a task is suspended."""
        began_ns = REAL.perf_counter_ns()
        is_first, self._session = session is not self._session, session
        since_ns = round(LOOK_S * 1e9) if is_first else began_ns - self._last_ns
        if since_ns < _EARLY * self.pause_s * 1e9 and not is_first:
            return
        self._last_ns = began_ns
        program = _program_of(session)
        self.pause_s = IDLE_S if program is None else SEARCH_S
        if program is None or "asyncio" not in sys.modules or not is_gil_enabled():
            return  # without a GIL, a task changes while this thread looks at it
        try:
            self._looks += 1
            found = suspended_tasks(since_ns, self._looks)
        except Exception as error:  # noqa: BLE001 - logged; the program may change while it is looked at
            ignore(error, "looking at tasks of asyncio")
            return
        if found is not None:
            self.pause_s = max(LOOK_S, (REAL.perf_counter_ns() - began_ns) / 1e9 / _COST)
            if found:
                program.awaits.append(found)


def suspended_tasks(since_ns: int, looks: int = 0) -> Awaits | None:
    """Return this time for each suspended task of all event loops, by its line; None if no loop runs."""
    from asyncio import all_tasks  # has been imported

    loops = list(_running_loops())
    found: Awaits = {}
    for loop in loops:
        tasks = all_tasks(loop)
        every = 1 + len(tasks) // _MOST_TASKS
        for task in islice(tasks, looks % every, None, every):
            coroutine = task.get_coro()
            if type(coroutine) is CoroutineType and coroutine.cr_await is not None:
                place = place_of(coroutine)
                if place is not None:
                    spent = found.setdefault(place, [0, 0])
                    spent[0] += since_ns * every
                    spent[1] += 1
    return found if loops else None


def _running_loops() -> Iterator[AbstractEventLoop]:
    from asyncio import AbstractEventLoop

    for leaf in islice(current_frames().values(), _MOST_THREADS):
        frame: FrameType | None = leaf
        for _ in range(_DEEPEST):
            if frame is None:
                break
            file = _RUNNING.get(frame.f_code.co_name)
            if file is not None and frame.f_code.co_filename.endswith(file):
                runner = frame.f_locals.get("self")
                loop = getattr(runner, "_loop", runner)
                if isinstance(loop, AbstractEventLoop):
                    yield loop
                    break
            frame = frame.f_back


def _program_of(session: Session | None) -> Counters | None:
    regions = session.counters if session is not None else ()
    return next((one for one in regions if one.region.kind is RegionKind.PROGRAM), None)
