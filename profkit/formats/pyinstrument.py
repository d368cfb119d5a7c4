"""Files of pyinstrument: the JSON of `-r json`, and its saved sessions (`.pyisession`, also JSON).

A session has every sample in order (pyinstrument 5, session.py). The JSON is the tree of its reports
(renderers/jsonrenderer.py): processed, in microseconds, with functions at their first line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from profkit.errors import DamagedFile
from profkit.formats.json_members import member, optional, read_json, scaled
from profkit.formats.limits import BoundedBuilder, Budget, unlimited
from profkit.formats.registry import Origin
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.units import Unit

_BUILT_IN = "<built-in>"
_THREAD = "<thread>"


def profile_of_records(
    records: Sequence[object], start: Sequence[object], builder: ProfileBuilder
) -> Profile:
    """Return all records in order, without the frames below the profiler's start; raises ValueError."""
    below = [_identity(text) for text in start if isinstance(text, str) and _thread(text) is None]
    read = cache(lambda text: builder.frame(read_frame(text)))
    for position, record in enumerate(records):
        where = f"frame_records[{position}]"
        texts, time_ns = _record(record, where)
        thread = _thread(texts[0]) if texts else None
        texts = texts if thread is None else texts[1:]
        stack = tuple(map(read, texts[_alike(texts, below) :]))
        builder.add_indexed(stack, builder.thread(thread or Thread(0, 0, "")), time_ns)
    return builder.build(unit=Unit.NANOSECONDS)


def read_frame(text: str) -> Frame:
    """Parse the frame of a record, at its current line if that is known."""
    identity, _, attributes = text.partition("\x01")
    name, file, line = _parts(identity)
    for attribute in attributes.split("\x01"):
        if attribute.startswith("c"):
            name = f"{attribute[1:]}.{name}"
        elif attribute.startswith("l"):
            line = attribute[1:]
    return Frame(name, "" if file == _BUILT_IN else file, int(line) if line.isdecimal() else 0)


def _record(record: object, where: str) -> tuple[list[str], int]:
    if not isinstance(record, list) or len(record) != 2 or not isinstance(record[0], list):
        raise ValueError(f"{where} is not a pair of a stack and a time")
    texts = record[0]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{where} has a frame that is not text")
    time_ns = scaled(record[1], where, 1e9)
    if time_ns < 0:
        raise ValueError(f"{where} has a negative time")
    return texts, time_ns


def _identity(text: str) -> str:
    return text.partition("\x01")[0]


def _parts(identity: str) -> tuple[str, str, str]:
    name, _, rest = identity.partition("\0")
    file, _, line = rest.rpartition("\0")
    return name, file, line


def _thread(text: str) -> Thread | None:
    name, file, ident = _parts(_identity(text))
    return Thread(0, int(ident) if ident.isdecimal() else 0, name) if file == _THREAD else None


def _alike(texts: Sequence[str], below: Sequence[str]) -> int:
    """Return how many frames a stack has in common with the one below the profiler's start."""
    same = 0
    while same < min(len(texts), len(below)) and _identity(texts[same]) == below[same]:
        same += 1
    return same


_SELF = "[self]"
"""Name of a child that is time in its parent itself."""


def profile_of_tree(document: Mapping[str, object], builder: BoundedBuilder) -> Profile:
    """Return an unordered stack for each frame with time of its own; raises ValueError.

    A frame's own time is its time minus that of its children. Each time is rounded to microseconds, so if
    children have more time than their parent, that of the children counts.
    """
    thread = builder.thread(Thread(0, 0, ""))
    root = document["root_frame"]
    pending: list[tuple[object, tuple[int, ...]]] = [] if root is None else [(root, ())]
    while pending:
        node, callers = pending.pop()
        children = member(node, "a frame", "children", list)
        own_ns = _time_ns(node) - sum(map(_time_ns, children))
        name = member(node, "a frame", "function", str)
        builder.budget.check_depth(len(callers))
        stack = callers if name == _SELF else (*callers, builder.frame(_frame(name, node)))
        if own_ns > 0:
            builder.add_indexed(stack, thread, own_ns)
        pending.extend((child, stack) for child in reversed(children))
    return builder.build(unit=Unit.NANOSECONDS, ordered=False)


def _frame(name: str, node: object) -> Frame:
    class_name = optional(node, "a frame", "class_name", "")
    file = optional(node, "a frame", "file_path", "")
    line = max(0, optional(node, "a frame", "line_no", 0))
    return Frame(f"{class_name}.{name}" if class_name else name, "" if file == "<built-in>" else file, line)


def _time_ns(node: object) -> int:
    if not isinstance(node, dict):
        raise ValueError("a frame is not a JSON object")
    return scaled(node.get("time"), "a frame's time", 1e9)


_HEAD = re.compile(rb'\s*\{\s*"start_time"\s*:\s*([0-9.eE+-]{1,40})\s*,\s*"duration"\s*:')
_IN_TREE = b'"root_frame"'
_HEAD_BYTES = 1 << 14


def decode(data: bytes, source: Path = Path("pyinstrument JSON"), budget: Budget | None = None) -> Profile:
    """Parse a file, in nanoseconds; raises DamagedFile, naming `source`."""
    try:
        builder = BoundedBuilder(budget or unlimited())
        document = read_json(data, budget)
        if isinstance(document, dict) and "root_frame" in document:
            return profile_of_tree(document, builder)
        start = member(document, "the file", "start_call_stack", list)
        return profile_of_records(member(document, "the file", "frame_records", list), start, builder)
    except (ValueError, OverflowError) as error:
        raise DamagedFile(source, str(error)) from error


def sniff(data: bytes) -> bool:
    """Return whether content begins with start time and duration, as both documents do."""
    return _HEAD.match(data) is not None


def origin_of(data: bytes) -> Origin:
    """Return when the session began, with a note on what the shorter document lacks."""
    head = _HEAD.match(data)
    notes = (Note(NoteCode.SHORT_CALLS_LEFT_OUT),) if _IN_TREE in data[:_HEAD_BYTES] else ()
    try:
        return Origin("pyinstrument", round(float(head[1]) * 1e9) if head else None, notes)
    except (ValueError, OverflowError):
        return Origin("pyinstrument", notes=notes)
