"""Raise where a signal handler may, in each place of a tracked call; print what the next call had wrong."""

from __future__ import annotations

import json
import logging
import sys

import profkit
from benchmarks.faults.programs.interrupter import Interrupter, see_own_work
from profkit import profile
from profkit.session.memory import RECORDER

OWN = tuple(f"{profkit.__path__[0]}/{part}" for part in ("calls", "session", "samplers/memray"))


@profile(mode="memory")
def work() -> int:
    return len(bytearray(100_000))


@profile(mode="memory")
def other() -> int:
    return len(bytearray(200_000))


def interrupted(place: int) -> str:
    """Call `work` and interrupt it; return where, empty if it has no such place."""
    interrupter = Interrupter(place, OWN)
    sys.settrace(interrupter.trace)
    try:
        work()
    except KeyboardInterrupt:
        return interrupter.where
    finally:
        sys.settrace(None)
    return ""


def main() -> None:
    see_own_work()
    work()
    problems: list[str] = []
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("profkit").addHandler(handler)
    for follower in (work, other):
        place = 0
        while where := interrupted(place):
            session = RECORDER.session
            before = 0 if session is None else session.captures
            follower()
            session = RECORDER.session
            if session is None or session.captures != before + 1 or RECORDER._tracked is not None or said:
                problems.append(f"{follower.__name__} after {where}: {said}")
                said.clear()
            place += 1
    print(json.dumps({"problems": problems, "places": place}))


main()
