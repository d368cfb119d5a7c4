"""Profiles of the type `evented`: when frames are opened and closed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from profkit.formats.json_members import bounded, member, scaled
from profkit.model.profile import ProfileBuilder

_INT64_MAX = 2**63 - 1


class _Event(NamedTuple):
    opens: bool
    at: float
    frame: int


def add_events(
    builder: ProfileBuilder,
    frames: Mapping[int, int],
    thread: int,
    recorded: object,
    where: str,
    scale: float,
) -> None:
    """Append what a thread did between one event and the next; time without an open frame is passed over.

    Frames that nobody closes end with the profile. Times are multiplied by `scale` and rounded, so that no
    sum is off by more than the rounding of its ends.
    """
    events = list(_events(member(recorded, where, "events", list), frames, where))
    if not events:
        return
    start = events[0].at
    end = bounded(member(recorded, where, "endValue", object), f"{where}.endValue")
    stack: list[int] = []
    done = 0
    for place, event in enumerate(events):
        now = round((event.at - start) * scale)
        if not done <= now <= _INT64_MAX:
            problem = "earlier than the event before it" if now < done else "beyond 64 bits"
            raise ValueError(f"{where}.events[{place}] is {problem}")
        _spend(builder, stack, thread, now - done)
        done = now
        if event.opens:
            stack.append(event.frame)
        elif stack and stack[-1] == event.frame:
            stack.pop()
        else:
            raise ValueError(f"{where}.events[{place}] closes a frame that is not the innermost open one")
    _spend(builder, stack, thread, max(0, scaled(end - start, f"{where}.endValue", scale) - done))


def _events(listed: list[object], frames: Mapping[int, int], where: str) -> Iterator[_Event]:
    for place, entry in enumerate(listed):
        at_entry = f"{where}.events[{place}]"
        kind = member(entry, at_entry, "type", str)
        if kind not in ("O", "C"):
            raise ValueError(f"{at_entry}.type is {kind!r}, neither O nor C")
        frame = frames.get(member(entry, at_entry, "frame", int))
        if frame is None:
            raise ValueError(f"{at_entry} has a frame that shared.frames lacks")
        at = bounded(member(entry, at_entry, "at", object), f"{at_entry}.at")
        yield _Event(kind == "O", at, frame)


def _spend(builder: ProfileBuilder, stack: list[int], thread: int, weight: int) -> None:
    if stack and weight:
        builder.add_indexed(tuple(stack), thread, weight)
