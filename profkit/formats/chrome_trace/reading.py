"""A profile from a Chrome trace: the time that each thread spent between events, in nanoseconds.

Only durations are read: B with E, and X. Threads of which nothing lasts are left out, and so is time
without an open event. So is the event with which torch.profiler marks the whole capture: it is nobody's
work. A trace without durations may have `samples`: then these are counted.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from profkit.errors import DamagedFile
from profkit.formats.chrome_trace.durations import durations_of, stacks_of
from profkit.formats.chrome_trace.names import frame_of
from profkit.formats.chrome_trace.sampled import sampled_profile
from profkit.formats.chrome_trace.threads import Event, Track, threads_of, track_of
from profkit.formats.chrome_trace.writing import EXPORTER
from profkit.formats.json_members import member, read_json
from profkit.formats.limits import BoundedBuilder, Budget, unlimited
from profkit.formats.pprof.spelling import unspell
from profkit.formats.registry import Origin
from profkit.model.profile import Frame, Profile, ProfileBuilder
from profkit.units import Unit

_LASTING = ("B", "E", "X")
_EXPORTER = re.compile(rb'"otherData"\s*:\s*\{\s*"exporter"\s*:\s*("(?:[^"\\]|\\.)*")')
_TRACERS = {
    b'"viztracer_metadata"': "viztracer",
    b'"deviceProperties"': "torch.profiler",
    b'"cat":"py-spy"': "py-spy",
}
_HEAD = 1 << 16


def decode(data: bytes, source: Path = Path("Chrome trace"), budget: Budget | None = None) -> Profile:
    """The profile of all threads; raises DamagedFile, naming `source` and what is wrong, for other data."""
    try:
        document = _document(data, budget)
        events = _events(document)
        tracks = _by_track(events)
        if not tracks and isinstance(document, dict) and document.get("samples"):
            return sampled_profile(document, BoundedBuilder(budget or unlimited()))
        if not tracks:
            raise ValueError("nothing in it lasts: it has neither B, E or X events nor samples")
        return _profile(events, tracks, _is_ours(document), BoundedBuilder(budget or unlimited()))
    except (ValueError, ArithmeticError) as error:
        raise DamagedFile(source, str(error)) from error


def sniff(data: bytes) -> bool:
    """Whether this is an object with a member `traceEvents`, or a list of objects with a phase."""
    if data.lstrip()[:1] == b"[":
        return b'"ph"' in data[:_HEAD]
    return b'"traceEvents"' in data


def origin_of(data: bytes) -> Origin:
    """The program that wrote the file, where it is known by what it adds."""
    match = _EXPORTER.search(data[:_HEAD])
    if match:
        try:
            return Origin(str(json.loads(match[1])))
        except ValueError:
            return Origin()
    return Origin(next((tool for mark, tool in _TRACERS.items() if mark in data), ""))


def _document(data: bytes, budget: Budget | None) -> object:
    """The JSON, whose list may lack its last bracket: the format allows for tracers that are killed."""
    try:
        return read_json(data, budget)
    except ValueError:
        text = data.strip().rstrip(b",")
        if not text.startswith(b"[") or text.endswith(b"]"):
            raise
        return read_json(text + b"]")


def _is_ours(document: object) -> bool:
    about = document.get("otherData") if isinstance(document, dict) else None
    return isinstance(about, dict) and about.get("exporter") == EXPORTER


def _events(document: object) -> Sequence[Event]:
    listed = document if isinstance(document, list) else member(document, "the file", "traceEvents", list)
    for place, event in enumerate(listed):
        if not isinstance(event, dict):
            raise ValueError(f"traceEvents[{place}] is no JSON object")
    return listed


def _by_track(events: Sequence[Event]) -> Mapping[Track, Sequence[Event]]:
    """The events that last, by process and thread."""
    tracks: dict[Track, list[Event]] = defaultdict(list)
    for event in events:
        if event.get("ph") in _LASTING and not _is_capture(event):
            tracks[track_of(event)].append(event)
    return tracks


def _is_capture(event: Event) -> bool:
    """Return whether an event is torch.profiler's own, over the whole time for which it recorded."""
    return event.get("cat") == "Trace" and event.get("pid") == "Spans"


def _profile(
    events: Sequence[Event], tracks: Mapping[Track, Sequence[Event]], ours: bool, builder: ProfileBuilder
) -> Profile:
    threads = threads_of(events, tracks, unspell if ours else str)
    known: dict[Frame, int] = {}

    def number(event: Event) -> int:
        frame = frame_of(event)
        if frame not in known:
            own = Frame(unspell(frame.name), unspell(frame.file), frame.line) if ours else frame
            known[frame] = builder.frame(own)
        return known[frame]

    for track, listed in tracks.items():
        thread = builder.thread(threads[track])
        for stack, time_ns in stacks_of(durations_of(listed, number)):
            builder.add_indexed(stack, thread, time_ns)
    return builder.build(unit=Unit.NANOSECONDS)
