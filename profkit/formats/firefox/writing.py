"""Writing of the Firefox Profiler's JSON: tables that all threads share, samples of each, and categories."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from itertools import accumulate
from typing import NamedTuple

from profkit.formats import exact
from profkit.formats.exact import escape_text
from profkit.model.profile import Frame, Profile, Sample, Thread
from profkit.transforms.origin import is_library_file, is_native_file
from profkit.transforms.trees import sort_stacks
from profkit.units import Unit

_VERSION = 60
"""Version that is written: the first in which threads share their tables. Newer viewers upgrade it."""
_GECKO_VERSION = 30
"""Version of the browser's own format, a different one; the field is mandatory."""

NS_PER_MS = 1_000_000

_WEIGHT_TYPES = {
    Unit.SAMPLES: "samples",
    Unit.NANOSECONDS: "tracing-ms",
    Unit.BYTES: "bytes",
    # The format has no word for these; "samples" shows them as counts.
    Unit.INSTRUCTIONS: "samples",
    Unit.ALLOCATIONS: "samples",
}

_CATEGORIES = (
    ("Other", "grey"),
    ("User", "yellow"),
    ("Library", "blue"),
    ("Native", "green"),
)
"""Names and colours; the format requires a grey one, for everything without a category."""

_OTHER, _USER, _LIBRARY, _NATIVE = range(len(_CATEGORIES))

Table = Mapping[str, object]


class StackTree(NamedTuple):
    """Nodes, callers before callees, and the last node of each stack of the profile."""

    frames: list[int]
    prefixes: list[int | None]
    leaves: list[int | None]
    """By the stack's index; None for the empty stack and for stacks without samples."""


class _Strings:
    """The string table: each string once, with lone surrogates escaped."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(escape_text(text), len(self._numbers))

    def all(self) -> list[str]:
        return list(self._numbers)


def shared_tables(frames: Sequence[Frame], tree: StackTree) -> Table:
    """Return the member `shared`: the profile's frames keep their numbers."""
    strings = _Strings()
    functions: dict[tuple[str, str], int] = {}
    of_frames = [functions.setdefault((frame.name, frame.file), len(functions)) for frame in frames]
    files = {file: n for n, file in enumerate(dict.fromkeys(file for _, file in functions if file))}
    return {
        "stackTable": _table(len(tree.frames), frame=tree.frames, prefix=tree.prefixes),
        "frameTable": _frame_table(frames, of_frames),
        "funcTable": _table(
            len(functions),
            name=[strings.number(name) for name, _ in functions],
            source=[files.get(file) for _, file in functions],
            isJS=[False] * len(functions),
            relevantForJS=[False] * len(functions),
            resource=[-1] * len(functions),
            lineNumber=[None] * len(functions),
            columnNumber=[None] * len(functions),
        ),
        "sources": _table(
            len(files), uuid=[None] * len(files), filename=[strings.number(file) for file in files]
        ),
        "resourceTable": _table(0, lib=[], name=[], host=[], type=[]),
        "nativeSymbols": _table(0, libIndex=[], address=[], name=[], functionSize=[]),
        "stringArray": strings.all(),
    }


def stack_tree(profile: Profile) -> StackTree:
    """Return the stacks of the profile's samples as a tree of the minimum size."""
    in_order = sort_stacks(profile, range(len(profile.frames)))
    tree = StackTree([], [], [])
    path: list[int] = []
    leaves: list[int | None] = []
    for stack, shared in zip(in_order.stacks, in_order.shared, strict=True):
        del path[shared:]
        for frame in stack[shared:]:
            tree.prefixes.append(path[-1] if path else None)
            path.append(len(tree.frames))
            tree.frames.append(frame)
        leaves.append(path[-1] if path else None)
    tree.leaves.extend(leaves[place] if place >= 0 else None for place in in_order.places)
    return tree


def _frame_table(frames: Sequence[Frame], functions: Sequence[int]) -> Table:
    count = len(frames)
    return _table(
        count,
        func=functions,
        line=[frame.line or None for frame in frames],
        category=[_category(frame.file) for frame in frames],
        subcategory=[0] * count,
        column=[None] * count,
        address=[-1] * count,
        inlineDepth=[0] * count,
        nativeSymbol=[None] * count,
        innerWindowID=[None] * count,
    )


def _category(file: str) -> int:
    if not file:
        return _OTHER
    return _NATIVE if is_native_file(file) else _LIBRARY if is_library_file(file) else _USER


def _table(length: int, **columns: Sequence[object]) -> Table:
    return {"length": length, **columns}


def encode(profile: Profile) -> bytes:
    """Write the file, one line for `meta`, for each shared table and for each thread."""
    tree = stack_tree(profile)
    out = BytesIO()
    out.write(b'{"meta": %b,\n"libs": [],\n"shared": {' % _json(_meta(profile)))
    shared = shared_tables(profile.frames, tree)
    out.write(b",".join(b"\n%b: %b" % (_json(name), _json(table)) for name, table in shared.items()))
    out.write(b'},\n"threads": [')
    mains = _main_threads(profile.threads)
    for number, samples in enumerate(exact.samples_by_thread(profile)):
        out.write(b",\n" if number else b"\n")
        thread = _thread(profile.threads[number], is_main=number in mains)
        out.write(_json({**thread, "samples": _samples(samples, profile, tree.leaves)}))
    out.write(b"]}\n")
    return out.getvalue()


def _meta(profile: Profile) -> Mapping[str, object]:
    used = sorted({sample.thread for sample in profile.samples})
    return {
        "interval": _interval_ms(profile),
        "startTime": 0,
        "processType": 0,
        "product": "profkit",
        "importedFrom": "profkit",
        "stackwalk": 0,
        "version": _GECKO_VERSION,
        "preprocessedProfileVersion": _VERSION,
        "categories": [
            {"name": name, "color": color, "subcategories": ["Other"]} for name, color in _CATEGORIES
        ],
        "markerSchema": [],
        "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"},
        "symbolicated": True,
        "symbolicationNotSupported": True,
        "usesOnlyOneStackType": True,
        "sourceCodeIsNotOnSearchfox": True,
        "keepProfileThreadOrder": True,
        "initialVisibleThreads": used,
        "initialSelectedThreads": used[:1],
        exact.MEMBER: exact.describe(profile),
    }


def _interval_ms(profile: Profile) -> float:
    """Return the time of a sample; an arbitrary 1 if unknown, since the format requires a positive one."""
    is_known = profile.unit is Unit.SAMPLES and profile.period_ns > 0
    return profile.period_ns / NS_PER_MS if is_known else 1.0


def _main_threads(threads: Sequence[Thread]) -> set[int]:
    """Return one thread of each process; the viewer shows the other threads below it."""
    mains: dict[int, int] = {}
    for number, thread in enumerate(threads):
        if thread.pid not in mains or (thread.tid == thread.pid != threads[mains[thread.pid]].tid):
            mains[thread.pid] = number
    return set(mains.values())


def _thread(thread: Thread, is_main: bool) -> Mapping[str, object]:
    columns = ("data", "name", "startTime", "endTime", "phase", "category")
    return {
        "name": escape_text(thread.name),
        "pid": str(thread.pid),
        "tid": thread.tid,
        "isMainThread": is_main,
        "processName": f"Process {thread.pid}",
        "processType": "default",
        "processStartupTime": 0,
        "processShutdownTime": None,
        "registerTime": 0,
        "unregisterTime": None,
        "pausedRanges": [],
        "markers": {"length": 0, **{column: [] for column in columns}},
    }


def _samples(
    samples: Sequence[Sample], profile: Profile, leaves: Sequence[int | None]
) -> Mapping[str, object]:
    weights: list[float] = [sample.weight for sample in samples]
    if profile.unit is Unit.NANOSECONDS:
        weights = [weight / NS_PER_MS for weight in weights]
    return {
        "length": len(samples),
        "stack": [leaves[sample.stack] for sample in samples],
        "time": list(_times_ms(samples, profile)),
        "weight": weights,
        "weightType": _WEIGHT_TYPES[profile.unit],
    }


def _times_ms(samples: Sequence[Sample], profile: Profile) -> Iterator[float]:
    """Yield each sample's start, one after the other from 0; their indexes if samples have no time."""
    if profile.unit is Unit.NANOSECONDS:
        one_ms = 1 / NS_PER_MS
    elif profile.unit is Unit.SAMPLES:
        one_ms = _interval_ms(profile)
    else:
        return iter(range(len(samples)))
    done = accumulate((sample.weight for sample in samples[:-1]), initial=0)
    return (round(weight * one_ms, 6) for _, weight in zip(samples, done, strict=False))


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
