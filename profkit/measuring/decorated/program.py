"""The backlog of this program: what forks, the end of the program and interrupts mean to it."""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401 - cannot be imported any more when the program ends
import contextlib
import math
import os
import sys
import threading
from concurrent.futures import Future
from functools import cache

from profkit.config import CONFIG
from profkit.measuring.decorated.backlog import Backlog, not_measured
from profkit.measuring.decorated.options import Plan
from profkit.measuring.decorated.watch import Watch
from profkit.measuring.transfer.payload import Payload
from profkit.model.measurement import MeasuredRun
from profkit.model.workorder import WorkOrder
from profkit.process.guard import guarded

EXIT_TIMEOUT_S = 10.0
"""How long the end of the program waits for what is still to be measured, if nothing else is asked for."""


class Front:
    """See `watch.MeasuringService`: by `measuring.front`, which is imported when something is measured."""

    def submit(self, order: WorkOrder, payload: Payload) -> Future[MeasuredRun]:
        """See `front.submit`; the run is kept."""
        from profkit.measuring.api import submit

        _end_before_pools()
        return submit(order, payload)

    def keep(self, run: MeasuredRun) -> None:
        """Put a run into the spool."""
        from profkit.store.measured import keep_measured

        keep_measured(CONFIG.spool, run)


BACKLOG = Backlog()


def watch_of(plan: Plan) -> Watch:
    """A watch over a function of this program."""
    return Watch(plan, BACKLOG, Front())


def _finish() -> None:
    """The program's main thread is done. An interrupt that ended it is one to us, too."""
    if not BACKLOG.open:
        return
    ended_by = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if isinstance(ended_by, KeyboardInterrupt):
        _drop()
    else:
        BACKLOG.finish(_tell, exit_timeout_s(CONFIG.exit_timeout))


def exit_timeout_s(given: str) -> float:
    """Return the seconds of PROFKIT_EXIT_TIMEOUT; the default, after a warning, if it is no number."""
    try:
        seconds = float(given or EXIT_TIMEOUT_S)
    except ValueError:
        seconds = math.nan
    if 0 <= seconds < math.inf:
        return seconds
    _tell(f"PROFKIT_EXIT_TIMEOUT={given!r} is no number of seconds: waiting for {EXIT_TIMEOUT_S:g} s")
    return EXIT_TIMEOUT_S


def _drop() -> None:
    if left := BACKLOG.drop():
        _tell(not_measured(left, "since the program was interrupted"))


def _tell(text: str) -> None:
    """A line of progress; a program may have closed its stderr."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(f"profkit: {text}\n")
        sys.stderr.flush()


def _register() -> None:
    """`_finish` runs before exit handlers, as those of concurrent.futures do.

    From Python 3.12 on those can start no threads any more, and the pool may have to. What comes from
    threads that outlive the main thread is dropped by name.
    """
    finish = guarded("measuring what waits as the program ends", _finish)
    early = getattr(threading, "_register_atexit", None)
    if early is None:
        atexit.register(finish)
        return
    with contextlib.suppress(RuntimeError):  # the program is ending already
        early(finish)
    atexit.register(_LAST)


@cache
def _end_before_pools() -> None:
    """Register `_last` again after the exit handler of the pools, so that it runs before that one."""
    atexit.register(_LAST)


def _last() -> None:
    if BACKLOG.open and not BACKLOG.ending:
        # Under eventlet, `threading` does not call what `_register` gave it.
        _finish()
        _close_pools()
    if left := BACKLOG.drop():
        _tell(not_measured(left, "since the program has ended"))


def _close_pools() -> None:
    """End the pools that exit handlers have started: these are not called for one another."""
    pools = sys.modules.get("profkit.measuring.pool.pool")
    if pools is not None:
        pools.close_all()


_LAST = guarded("ending with the program", _last)
os.register_at_fork(after_in_child=guarded("forgetting what a forked child does not measure", BACKLOG.forget))
_register()
