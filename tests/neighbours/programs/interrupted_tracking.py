"""Raise where a signal handler may, in each place of a tracked call; print what was wrong with the next call.

CPython runs signal handlers after calls, at the beginning of functions and at the ends of loops.
"""

from __future__ import annotations

import json
import logging
import opcode
import sys
from types import FrameType
from typing import Any

import profkit
from profkit import profile, tracing
from profkit.session.memory import RECORDER

# This tracer is to see profkit's work, which it hides from others.
tracing.unseen = lambda function, *arguments: function(*arguments)

OWN = tuple(f"{profkit.__path__[0]}/{part}" for part in ("calls", "session", "samplers/memray"))
BEFORE = tuple(
    number for name, number in opcode.opmap.items() if name.startswith(("CALL", "JUMP_BACKWARD", "RESUME"))
)
RETURN = opcode.opmap["RETURN_VALUE"]
LEFT = [-1]
"""Number of places until one is interrupted."""
PLACES: list[str] = []
LAST: dict[FrameType, int] = {}


def trace(frame: FrameType, event: str, argument: object) -> Any:
    if not frame.f_code.co_filename.startswith(OWN):
        return None
    frame.f_trace_opcodes, frame.f_trace_lines = True, False
    if event == "return":
        LAST.pop(frame, None)
    if event != "opcode":
        return trace
    before, now = LAST.get(frame, -1), frame.f_code.co_code[frame.f_lasti]
    LAST[frame] = now
    # A handler runs at the end of the call, which a `try` around `return` still includes.
    if before in BEFORE and now != RETURN:
        PLACES.append(f"{frame.f_code.co_name}:{frame.f_lineno}")
        LEFT[0] -= 1
        if LEFT[0] == -1:
            raise KeyboardInterrupt
    return trace


@profile(mode="memory")
def work() -> int:
    return len(bytearray(100_000))


@profile(mode="memory")
def other() -> int:
    return len(bytearray(200_000))


def interrupted(place: int) -> bool:
    """Call `work` and interrupt it; return False if it has no such place."""
    LEFT[0] = place
    PLACES.clear()
    LAST.clear()
    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


def main() -> None:
    work()
    problems: list[str] = []
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("profkit").addHandler(handler)
    for follower in (work, other):
        place = 0
        while interrupted(place):
            session = RECORDER.session
            before = 0 if session is None else session.captures
            follower()
            session = RECORDER.session
            if session is None or session.captures != before + 1 or RECORDER._tracked is not None or said:
                problems.append(f"{follower.__name__} after {PLACES[-1]}: {said}")
                said.clear()
            place += 1
    print(json.dumps({"problems": problems, "places": place}))


main()
