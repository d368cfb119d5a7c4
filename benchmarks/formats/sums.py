"""Sums of samples in formats without a second reader: collapsed stacks, V8 profiles, sampled traces.

The code shares nothing with `profkit/formats`, and checks nothing.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.formats.costs import Costs
from profkit.model.profile import Profile
from profkit.units import Unit

_READER = "sums of samples"

Json = Mapping[str, Any]

_FRAME = re.compile(r"(?P<name>.*?) \([^()]*\)|.*:(?P<of_sampling>[^:]+):\d+|\S+\(\d+\):_(?P<of_torch>.+)")
_OBJECT = re.compile(r"_at_0x[0-9a-f]+>$")
"""Address of an object, which torch.profiler writes into the names of built-in functions."""
_NO_FRAME = re.compile(r"thread \(.*|tid:\d+|process \d+:.*")


def read_lines(file: Path, profile: Profile) -> Costs:
    """Return the sums of collapsed stacks with files, threads or processes, which gprof2dot does not know."""
    own: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for line in file.read_text("utf-8", "surrogateescape").split("\n"):
        stack, _, count = line.rstrip().rpartition(" ")
        if stack and not line.startswith("#"):
            names = [_frame_name(text) for text in stack.split(";") if not _NO_FRAME.fullmatch(text)]
            own.update(dict.fromkeys(names[-1:], int(count)))
            total.update(dict.fromkeys(names, int(count)))
            total.update({"": int(count)})
    factor = 1000.0 if profile.unit is Unit.NANOSECONDS else 1.0
    whole = total.pop("", 0) * factor
    functions = {name: (own[name] * factor, count * factor) for name, count in total.items()}
    return Costs(_READER, whole, functions)


def _frame_name(text: str) -> str:
    match = _FRAME.fullmatch(text)
    name = text if match is None else next(filter(None, match.groups()), text)
    return _OBJECT.sub(">", name)


def read_v8(file: Path, profile: Profile) -> Costs | None:
    """Return the sums of JavaScript samples in nanoseconds: of a CPU profile, or of a trace of DevTools.

    A trace has other threads, too, so that its total is not compared. Return None for a file without samples.
    """
    document = document_in(file)
    if document is None:
        return None
    if isinstance(document, dict) and "traceEvents" not in document:
        return _sums(_profile_samples(document), whole=True)
    events = document["traceEvents"] if isinstance(document, dict) else document
    samples = list(_trace_samples(events))
    return _sums(samples, whole=False) if samples else None


def document_in(file: Path) -> Any:  # noqa: ANN401, any JSON
    """Return the document in a file, which may be compressed; None if it is cut short."""
    data = file.read_bytes()
    try:
        return json.loads(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
    except ValueError:
        return None


def _sums(samples: Iterable[tuple[list[str], float]], whole: bool) -> Costs:
    own: defaultdict[str, float] = defaultdict(float)
    total: defaultdict[str, float] = defaultdict(float)
    weight = 0.0
    for names, time_us in samples:
        weight += time_us
        for name in names[:1]:
            own[name] += time_us
        for name in set(names):
            total[name] += time_us
    functions = {name: (own[name] * 1000.0, total[name] * 1000.0) for name in total}
    return Costs(_READER, weight * 1000 if whole else None, functions, least=1000)


def _profile_samples(document: Json) -> Iterator[tuple[list[str], float]]:
    """Yield the names of each sample, the innermost first, with its time in microseconds."""
    nodes = {node["id"]: node for node in document.get("nodes") or _tree_nodes(document["head"])}
    callers = {child: node["id"] for node in nodes.values() for child in node.get("children", ())}
    callers = {number: node.get("parent", callers.get(number)) for number, node in nodes.items()}
    for number, time_us in _timed(document):
        names = []
        while number is not None:
            called = nodes[number].get("callFrame", nodes[number])
            names.append(called["functionName"] or "(anonymous)")
            number = callers[number]
        yield names[:-1], max(0, time_us)


def _tree_nodes(head: Json) -> Iterator[Json]:
    yield {**head, "children": [child["id"] for child in head["children"]]}
    for child in head["children"]:
        yield from _tree_nodes(child)


def _timed(document: Json) -> list[tuple[Any, float]]:
    """Return the node of each sample with the time until the next one, or until the end."""
    samples: Sequence[Any] = document["samples"]
    if "timestamps" in document:
        return list(zip(samples, (b - a for a, b in pairwise(document["timestamps"])), strict=False))
    times = list(document["timeDeltas"])
    last = document["endTime"] - document["startTime"] - sum(times) if document.get("endTime") else 0
    return list(zip(samples, [*times[1:], last], strict=True))


def _trace_samples(events: Sequence[Json]) -> Iterator[tuple[list[str], float]]:
    """Yield the samples of all profiles in a trace that begin in it."""
    started = {(event.get("pid"), event.get("id")) for event in events if event.get("name") == "Profile"}
    pieces: defaultdict[Any, dict[str, list[Any]]] = defaultdict(
        lambda: {"nodes": [], "samples": [], "timeDeltas": []}
    )
    for number, event in enumerate(events):
        key = (event.get("pid"), event.get("id")) if event.get("name") == "ProfileChunk" else number
        data = event.get("args", {}).get("data", {})
        if key in started or event.get("name") == "CpuProfile":
            profile = data.get("cpuProfile", {})
            pieces[key]["nodes"] += profile.get("nodes", ())
            pieces[key]["samples"] += profile.get("samples", ())
            pieces[key]["timeDeltas"] += data.get("timeDeltas") or profile.get("timeDeltas", ())
    for document in pieces.values():
        if document["samples"]:
            yield from _profile_samples(document)


def read_trace_samples(file: Path, profile: Profile) -> Costs | None:
    """Return the sums of the `samples` of a Chrome trace; None if it has none."""
    document = document_in(file) if profile.unit is Unit.SAMPLES else None
    if not isinstance(document, dict) or not document.get("samples"):
        return None
    frames = document["stackFrames"]
    own: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for sample in document["samples"]:
        weight = int(sample.get("weight", 1))
        names, at = [], sample.get("sf")
        while at is not None:
            names.append(frames[str(at)]["name"])
            at = frames[str(at)].get("parent")
        own.update(dict.fromkeys(names[:1], weight))
        total.update(dict.fromkeys(names, weight))
    functions = {name: (float(own[name]), float(total[name])) for name in total}
    return Costs(_READER, sum(own.values()), functions)


_METRICS = re.compile(r"(?P<stack>.*) (?P<time_us>\d+)(?:,[01],-?\d+)?")


def read_austin(file: Path, profile: Profile) -> Costs:
    """Return the sums of times in text of Austin, in nanoseconds."""
    lines = file.read_text("utf-8", "surrogateescape").splitlines()
    samples = []
    for match in filter(None, (_METRICS.fullmatch(line) for line in lines if line[:1] != "#")):
        frames = [text for text in match["stack"].split(";") if not re.fullmatch(r"[PT]\S*\d", text)]
        names = [text.rsplit(":", 2)[-2] for text in reversed(frames)]
        samples.append((names, float(match["time_us"])))
    return _sums(samples, whole=True)


def read_firefox(file: Path, profile: Profile) -> Costs:
    """Return the sums of the weights of samples in a file for the Firefox Profiler."""
    document = document_in(file)
    samples: list[tuple[list[str], float]] = []
    for thread in document["threads"]:
        tables = {**document.get("shared", {}), **thread}
        strings = tables.get("stringArray") or tables["stringTable"]
        stacks, frames, functions = tables["stackTable"], tables["frameTable"], tables["funcTable"]
        weights = thread["samples"].get("weight") or [1] * len(thread["samples"]["stack"])
        for at, weight in zip(thread["samples"]["stack"], weights, strict=True):
            names = []
            while at is not None:
                names.append(strings[functions["name"][frames["func"][stacks["frame"][at]]]])
                at = stacks["prefix"][at]
            samples.append((names, weight / 1000))
    return _sums(samples, whole=True)


_PLACE = re.compile(r".+\.py\(\d+\): (.+)", re.DOTALL)
"""File and line, which torch.profiler writes before the name of a Python function."""

Event = Mapping[str, Any]


def read_spans(file: Path, profile: Profile) -> Costs | None:
    """Return self and total time in nanoseconds; None for other events than X, or if they do not nest."""
    document = document_in(file)
    events = document.get("traceEvents", ()) if isinstance(document, dict) else document or ()
    lasting = [event for event in events if event.get("ph") in ("B", "E", "X")]
    lasting = [event for event in lasting if event.get("cat") != "Trace"]
    if not lasting or any(event["ph"] != "X" or isinstance(event["ts"], str) for event in lasting):
        return None
    tracks: defaultdict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in lasting:
        tracks[str(event.get("pid")), str(event.get("tid"))].append(event)
    own: defaultdict[str, float] = defaultdict(float)
    total: defaultdict[str, float] = defaultdict(float)
    if not all(_add(track, own, total) for track in tracks.values()):
        return None
    functions = {name: (own[name] * 1000, total[name] * 1000) for name in total}
    return Costs("sums of events", sum(own.values()) * 1000, functions, tolerance=1e-6, least=len(lasting))


def _add(events: Iterable[Event], own: dict[str, float], total: dict[str, float]) -> bool:
    """Add the times of one thread; return whether all events nest."""
    opened: list[tuple[float, str]] = []
    for event in sorted(events, key=lambda event: (event["ts"], -event.get("dur", 0))):
        start, time_us, name = event["ts"], event.get("dur", 0), _name(event)
        while opened and opened[-1][0] <= start + _LEAST_US:
            opened.pop()
        if opened and start + time_us > opened[-1][0] + _LEAST_US:
            return False
        if opened:
            own[opened[-1][1]] -= time_us
        own[name] += time_us
        if name not in [other for _, other in opened]:
            total[name] += time_us
        opened.append((start + time_us, name))
    return True


_LEAST_US = 1e-3
"""Rounding error of times that are floats."""


def _name(event: Event) -> str:
    match = _PLACE.fullmatch(event["name"])
    return match[1] if match else str(event["name"])
