"""JavaScript samples in traces of Chrome's DevTools: events `Profile` and `ProfileChunk` of the sampler.

They have a CPU profile of V8 in pieces (src/profiler in V8): nodes that name their parents, samples, and the
microseconds between them. The event `Profile` has the thread that was sampled; the pieces have that of the
sampler, and the same `id`. Chrome up to version 66 writes the profile of a thread as one event, `CpuProfile`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from profkit.formats.chrome_trace.threads import Event, Track, track_of
from profkit.formats.cpuprofile import Nodes
from profkit.formats.json_members import optional, scaled
from profkit.formats.limits import BoundedBuilder

START, PIECE, WHOLE = "Profile", "ProfileChunk", "CpuProfile"
"""Names of the events."""


class Timed(NamedTuple):
    """A stack and its time until the next one."""

    stack: tuple[int, ...]
    time_ns: int


def samples_of(events: Sequence[Event], builder: BoundedBuilder) -> dict[Track, list[Timed]]:
    """Return the samples of each thread, in order; raises ValueError, naming the event."""
    threads = {_key(event): track_of(event) for event in events if event.get("name") == START}
    pieces: defaultdict[tuple[str, str], list[Event]] = defaultdict(list)
    samples: defaultdict[Track, list[Timed]] = defaultdict(list)
    for event in events:
        if event.get("name") == PIECE:
            pieces[_key(event)].append(event)
        elif event.get("name") == WHOLE:
            samples[track_of(event)] += _timed(_whole(event), builder)
    for key, of_profile in pieces.items():
        parts = [_piece(event) for event in of_profile]
        # The rest of a profile that began before the trace lacks its first nodes. DevTools ignores it too.
        if key in threads or _has_root(parts):
            samples[threads.get(key, track_of(of_profile[0]))] += _timed(parts, builder)
    return samples


def _key(event: Event) -> tuple[str, str]:
    return str(event.get("pid", 0)), str(event.get("id", ""))


class _Piece(NamedTuple):
    """A piece of a CPU profile, and the microseconds between its samples."""

    profile: Mapping[str, object]
    deltas: Sequence[object]


def _piece(event: Event) -> _Piece:
    data = _data(event)
    return _Piece(optional(data, "data", "cpuProfile", {}), optional(data, "data", "timeDeltas", []))


def _has_root(pieces: Sequence[_Piece]) -> bool:
    for piece in pieces:
        nodes: list[object] = optional(piece.profile, "cpuProfile", "nodes", [])
        if any(isinstance(node, dict) and "parent" not in node for node in nodes):
            return True
    return False


def _whole(event: Event) -> list[_Piece]:
    profile: Mapping[str, object] = optional(_data(event), "data", "cpuProfile", {})
    return [_Piece(profile, optional(profile, "cpuProfile", "timeDeltas", []))]


def _data(event: Event) -> Mapping[str, object]:
    return optional(optional(event, str(event["name"]), "args", {}), "args", "data", {})


def _timed(pieces: Sequence[_Piece], builder: BoundedBuilder) -> Iterator[Timed]:
    """Yield the samples of one profile; the last has no time, since nothing says when it ended."""
    nodes = Nodes(builder)
    seen: list[object] = []
    times: list[int] = []
    for profile, deltas in pieces:
        nodes.add(optional(profile, "cpuProfile", "nodes", []))
        samples: list[object] = optional(profile, "cpuProfile", "samples", [])
        if len(samples) != len(deltas):
            raise ValueError(f"a {PIECE} has {len(samples)} samples and {len(deltas)} times")
        seen += samples
        times += (scaled(delta, "timeDeltas", 1000) for delta in deltas)
    for node, time_ns in zip(seen, times[1:], strict=False):
        yield Timed(nodes.stack(node), max(0, time_ns))
