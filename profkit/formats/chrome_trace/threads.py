"""Whose events are whose: process and thread ids, which may be any text, and the names that M events give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from profkit.formats.distinct_threads import distinct_threads
from profkit.formats.json_members import optional
from profkit.model.profile import Thread

Event = Mapping[str, object]
Track = tuple[str, str]
"""Process id and thread id."""


def track_of(event: Event) -> Track:
    """The thread that an event is of; 0 where it names none."""
    return str(event.get("pid", 0)), str(event.get("tid", 0))


def threads_of(
    events: Sequence[Event], tracks: Iterable[Track], read_name: Callable[[str], str]
) -> Mapping[Track, Thread]:
    """A thread for each of the tracks; `read_name` gives the name that was spelled.

    Ids that are no numbers become 0, and stand in the name if nothing else does.
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
