"""Frame records of a session: a stack and the time since the record before, sample after sample.

A frame is `function NUL file NUL line`, then SOH and attributes: `l` the line at work, `c` the class.
The first frame of a stack is the thread, `name NUL <thread> NUL ident` (pyinstrument 5, stack_sampler.py
and frame_info.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from profkit.formats.json_members import scaled
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.units import Unit

_BUILT_IN = "<built-in>"
_THREAD = "<thread>"


def profile_of_records(
    records: Sequence[object], start: Sequence[object], builder: ProfileBuilder
) -> Profile:
    """All records in order, without the frames below the profiler's start; raises ValueError."""
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
    """The frame of a record, at the line at work where that is known."""
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
        raise ValueError(f"{where} is no pair of a stack and a time")
    texts = record[0]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{where} has a frame that is no text")
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
    """How many frames a stack has in common with the one below the profiler's start."""
    same = 0
    while same < min(len(texts), len(below)) and _identity(texts[same]) == below[same]:
        same += 1
    return same
