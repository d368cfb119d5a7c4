"""Backlog of this program: how long its end waits for measurements; forks and interrupts."""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401 - can no longer be imported when the program ends
import contextlib
import math
import os
import sys
import threading
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
"""Default for the longest wait for remaining measurements when the program ends, in seconds."""


BACKLOG = Backlog()


def watch_of(plan: Plan) -> Watch:
    """Return a watch over a function of this program."""
    return Watch(plan, BACKLOG, _measure, _keep)


def _measure(order: WorkOrder, payload: Payload) -> MeasuredRun:
    from profkit.measuring.api import keeper, measure_packed
    from profkit.measuring.runner.jobs import Task

    _end_before_pools()
    (run,) = measure_packed([Task(order, payload)], keep=keeper(CONFIG.spool))
    return run


def _keep(run: MeasuredRun) -> None:
    from profkit.store.measured import keep_measured

    keep_measured(CONFIG.spool, run)


def _finish() -> None:
    """Measure the remaining calls when the main thread ends; drop them if an interrupt ended it."""
    if not BACKLOG.open:
        return
    ended_by = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if isinstance(ended_by, KeyboardInterrupt):
        _drop("because the program was interrupted")
    else:
        BACKLOG.finish(_report, exit_timeout_s(CONFIG.exit_timeout))


def exit_timeout_s(given: str) -> float:
    """Return PROFKIT_EXIT_TIMEOUT in seconds; if it is no number, warn and return the default."""
    try:
        seconds = float(given or EXIT_TIMEOUT_S)
    except ValueError:
        seconds = math.nan
    if 0 <= seconds < math.inf:
        return seconds
    _report(f"PROFKIT_EXIT_TIMEOUT={given!r} is not a number of seconds; waiting for {EXIT_TIMEOUT_S:g} s")
    return EXIT_TIMEOUT_S


def _drop(why: str) -> None:
    if left := BACKLOG.drop():
        _report(not_measured(left, why))


def _report(text: str) -> None:
    """Write a line of progress, unless the program closed its stderr."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(f"profkit: {text}\n")
        sys.stderr.flush()


def _register() -> None:
    """Run `_finish` before exit handlers, as concurrent.futures does with its own.

    From Python 3.12 on, exit handlers can start no threads, and the pool may need one. Calls from threads
    that outlive the main thread are dropped and named.
    """
    finish = guarded("measuring the waiting calls at exit", _finish)
    early = getattr(threading, "_register_atexit", None)
    if early is None:
        atexit.register(finish)
        return
    with contextlib.suppress(RuntimeError):  # the program is ending already
        early(finish)
    atexit.register(_LAST)


@cache
def _end_before_pools() -> None:
    """Register `_last` again after the exit handler of the pools, so that it runs before that handler."""
    atexit.register(_LAST)


def _last() -> None:
    if BACKLOG.open and not BACKLOG.ending:
        # Under eventlet, `threading` does not call the function that `_register` registered.
        _finish()
        _close_pools()
    _drop("because the program has ended")


def _close_pools() -> None:
    """Close pools that exit handlers started: an exit handler that another one registers is not called."""
    pools = sys.modules.get("profkit.measuring.pool.pool")
    if pools is not None:
        pools.close_all()


_LAST = guarded("ending at exit", _last)
os.register_at_fork(after_in_child=guarded("clearing the backlog in a forked child", BACKLOG.forget))
_register()
