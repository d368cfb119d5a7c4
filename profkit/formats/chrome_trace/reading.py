"""Reading of Chrome traces: the time that each thread spent between events, in nanoseconds."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain, pairwise
from pathlib import Path
from statistics import median

from profkit.errors import DamagedFile
from profkit.formats.chrome_trace.distributed import (
    host_of,
    is_of_ranks,
    member_of,
    pid_of,
    with_collectives,
)
from profkit.formats.chrome_trace.javascript import Timed, samples_of
from profkit.formats.chrome_trace.threads import (
    Event,
    Track,
    as_number,
    durations_of,
    stacks_of,
    threads_of,
    track_of,
)
from profkit.formats.chrome_trace.writing import EXPORTER
from profkit.formats.exact import unescape_text
from profkit.formats.json_members import bounded, member, optional, read_json, whole
from profkit.formats.limits import BoundedBuilder, Budget, NodeStacks, unlimited
from profkit.formats.registry import Origin
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile, Thread
from profkit.units import Unit

_LINE = re.compile(r"\d+")
# `torch/nn/modules/module.py(1500): _call_impl`, as torch.profiler writes it if it records stacks.
_IN_FRONT = re.compile(r"(.+\.py)\((\d+)\): (.+)", re.DOTALL)


def frame_of(event: Mapping[str, object]) -> Frame:
    """Return the frame of an event: its place is in `args` with a line, else possibly in its name."""
    name = event.get("name")
    args = event.get("args")
    text = name if isinstance(name, str) else ""
    if isinstance(args, dict) and not args.keys().isdisjoint(("file", "line")):
        file, line = args.get("file", args.get("filename")), args.get("line")
        return Frame(text, file if isinstance(file, str) else "", line if isinstance(line, int) else 0)
    return frame_named(text)


@lru_cache(1 << 16)
def frame_named(text: str) -> Frame:
    """Parse the frame, and its place if any, from a name."""
    # `fib (/home/ann/app.py:3)`, as viztracer writes it.
    head, _, line = text.removesuffix(")").rpartition(":")
    opened = head.find(" (", 1)
    if text.endswith(")") and 0 < opened < len(head) - 2 and _LINE.fullmatch(line):
        return Frame(head[:opened], head[opened + 2 :], int(line))
    if match := _IN_FRONT.fullmatch(text):
        return Frame(match[3], match[1], int(match[2]))
    return Frame(text, "", 0)


def sampled_profile(document: Mapping[str, object], builder: BoundedBuilder) -> Profile:
    """Return the samples of all threads, in the order of their times.

    The period is the median time between consecutive samples of a thread. Raises ValueError, naming the
    sample or frame, for anything that the format does not allow.
    """
    stacks = _node_stacks(optional(document, "the file", "stackFrames", {}), builder)
    threads: dict[int, list[tuple[float, int, tuple[int, ...]]]] = defaultdict(list)
    for place, sample in enumerate(member(document, "the file", "samples", list)):
        where = f"samples[{place}]"
        tid = whole(as_number(member(sample, where, "tid", object)), f"{where}.tid")
        at = bounded(as_number(member(sample, where, "ts", object)), f"{where}.ts")
        weight = whole(as_number(sample.get("weight", 1)), f"{where}.weight")
        leaf = member(sample, where, "sf", object)
        threads[tid].append((at, weight, () if leaf is None else stacks.stack(str(leaf), where)))
    gaps: list[float] = []
    for tid, samples in threads.items():
        samples.sort(key=lambda sample: sample[0])
        gaps += (later - earlier for (earlier, *_), (later, *_) in pairwise(samples))
        thread = builder.thread(Thread(0, tid, ""))
        for _, weight, stack in samples:
            builder.add_fitted(stack, thread, weight)
    return builder.build(period_ns=median(gaps) * 1000 if gaps else 0.0)


def _node_stacks(listed: Mapping[object, object], builder: BoundedBuilder) -> NodeStacks:
    # Ids are numbers or strings, in the samples as well as in the tree.
    nodes = {str(key): node for key, node in listed.items()}
    callers: dict[object, object] = {
        key: str(node["parent"])
        for key, node in nodes.items()
        if isinstance(node, dict) and node.get("parent") is not None
    }

    @cache
    def frame_of(key: object) -> int:
        return builder.frame(frame_named(member(nodes[str(key)], f"stackFrames[{key!r}]", "name", str)))

    return NodeStacks(builder, nodes, callers, frame_of)


_LASTING = ("B", "E", "X")
_EXPORTER = re.compile(rb'"otherData"\s*:\s*\{\s*"exporter"\s*:\s*("(?:[^"\\]|\\.)*")')
_SCRIPTS, _OLD_SCRIPTS = b'"ProfileChunk"', b'"CpuProfile"'
_TRACERS = {
    b'"viztracer_metadata"': "viztracer",
    b'"deviceProperties"': "torch.profiler",
    b'"cat":"py-spy"': "py-spy",
    _SCRIPTS: "Chrome DevTools",
    _OLD_SCRIPTS: "Chrome DevTools",
}
_HEAD = 1 << 16


def decode(data: bytes, source: Path = Path("Chrome trace"), budget: Budget | None = None) -> Profile:
    """Parse a file; raises DamagedFile, naming `source` and what is wrong."""
    try:
        document = _document(data, budget)
        events = _events(document)
        if is_of_ranks(document):
            events = list(with_collectives(document, events))
        tracks = _by_track(events)
        builder = BoundedBuilder(budget or unlimited())
        scripts = samples_of(events, builder)
        # Besides the samples, Hermes writes an event without duration for each thread.
        takes_time = bool(scripts) or any(map(_takes_time, chain.from_iterable(tracks.values())))
        if not takes_time and isinstance(document, dict) and document.get("samples"):
            return sampled_profile(document, builder)
        if not tracks and not scripts:
            raise ValueError("it has no durations: neither B, E or X events nor samples")
        return _profile(document, events, tracks, scripts, builder)
    except (ValueError, ArithmeticError) as error:
        raise DamagedFile(source, str(error)) from error


def sniff(data: bytes) -> bool:
    """Return whether this is an object with a member `traceEvents`, or a list of objects with a phase."""
    if data.lstrip()[:1] == b"[":
        return b'"ph"' in data[:_HEAD]
    return data.lstrip()[:1] == b"{" and b'"traceEvents"' in data


def origin_of(data: bytes) -> Origin:
    """Return the program that wrote the file, if its additions identify it."""
    match = _EXPORTER.search(data[:_HEAD])
    if match:
        try:
            return Origin(str(json.loads(match[1])))
        except ValueError:
            return Origin()
    notes = (Note(NoteCode.TIMELINE_LEFT_OUT),) if _SCRIPTS in data or _OLD_SCRIPTS in data else ()
    tool = next((tool for mark, tool in _TRACERS.items() if mark in data), "")
    member = member_of(data)
    if member.rank is None:
        return Origin(tool, notes=notes)
    return Origin(tool, notes=notes, member=member, host=host_of(data), pid=pid_of(data))


def _document(data: bytes, budget: Budget | None) -> object:
    """Parse the JSON; a list may lack its closing bracket: the format permits it for killed tracers."""
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
            raise ValueError(f"traceEvents[{place}] is not a JSON object")
    return listed


def _by_track(events: Sequence[Event]) -> Mapping[Track, Sequence[Event]]:
    tracks: dict[Track, list[Event]] = defaultdict(list)
    for event in events:
        if event.get("ph") in _LASTING and not _is_capture(event):
            tracks[track_of(event)].append(event)
    return tracks


def _takes_time(event: Event) -> bool:
    return event["ph"] != "X" or bool(event.get("dur") or event.get("tdur"))


def _is_capture(event: Event) -> bool:
    """Return whether an event is torch.profiler's own, which spans the whole recording."""
    return event.get("cat") == "Trace" and event.get("pid") == "Spans"


def _profile(
    document: object,
    events: Sequence[Event],
    tracks: Mapping[Track, Sequence[Event]],
    scripts: Mapping[Track, Sequence[Timed]],
    builder: BoundedBuilder,
) -> Profile:
    """Return the durations of all threads; those with JavaScript samples have these instead.

    In traces of ranks, they have their starts too, which show when a rank arrived in collectives.
    """
    ours, is_timed = _is_ours(document), is_of_ranks(document)
    threads = threads_of(events, dict.fromkeys((*tracks, *scripts)), unescape_text if ours else str)
    known: dict[Frame, int] = {}

    def number(event: Event) -> int:
        frame = frame_of(event)
        if frame not in known:
            own = Frame(unescape_text(frame.name), unescape_text(frame.file), frame.line) if ours else frame
            known[frame] = builder.frame(own)
        return known[frame]

    for track, samples in scripts.items():
        for stack, time_ns in samples:
            if time_ns:
                builder.add_fitted(stack, builder.thread(threads[track]), time_ns)
    for track, listed in tracks.items():
        if track in scripts:
            continue
        thread = builder.thread(threads[track])
        for stack, start, time_ns in stacks_of(durations_of(listed, number), builder.fitted):
            builder.add_fitted(stack, thread, time_ns, start if is_timed else None)
    return _from_zero(builder.build(unit=Unit.NANOSECONDS))


def _from_zero(profile: Profile) -> Profile:
    """Return the profile with starts from the beginning of the recording."""
    if not profile.starts:
        return profile
    first = min(profile.starts)
    return replace(profile, starts=tuple(int(bounded(start - first, "ts")) for start in profile.starts))
