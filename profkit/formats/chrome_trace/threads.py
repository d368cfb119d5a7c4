"""Threads of a Chrome trace, and stacks from their overlapping durations."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from profkit.formats.exact import distinct_threads
from profkit.formats.json_members import optional, scaled
from profkit.model.profile import Thread

Event = Mapping[str, object]
Track = tuple[str, str]
"""Process id and thread id."""


def track_of(event: Event) -> Track:
    """Return the process id and thread id of an event; 0 if it has none."""
    return str(event.get("pid", 0)), str(event.get("tid", 0))


def threads_of(
    events: Sequence[Event], tracks: Iterable[Track], read_name: Callable[[str], str]
) -> Mapping[Track, Thread]:
    """Return a thread for each of the tracks; `read_name` decodes a name.

    Ids that are not numbers become 0, and are the name if there is no other.
    """
    names: dict[Track, str] = {}
    processes: dict[str, str] = {}
    for event in events:
        if event.get("ph") == "M" and event.get("name") in ("thread_name", "process_name"):
            name = read_name(optional(optional(event, "an M event", "args", {}), "args", "name", ""))
            pid, tid = track_of(event)
            if event["name"] == "thread_name":
                names[pid, tid] = name
            else:
                processes[pid] = name
    listed = list(tracks)
    threads = distinct_threads(
        Thread(_id(pid), _id(tid), names.get((pid, tid)) or processes.get(pid) or _words(pid, tid))
        for pid, tid in listed
    )
    return dict(zip(listed, threads, strict=True))


def _id(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _words(*ids: str) -> str:
    return " ".join(text for text in ids if not text.isdecimal())


_LARGEST_US = 2**53
"""Largest time in microseconds that needs no further check."""


class Duration(NamedTuple):
    """The time for which a frame was on the stack, in nanoseconds."""

    start: int
    end: int
    frame: int


class _Open(NamedTuple):
    """A B event whose E has not been read yet."""

    start: int
    name: object
    frame: int
    place: int


def durations_of(events: Sequence[Event], frame_number: Callable[[Event], int]) -> list[Duration]:
    """Return the durations of one thread by their start, longest first.

    An E closes the innermost open event of its name, or the innermost of all if it has no name. If its B has
    the same time and follows in the file, the event took no time. An E without a B was cut off at the
    beginning and is ignored. A B without an E ends with the last event of its thread.
    """
    timed = sorted(((_time(event, "ts"), event) for event in events), key=lambda pair: pair[0])
    found: dict[int, Duration] = {}
    opened = _OpenEvents()
    early: Counter[tuple[int, Hashable]] = Counter()
    for place, (at, event) in enumerate(timed):
        if event["ph"] == "B":
            begun = at, _key(event.get("name"))
            if early[begun]:
                early[begun] -= 1
            else:
                opened.push(_Open(at, event.get("name"), frame_number(event), place))
        elif event["ph"] == "X":
            found[place] = Duration(at, at + _lasting(event), frame_number(event))
        elif (closed := opened.pop(event.get("name"))) is not None:
            found[closed.place] = Duration(closed.start, at, closed.frame)
        elif event.get("name") is not None:
            early[at, _key(event["name"])] += 1
    end = max((duration.end for duration in found.values()), default=0)
    end = max(end, timed[-1][0] if timed else 0)
    found |= {left.place: Duration(left.start, end, left.frame) for left in opened.left()}
    in_order = sorted(found.items(), key=lambda item: (item[1].start, -item[1].end, item[0]))
    return [duration for _, duration in in_order]


def stacks_of(
    durations: Sequence[Duration], stack_of: Callable[[Sequence[int]], tuple[int, ...]] = tuple
) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Yield the stacks of a thread with their starts and durations, except empty ones.

    `stack_of` copies the frames.

    The frame that began earlier is the caller, even if durations overlap without nesting, which the format
    forbids and tracers write.
    """
    active: list[Duration] = []
    frames: list[int] = []
    nested = True
    now = 0
    for duration in (*durations, None):
        until = math.inf if duration is None else duration.start
        while active and now < until:
            end = min(until, active[-1].end if nested else min([other.end for other in active]))
            if end > now:
                yield stack_of(frames), now, int(end) - now
            now = int(end)
            if nested:
                while active and active[-1].end <= end:
                    active.pop()
                del frames[len(active) :]
            else:
                active = [other for other in active if other.end > end]
                frames = [other.frame for other in active]
        if duration is not None:
            now = duration.start
            nested = not active or (nested and duration.end <= active[-1].end)
            active.append(duration)
            frames.append(duration.frame)


class _OpenEvents:
    """The B events that no E has closed, found by name without a search."""

    def __init__(self) -> None:
        self._by_place: dict[int, _Open] = {}
        self._places: defaultdict[Hashable, list[int]] = defaultdict(list)

    def push(self, event: _Open) -> None:
        self._by_place[event.place] = event
        self._places[_key(event.name)].append(event.place)

    def pop(self, name: object) -> _Open | None:
        """Remove the innermost event of a name, or of all for None; return None if there is none."""
        if name is None:
            return self._by_place.popitem()[1] if self._by_place else None
        places = self._places.get(_key(name), [])
        while places:
            # The list still contains events that an E without a name closed.
            if (event := self._by_place.pop(places.pop(), None)) is not None:
                return event
        return None

    def left(self) -> Iterable[_Open]:
        return self._by_place.values()


def _key(name: object) -> Hashable:
    return name if isinstance(name, Hashable) else repr(name)


def _lasting(event: Event) -> int:
    """Return the duration of an X event, if need be on the thread's clock."""
    key = next((key for key in ("dur", "tdur") if event.get(key) is not None), None)
    return _time(event, key) if key else 0


_DECIMAL = re.compile(r"-?\d{1,18}(\.\d{1,18})?")


def as_number(value: object) -> object:
    """Return the number in a text, as Hermes (React Native) writes it; else the value itself."""
    if isinstance(value, str) and (match := _DECIMAL.fullmatch(value)):
        return float(value) if match[1] else int(value)
    return value


def _time(event: Event, key: str) -> int:
    """Return a time of an event in nanoseconds, from microseconds; raises ValueError for anything else."""
    value = as_number(event.get(key))
    if (type(value) is float or type(value) is int) and -_LARGEST_US <= value <= _LARGEST_US:
        return round(value * 1000)
    return scaled(value, f"{key} of the {event['ph']} event {str(event.get('name'))[:80]!r}", 1000)
