"""JavaScript samples in traces of Chrome's DevTools: events `Profile` and `ProfileChunk` of the sampler.

They have a CPU profile of V8 in pieces (src/profiler in V8): nodes that name their parents, samples, and the
microseconds between them. The event `Profile` has the thread that was sampled; the pieces have that of the
sampler, and the same `id`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from profkit.formats.chrome_trace.threads import Event, Track, track_of
from profkit.formats.cpuprofile import Nodes
from profkit.formats.json_members import optional, scaled
from profkit.formats.limits import BoundedBuilder

START, PIECE = "Profile", "ProfileChunk"
"""Names of the events."""


class Timed(NamedTuple):
    """A stack and its time until the next one."""

    stack: tuple[int, ...]
    time_ns: int


def samples_of(events: Sequence[Event], builder: BoundedBuilder) -> dict[Track, list[Timed]]:
    """Return the samples of each thread, in order; raises ValueError, naming the event."""
    threads = {_key(event): track_of(event) for event in events if event.get("name") == START}
    pieces: defaultdict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in events:
        if event.get("name") == PIECE:
            pieces[_key(event)].append(event)
    samples: defaultdict[Track, list[Timed]] = defaultdict(list)
    for key, of_profile in pieces.items():
        samples[threads.get(key, track_of(of_profile[0]))] += _timed(of_profile, builder)
    return samples


def _key(event: Event) -> tuple[str, str]:
    return str(event.get("pid", 0)), str(event.get("id", ""))


def _timed(pieces: Sequence[Event], builder: BoundedBuilder) -> Iterator[Timed]:
    """Yield the samples of one profile; the last has no time, since nothing says when it ended."""
    nodes = Nodes(builder)
    seen: list[object] = []
    times: list[int] = []
    for piece in pieces:
        data: Mapping[str, object] = optional(optional(piece, PIECE, "args", {}), "args", "data", {})
        profile: Mapping[str, object] = optional(data, "data", "cpuProfile", {})
        nodes.add(optional(profile, "cpuProfile", "nodes", []))
        samples: list[object] = optional(profile, "cpuProfile", "samples", [])
        deltas: list[object] = optional(data, "data", "timeDeltas", [])
        if len(samples) != len(deltas):
            raise ValueError(f"a {PIECE} has {len(samples)} samples and {len(deltas)} times")
        seen += samples
        times += (scaled(delta, "timeDeltas", 1000) for delta in deltas)
    for node, time_ns in zip(seen, times[1:], strict=False):
        yield Timed(nodes.stack(node), max(0, time_ns))
