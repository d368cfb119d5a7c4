"""A profile from the Firefox Profiler's JSON, of profkit or of any tool that writes it, such as samply."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from profkit.errors import DamagedFile
from profkit.formats import exact
from profkit.formats.distinct_threads import distinct_threads
from profkit.formats.firefox.schema import NS_PER_MS
from profkit.formats.firefox.tables_reading import StackTable, frames_of
from profkit.formats.json_members import bounded, column, member, number, optional, read_json, scaled
from profkit.formats.limits import BoundedBuilder, Budget, unlimited
from profkit.formats.pprof.spelling import unspell
from profkit.formats.registry import Origin
from profkit.formats.scaling import whole_steps
from profkit.model.profile import Frame, Profile, Thread
from profkit.units import Unit

_UNITS = {"samples": Unit.SAMPLES, "tracing-ms": Unit.NANOSECONDS, "bytes": Unit.BYTES}
_PRODUCT = re.compile(rb'"product"\s*:\s*("(?:[^"\\]|\\.){0,1000}")')
_START = re.compile(rb'"startTime"\s*:\s*(\d+(?:\.\d+)?)')
_MARK = b'"preprocessedProfileVersion"'
_META_LENGTH = 1 << 16


def decode(data: bytes, source: Path = Path("Firefox profile"), budget: Budget | None = None) -> Profile:
    """The profile of all threads; raises DamagedFile, naming `source` and the first part that is wrong."""
    budget = budget or unlimited()
    try:
        document = read_json(data, budget)
        meta = member(document, "the file", "meta", dict)
        if "preprocessedProfileVersion" not in meta:
            raise ValueError("it is not processed yet; open it at https://profiler.firefox.com and save it")
        threads = _threads(document, budget)
        if exact.MEMBER not in meta:
            return _of_any_tool(meta, threads, budget)
        return _as_written(meta, threads, member(document, "the file", "shared", dict), budget)
    except (ValueError, ArithmeticError) as error:
        raise DamagedFile(source, str(error)) from error


def sniff(data: bytes) -> bool:
    """Whether the file says which version of the processed format it has."""
    return _MARK in data


def origin_of(data: bytes) -> Origin:
    """What was profiled, as there is no field for what took the profile, and since when."""
    at = max(0, data.find(b'"meta"'))
    meta = data[at : at + _META_LENGTH]
    product, start = _PRODUCT.search(meta), _START.search(meta)
    try:
        tool = str(json.loads(product[1])) if product else ""
    except ValueError:
        tool = ""
    return Origin(tool, round(float(start[1]) * NS_PER_MS) or None if start else None)


class _Recorded(NamedTuple):
    """A thread of the file."""

    where: str
    content: Mapping[str, object]
    frames: Sequence[Frame]
    stacks: Sequence[tuple[int, ...]]
    """Of its samples, in their order."""


def _threads(document: object, budget: Budget) -> list[_Recorded]:
    shared = document.get("shared") if isinstance(document, dict) else None
    shared = shared if isinstance(shared, dict) else {}
    tables = _tables(shared, "shared", shared, budget) if "frameTable" in shared else None
    found = []
    for place, thread in enumerate(member(document, "the file", "threads", list)):
        where = f"threads[{place}]"
        frames, table = tables or _tables(thread, where, shared, budget)
        samples = member(thread, where, "samples", dict)
        length = member(samples, f"{where}.samples", "length", int)
        nodes = column(samples, f"{where}.samples", "stack", length)
        stacks = [table.stack(node, f"{where}.samples") for node in nodes]
        found.append(_Recorded(where, thread, frames, stacks))
    return found


def _tables(
    holder: object, where: str, shared: Mapping[str, object], budget: Budget
) -> tuple[list[Frame], StackTable]:
    """Frames and stacks of one thread, or of all; strings may be shared without them."""
    if "stringArray" in shared:
        strings = member(shared, "shared", "stringArray", list)
    else:
        key = "stringArray" if isinstance(holder, dict) and "stringArray" in holder else "stringTable"
        strings = member(holder, where, key, list)
    frames = frames_of(holder, where, strings, shared.get("sources"))
    return frames, StackTable(holder, where, len(frames), budget)


def _of_any_tool(meta: Mapping[str, object], threads: Sequence[_Recorded], budget: Budget) -> Profile:
    used = [thread for thread in threads if thread.stacks]
    unit = _common_unit(used)
    builder = BoundedBuilder(budget)
    for thread, named in zip(used, distinct_threads(map(_thread, used)), strict=True):
        index = builder.thread(named)
        frames = list(map(builder.frame, thread.frames))
        mapped = {stack: tuple(map(frames.__getitem__, stack)) for stack in set(thread.stacks)}
        for stack, weight in zip(thread.stacks, _whole_weights(thread), strict=True):
            if weight:
                builder.add_indexed(mapped[stack], index, weight)
    interval_ms = bounded(meta.get("interval", 0), "meta.interval")
    return builder.build(unit=unit, period_ns=interval_ms * NS_PER_MS if unit is Unit.SAMPLES else 0.0)


def _common_unit(threads: Iterable[_Recorded]) -> Unit:
    found: dict[str, str] = {}
    for thread in threads:
        found.setdefault(_weight_type(thread), f"{thread.where} in {_weight_type(thread)}")
    if len(found) > 1:
        raise ValueError(f"its threads do not share a unit: {' and '.join(found.values())}")
    return _UNITS[next(iter(found), "samples")]


def _weight_type(thread: _Recorded) -> str:
    where = f"{thread.where}.samples"
    word = optional(member(thread.content, thread.where, "samples", dict), where, "weightType", "samples")
    if word not in _UNITS:
        raise ValueError(f"{where}.weightType is {word!r}, not one of {', '.join(_UNITS)}")
    return word


def _thread(thread: _Recorded) -> Thread:
    """Ids may be any text, such as `12.1`: then the digits that they begin with."""
    content = thread.content
    return Thread(
        _id(content.get("pid")), _id(content.get("tid")), optional(content, thread.where, "name", "")
    )


def _id(told: object) -> int:
    match = re.match(r"\d+", str(told))
    return int(match[0]) if match else 0


def _whole_weights(thread: _Recorded) -> list[int]:
    weights = _weights(thread)
    if weights and min(weights) < 0:
        raise ValueError(f"{thread.where}.samples.weight has a negative one, as comparisons have")
    scale = NS_PER_MS if _weight_type(thread) == "tracing-ms" else 1
    if weights:
        scaled(max(weights), f"the largest of {thread.where}.samples.weight", scale)
    return list(whole_steps(weight * scale for weight in weights))


def _weights(thread: _Recorded) -> list[float]:
    """The weights of the samples, 1 each where there are none."""
    where = f"{thread.where}.samples"
    samples = member(thread.content, thread.where, "samples", dict)
    if samples.get("weight") is None:
        return [1] * len(thread.stacks)
    listed = column(samples, where, "weight", len(thread.stacks))
    return [number(weight, f"{where}.weight") for weight in listed]


def _as_written(
    meta: Mapping[str, object], threads: Sequence[_Recorded], shared: Mapping[str, object], budget: Budget
) -> Profile:
    """The profile that `encode` was given."""
    about = exact.read_description(meta, "meta")
    scale = NS_PER_MS if about.unit is Unit.NANOSECONDS else 1
    by_thread = [
        [
            exact.StackWeight(stack, round(weight * scale))
            for stack, weight in zip(thread.stacks, _weights(thread), strict=True)
        ]
        for thread in threads
    ]
    listed, _ = _tables(shared, "shared", shared, budget)
    frames = [Frame(unspell(name), unspell(file), line) for name, file, line in listed]
    return exact.rebuild(about, frames, by_thread, "the file", budget)
