"""A signal handler raises at every moment of a session's start, region and stop: `interrupts.py EXCEPTION`.

Prints as JSON what was not as it would be without profkit, moment by moment, and what was left over.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from types import FrameType

import psutil
from spinning import spin

from profkit import profile, profiled
from profkit.session import activity
from profkit.session.manager import MANAGER

LAST_S, STEPS = 0.06, 25
STRAYS: set[int] = set()
"""Samplers that were told of already."""
RAISED_AT: list[str] = []
"""What the handler interrupted."""


class Asked(Exception):
    """A handler's own kind of exception."""


KIND = {kind.__name__: kind for kind in (KeyboardInterrupt, TimeoutError, Asked, SystemExit)}[sys.argv[1]]


def raise_it(signum: int, frame: FrameType) -> None:
    RAISED_AT.append(" > ".join(f"{at.name}:{at.lineno}" for at in traceback.extract_stack(frame)[-6:]))
    raise KIND("from the handler")


def function(rate: int) -> None:
    """Another rate: the session before is ended, and one of its own is started."""
    profile(rate=rate)(spin)(0.02)


def block(rate: int) -> None:
    with profiled("block", rate=rate):
        spin(0.02)


def threads(rate: int) -> None:
    """Its entry and its exit end a segment and begin another."""
    profile(rate=rate, threads=True)(spin)(0.005)


def result(rate: int) -> None:
    handle = profile(rate=rate)(spin)
    handle(0.01)
    assert handle.last_run is not None


def outcome(region, rate: int, after_s: float) -> str:
    """How a region ended whose thread gets the signal after a while."""
    RAISED_AT.clear()
    try:
        signal.setitimer(signal.ITIMER_REAL, after_s)
        region(rate)
        while not RAISED_AT:
            spin(0.001)
    except KIND as error:
        return repr(error)
    return "nothing was raised"


def leftovers() -> list[str]:
    """What must not be there between regions."""
    found = []
    thread = threading.Thread(target=lambda: found.append("the lock is held") if not take_lock() else None)
    thread.start()
    thread.join()
    if activity.calls_under_way() or activity.OPEN_BLOCKS:
        found.append(f"active: {activity.calls_under_way()} {activity.OPEN_BLOCKS}")
    strays = left_behind()
    for _ in range(100):  # one that is killed takes a moment to end
        strays = strays and left_behind(0.01)
    STRAYS.update(strays)
    return found + [f"sampler {pid} was left behind" for pid in strays]


def left_behind(after_s: float = 0.0) -> set[int]:
    """Samplers of this process that no session knows, and that were not told of yet."""
    time.sleep(after_s)
    attachment = MANAGER.session.attachment if MANAGER.session is not None else None
    known = STRAYS | {attachment.segment().pid if attachment is not None else None}
    samplers = {process.pid: process for process in psutil.process_iter() if is_sampler(process)}
    return {pid for pid, process in samplers.items() if not ({pid} | children(process)) & known}


def children(process: psutil.Process) -> set[int]:
    """Children of a process: a sampler's watchdog is its parent."""
    try:
        return {child.pid for child in process.children()}
    except psutil.NoSuchProcess:
        return set()


def take_lock() -> bool:
    """Take and release the lock; profkit's own thread may hold it for a moment."""
    taken = MANAGER.lock.acquire(timeout=5)
    if taken:
        MANAGER.lock.release()
    return taken


def is_sampler(process: psutil.Process) -> bool:
    try:
        words = process.cmdline()
    except psutil.NoSuchProcess:
        return False
    return "record" in words and str(os.getpid()) in words and process.status() != psutil.STATUS_ZOMBIE


def main() -> None:
    block(99)
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    logging.getLogger("profkit").addHandler(handler)
    signal.signal(signal.SIGALRM, raise_it)
    expected, problems = repr(KIND("from the handler")), []
    for region in (function, block, threads, result):
        for step in range(STEPS):
            after_s = 0.0005 + LAST_S * step / STEPS
            got = outcome(region, 100 + step, after_s)
            wrong = leftovers() + ([] if got == expected else [got])
            if wrong:
                problems.append(f"{region.__name__}: {'; '.join(wrong)}; at {RAISED_AT}")
    block(99)
    works = profiled("at last", rate=98)
    with works:
        spin(0.1)
    print(json.dumps({
        "problems": problems, "said": said, "samples at last": works.run.info.samples,
        "sessions": len(list(Path(".profkit/spool").glob("*/manifest.json"))),
    }, indent=1))  # fmt: skip


main()
