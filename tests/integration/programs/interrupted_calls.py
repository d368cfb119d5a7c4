"""A signal handler raises TimeoutError in each call of a session's start and stop: `interrupted_calls.py N`.

Prints as JSON in which of every N calls nothing, or something else, was raised. Audit hooks see each.
"""

from __future__ import annotations

import json
import logging
import signal
import sys
import threading
import traceback
from types import FrameType

from spinning import spin

from profkit import profile
from profkit.session.manager import MANAGER

MAIN = threading.get_ident()
EVENTS = ("open", "os.", "socket.__new__")
LEFT: list[int] = []
"""How many events are still to come before the signal; empty if none is wanted."""
RAISED_AT: list[str] = []


def raise_it(signum: int, frame: FrameType) -> None:
    raise TimeoutError("from the handler")


def interrupt(event: str, args: tuple[object, ...]) -> None:
    if not LEFT or threading.get_ident() != MAIN or not event.startswith(EVENTS):
        return
    LEFT[0] -= 1
    if LEFT[0] < 0:
        LEFT.clear()
        stack = traceback.extract_stack(sys._getframe(1))
        RAISED_AT.append(" > ".join(f"{at.name}:{at.lineno}" for at in stack[-6:]))
        signal.raise_signal(signal.SIGALRM)


def session(rate: int) -> None:
    profile(rate=rate)(spin)(0.01)
    MANAGER.end_session()


def outcome(number: int, rate: int) -> str | None:
    """How a session went that was interrupted in its call of this number; None if it has fewer."""
    RAISED_AT.clear()
    LEFT[:] = [number]
    try:
        session(rate)
    except TimeoutError as error:
        return repr(error)
    finally:
        LEFT.clear()
    return "nothing was raised" if RAISED_AT else None


def main(stride: int) -> None:
    session(99)
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    logging.getLogger("profkit").addHandler(handler)
    signal.signal(signal.SIGALRM, raise_it)
    sys.addaudithook(interrupt)
    problems, number = [], 0
    while (got := outcome(number, 100 + number)) is not None:
        if got != "TimeoutError('from the handler')":
            problems.append(f"{number}: {got}; at {RAISED_AT}")
        MANAGER.end_session()
        number += stride
    print(json.dumps({"problems": problems, "said": said, "calls": number}, indent=1))


main(int(sys.argv[1]))
