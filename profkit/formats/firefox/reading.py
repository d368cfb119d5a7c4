"""Reading of the Firefox Profiler's JSON, as any tool has written it since 2019."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

from profkit.errors import DamagedFile
from profkit.formats import exact
from profkit.formats.exact import distinct_threads, unescape_text
from profkit.formats.firefox.writing import NS_PER_MS
from profkit.formats.json_members import (
    bounded,
    column,
    member,
    number,
    optional,
    read_json,
    scaled,
    whole,
    whole_steps,
)
from profkit.formats.limits import LEFT_OUT, BoundedBuilder, Budget, shorten, unlimited
from profkit.formats.registry import PROFILING_SAMPLING, Origin
from profkit.model.profile import Frame, Profile, Thread
from profkit.units import Unit

_HAS_SOURCE = 8
"""A function's flag: it has a source file."""


class StackTable:
    """Stacks by the index of their innermost node; each is walked once.

    Unless all frames are to be kept, deep stacks may be shortened; the frame `LEFT_OUT` follows all others.
    """

    def __init__(
        self, holder: object, where: str, frame_count: int, budget: Budget, *, uncut: bool = False
    ) -> None:
        table = member(holder, where, "stackTable", dict)
        length = member(table, "stackTable", "length", int)
        self._frames = [whole(n, "stackTable.frame") for n in column(table, "stackTable", "frame", length)]
        if any(not 0 <= frame < frame_count for frame in self._frames):
            raise ValueError("stackTable.frame has a frame that frameTable lacks")
        self._prefixes = _prefixes(table, length)
        self._depths: list[int] = []
        for prefix in self._prefixes:
            self._depths.append(1 if prefix < 0 else self._depths[prefix] + 1)
        self._known: dict[int, tuple[int, ...]] = {}
        self._budget = budget
        self._left_out = None if uncut else frame_count

    def stack(self, node: object, where: str) -> tuple[int, ...]:
        """Return frame indexes, root first; empty for null. Raises ValueError, naming `where`, if invalid."""
        if node is None:
            return ()
        if not isinstance(node, int) or not 0 <= node < len(self._frames):
            raise ValueError(f"{where} has a stack {node!r} that stackTable lacks")
        found = self._known.get(node)
        if found is None:
            self._budget.check_depth(self._depths[node])
            path: list[int] = []
            at, callers = node, None
            while at >= 0 and callers is None:
                path.append(self._frames[at])
                at = self._prefixes[at]
                callers = self._known.get(at)
            found = self._known[node] = self._fitted((*(callers or ()), *reversed(path)))
        return found

    def _fitted(self, stack: tuple[int, ...]) -> tuple[int, ...]:
        if self._left_out is None or self._budget.takes_whole(len(stack)):
            return stack
        self._budget.shortened = True
        return shorten(stack, self._left_out)


def frames_of(holder: object, where: str, strings: Sequence[object], sources: object) -> list[Frame]:
    """Return the frames of frameTable, in order; `sources` is the table of files, if there is one."""
    table = member(holder, where, "funcTable", dict)
    functions = _with_modules(_functions(table, strings, sources), table, holder, strings)
    table = member(holder, where, "frameTable", dict)
    length = member(table, "frameTable", "length", int)
    lines = column(table, "frameTable", "line", length)
    frames = []
    for function, line in zip(column(table, "frameTable", "func", length), lines, strict=True):
        if not isinstance(function, int) or not 0 <= function < len(functions):
            raise ValueError(f"frameTable.func has {function!r}, which funcTable lacks")
        name, file = functions[function]
        frames.append(Frame(name, file, whole(line, "frameTable.line")))
    return frames


def _functions(
    table: Mapping[str, object], strings: Sequence[object], sources: object
) -> list[tuple[str, str]]:
    length = member(table, "funcTable", "length", int)
    names = [_string(strings, n, "funcTable.name") for n in column(table, "funcTable", "name", length)]
    if "source" not in table:
        listed = column(table, "funcTable", "fileName", length)
        return list(zip(names, (_string(strings, n, "funcTable.fileName") for n in listed), strict=True))
    files = [_string(strings, n, "sources.filename") for n in member(sources, "sources", "filename", list)]
    flags = column(table, "funcTable", "flags", length) if "flags" in table else [_HAS_SOURCE] * length
    found = []
    for source, flag in zip(column(table, "funcTable", "source", length), flags, strict=True):
        has_source = source is not None and whole(flag, "funcTable.flags") & _HAS_SOURCE
        found.append(_string(files, source, "funcTable.source") if has_source else "")
    return list(zip(names, found, strict=True))


def _with_modules(
    functions: list[tuple[str, str]], table: Mapping[str, object], holder: object, strings: Sequence[object]
) -> list[tuple[str, str]]:
    """Return functions with the names of frozen modules, which are resources, instead of no file."""
    resources = holder.get("resourceTable") if isinstance(holder, dict) else None
    names, listed = (resources.get("name") if isinstance(resources, dict) else None), table.get("resource")
    if not isinstance(names, list) or not isinstance(listed, list) or len(listed) != len(functions):
        return functions
    texts = [_string(strings, name, "resourceTable.name") for name in names]
    frozen = {place: text for place, text in enumerate(texts) if text.startswith("<frozen ")}
    return [
        (name, file or frozen.get(place, "")) if isinstance(place, int) else (name, file)
        for (name, file), place in zip(functions, listed, strict=True)
    ]


def _prefixes(table: Mapping[str, object], length: int) -> list[int]:
    """Return each node's caller, -1 for none; callers precede, so walks terminate."""
    if "prefixOffset" in table:
        offsets = column(table, "stackTable", "prefixOffset", length)
        whole_offsets = (whole(offset, "stackTable.prefixOffset") for offset in offsets)
        prefixes = [node - offset if offset else -1 for node, offset in enumerate(whole_offsets)]
    else:
        listed = column(table, "stackTable", "prefix", length)
        prefixes = [-1 if prefix is None else whole(prefix, "stackTable.prefix") for prefix in listed]
    if any(not -1 <= prefix < node for node, prefix in enumerate(prefixes)):
        raise ValueError("stackTable has a stack whose caller does not come before it")
    return prefixes


def _string(strings: Sequence[object], place: object, where: str) -> str:
    """Return the string at an index; empty for null."""
    if place is None:
        return ""
    if not isinstance(place, int) or not 0 <= place < len(strings):
        raise ValueError(f"{where} has {place!r}, which is out of range")
    text = strings[place]
    if not isinstance(text, str):
        raise ValueError(f"{where} has {place!r}, which is not text")
    return text


_UNITS = {"samples": Unit.SAMPLES, "tracing-ms": Unit.NANOSECONDS, "bytes": Unit.BYTES}
_PRODUCT = re.compile(rb'"product"\s*:\s*("(?:[^"\\]|\\.){0,1000}")')
_START = re.compile(rb'"startTime"\s*:\s*(\d+(?:\.\d+)?)')
_SAMPLED = "Tachyon "
"""Beginning of the name of profiling.sampling in `importedFrom`."""
_IMPORTED = re.compile(rb'"importedFrom"\s*:\s*"' + _SAMPLED.encode())
_MARK = b'"preprocessedProfileVersion"'
_META_LENGTH = 1 << 16


def decode(data: bytes, source: Path = Path("Firefox profile"), budget: Budget | None = None) -> Profile:
    """Parse a file; raises DamagedFile, naming `source` and the first part that is wrong."""
    budget = budget or unlimited()
    try:
        document = read_json(data, budget)
        meta = member(document, "the file", "meta", dict)
        if "preprocessedProfileVersion" not in meta:
            raise ValueError(
                "it is not in the processed format; open it at https://profiler.firefox.com and save it"
            )
        threads = _threads(document, budget, uncut=exact.MEMBER in meta)
        if exact.MEMBER not in meta:
            return _of_any_tool(meta, threads, budget)
        return _as_written(meta, threads, member(document, "the file", "shared", dict), budget)
    except (ValueError, ArithmeticError) as error:
        raise DamagedFile(source, str(error)) from error


def sniff(data: bytes) -> bool:
    """Return whether the file states its version of the processed format."""
    return _MARK in data


def origin_of(data: bytes) -> Origin:
    """Return the profiled product and the start time; the format has no field for the profiler."""
    at = max(0, data.find(b'"meta"'))
    meta = data[at : at + _META_LENGTH]
    if _IMPORTED.search(meta):
        # Its times are those since the machine started.
        return Origin(PROFILING_SAMPLING)
    product, start = _PRODUCT.search(meta), _START.search(meta)
    try:
        tool = str(json.loads(product[1])) if product else ""
    except ValueError:
        tool = ""
    return Origin(tool, round(float(start[1]) * NS_PER_MS) or None if start else None)


class _Recorded(NamedTuple):
    where: str
    content: Mapping[str, object]
    frames: Sequence[Frame]
    samples: Mapping[str, object]
    place: str
    """Place of these samples in the file."""
    stacks: Sequence[tuple[int, ...]]
    """Stacks of the samples, in order."""

    def column(self, key: str) -> list[object]:
        return column(self.samples, self.place, key, len(self.stacks))


def _threads(document: object, budget: Budget, *, uncut: bool) -> list[_Recorded]:
    shared = document.get("shared") if isinstance(document, dict) else None
    shared = shared if isinstance(shared, dict) else {}
    tables = _tables(shared, "shared", shared, budget, uncut=uncut) if "frameTable" in shared else None
    found = []
    for place, thread in enumerate(member(document, "the file", "threads", list)):
        where = f"threads[{place}]"
        frames, table = tables or _tables(thread, where, shared, budget, uncut=uncut)
        samples, at_samples = member(thread, where, "samples", dict), f"{where}.samples"
        nodes = column(samples, at_samples, "stack", member(samples, at_samples, "length", int))
        stacks = [table.stack(node, at_samples) for node in nodes]
        found.append(_Recorded(where, thread, frames, samples, at_samples, stacks))
    return found


def _tables(
    holder: object, where: str, shared: Mapping[str, object], budget: Budget, *, uncut: bool
) -> tuple[list[Frame], StackTable]:
    """Return the frames and stacks of one thread, or of all; strings may be shared even if tables are not."""
    if "stringArray" in shared:
        strings = member(shared, "shared", "stringArray", list)
    else:
        key = "stringArray" if isinstance(holder, dict) and "stringArray" in holder else "stringTable"
        strings = member(holder, where, key, list)
    frames = frames_of(holder, where, strings, shared.get("sources"))
    return frames, StackTable(holder, where, len(frames), budget, uncut=uncut)


def _of_any_tool(meta: Mapping[str, object], threads: Sequence[_Recorded], budget: Budget) -> Profile:
    used = [thread for thread in threads if thread.stacks]
    unit = _common_unit(used)
    builder = BoundedBuilder(budget)
    sampled = str(meta.get("importedFrom")).startswith(_SAMPLED)
    # Files of profiling.sampling have the sampler's process.
    known = [_thread(thread)._replace(pid=0) if sampled else _thread(thread) for thread in used]
    for thread, named in zip(used, distinct_threads(known), strict=True):
        index = builder.thread(named)
        frames = list(map(builder.frame, (*thread.frames, *([LEFT_OUT] if budget.shortened else []))))
        mapped = {stack: tuple(map(frames.__getitem__, stack)) for stack in set(thread.stacks)}
        for stack, weight in zip(thread.stacks, _whole_weights(thread), strict=True):
            if weight:
                builder.add_fitted(mapped[stack], index, weight)
    interval_ms = _interval_ms(used) if sampled else bounded(meta.get("interval", 0), "meta.interval")
    return builder.build(unit=unit, period_ns=interval_ms * NS_PER_MS if unit is Unit.SAMPLES else 0.0)


def _interval_ms(threads: Iterable[_Recorded]) -> float:
    """Return the median time between samples of a thread; 0 if none has two."""
    intervals: list[float] = []
    for thread in threads:
        times = [bounded(at, f"{thread.place}.time") for at in thread.column("time")]
        intervals += (max(0.0, after - before) for before, after in pairwise(times))
    return round(median(intervals), 6) if intervals else 0.0


def _common_unit(threads: Iterable[_Recorded]) -> Unit:
    found: dict[str, str] = {}
    for thread in threads:
        found.setdefault(_weight_type(thread), f"{thread.where} in {_weight_type(thread)}")
    if len(found) > 1:
        raise ValueError(f"its threads do not share a unit: {' and '.join(found.values())}")
    return _UNITS[next(iter(found), "samples")]


def _weight_type(thread: _Recorded) -> str:
    word = optional(thread.samples, thread.place, "weightType", "samples")
    if word not in _UNITS:
        raise ValueError(f"{thread.place}.weightType is {word!r}, not one of {', '.join(_UNITS)}")
    return word


def _thread(thread: _Recorded) -> Thread:
    """Return a thread; its ids may be any text, such as `12.1`, of which the leading digits are kept."""
    content = thread.content
    return Thread(
        _id(content.get("pid")), _id(content.get("tid")), optional(content, thread.where, "name", "")
    )


def _id(text: object) -> int:
    match = re.match(r"\d+", str(text))
    return int(match[0]) if match else 0


def _whole_weights(thread: _Recorded) -> list[int]:
    weights = _weights(thread)
    if weights and min(weights) < 0:
        raise ValueError(f"{thread.place}.weight has a negative value, as in comparisons")
    scale = NS_PER_MS if _weight_type(thread) == "tracing-ms" else 1
    if weights:
        scaled(max(weights), f"the largest of {thread.place}.weight", scale)
    return list(whole_steps(weight * scale for weight in weights))


def _weights(thread: _Recorded) -> list[float]:
    """Return the weights of the samples; 1 each if there are none."""
    if thread.samples.get("weight") is None:
        return [1] * len(thread.stacks)
    return [number(weight, f"{thread.place}.weight") for weight in thread.column("weight")]


def _as_written(
    meta: Mapping[str, object], threads: Sequence[_Recorded], shared: Mapping[str, object], budget: Budget
) -> Profile:
    about = exact.read_description(meta, "meta")
    scale = NS_PER_MS if about.unit is Unit.NANOSECONDS else 1
    by_thread = [
        [
            exact.StackWeight(stack, round(weight * scale))
            for stack, weight in zip(thread.stacks, _weights(thread), strict=True)
        ]
        for thread in threads
    ]
    listed, _ = _tables(shared, "shared", shared, budget, uncut=True)
    frames = [Frame(unescape_text(name), unescape_text(file), line) for name, file, line in listed]
    return exact.rebuild(about, frames, by_thread, "the file", budget)
