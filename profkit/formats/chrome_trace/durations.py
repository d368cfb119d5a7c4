"""What a thread did when: the events that last, and the stacks that they are together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from profkit.formats.chrome_trace.threads import Event
from profkit.formats.json_members import number


class Duration(NamedTuple):
    """From when to when a frame was on the stack, in nanoseconds."""

    start: int
    end: int
    frame: int


class _Open(NamedTuple):
    """A B event without its E yet."""

    start: int
    name: object
    frame: int
    place: int


def durations_of(events: Sequence[Event], frame_number: Callable[[Event], int]) -> list[Duration]:
    """The durations of one thread, those that begin first and last longest first.

    An E closes the innermost open event of its name, and the innermost of all where it has no name; one
    without a B was cut off at the beginning and says nothing. A B without an E ends with the last event of
    its thread.
    """
    timed = sorted(((_time(event, "ts"), event) for event in events), key=lambda pair: pair[0])
    found: dict[int, Duration] = {}
    opened: list[_Open] = []
    for place, (at, event) in enumerate(timed):
        if event["ph"] == "B":
            opened.append(_Open(at, event.get("name"), frame_number(event), place))
        elif event["ph"] == "X":
            found[place] = Duration(at, at + _time(event, "dur"), frame_number(event))
        elif (closed := _pop(opened, event.get("name"))) is not None:
            found[closed.place] = Duration(closed.start, at, closed.frame)
    end = max((duration.end for duration in found.values()), default=0)
    end = max(end, timed[-1][0] if timed else 0)
    found |= {left.place: Duration(left.start, end, left.frame) for left in opened}
    in_order = sorted(found.items(), key=lambda item: (item[1].start, -item[1].end, item[0]))
    return [duration for _, duration in in_order]


def stacks_of(durations: Sequence[Duration]) -> Iterator[tuple[tuple[int, ...], int]]:
    """The stacks of a thread and how long each lasted, empty ones left out.

    What began earlier stands below, also where durations overlap without one holding the other, which the
    format forbids and tracers write.
    """
    active: list[Duration] = []
    nested = True
    now = 0
    for duration in (*durations, None):
        until = math.inf if duration is None else duration.start
        while active and now < until:
            end = min(until, active[-1].end if nested else min([other.end for other in active]))
            if end > now:
                yield tuple([other.frame for other in active]), int(end) - now
            now = int(end)
            if nested:
                _close(active, end)
            else:
                active = [other for other in active if other.end > end]
        if duration is not None:
            now = duration.start
            nested = not active or (nested and duration.end <= active[-1].end)
            active.append(duration)


def _close(active: list[Duration], end: float) -> None:
    """Remove what has ended by then, where each holds the next."""
    while active and active[-1].end <= end:
        active.pop()


def _pop(opened: list[_Open], name: object) -> _Open | None:
    for place in range(len(opened) - 1, -1, -1):
        if name is None or opened[place].name == name:
            return opened.pop(place)
    return None


def _time(event: Event, key: str) -> int:
    """A time of an event, microseconds in the file, in nanoseconds; raises ValueError for none."""
    told = event.get(key)
    if type(told) is not float and type(told) is not int:
        if told is None and key == "dur":
            return 0
        told = number(told, f"{key} of the {event['ph']} event {event.get('name')!r}")
    return round(told * 1000)
