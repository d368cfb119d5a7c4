"""Writing of speedscope files: a `sampled` profile per thread."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import NamedTuple

from profkit.formats import exact
from profkit.formats.exact import escape_text, sample_time_ns
from profkit.formats.speedscope.reading import thread_name
from profkit.model.profile import Frame, Profile, Sample, Thread
from profkit.units import Unit

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_AT_ONCE = 10_000
"""Samples that are written at once: a million of them are hundreds of megabytes."""


class _Values(NamedTuple):
    """The factor for weights, and the word for their unit."""

    factor: int | float
    unit: str


def encode(profile: Profile) -> bytes:
    """Write the file: times in nanoseconds if a sample's is known; one line per frame and sample."""
    out = BytesIO()
    out.write(b'{"$schema": %b,\n"exporter": "profkit",\n' % _json(_SCHEMA))
    out.write(b'"%b": %b,\n' % (exact.MEMBER.encode(), _json(exact.describe(profile))))
    out.write(b'"shared": {"frames": [\n')
    out.write(b",\n".join(map(_frame, profile.frames)))
    out.write(b']},\n"profiles": [')
    values = _values(profile)
    # Make a stack's text once: of a million samples, few are distinct.
    stacks = [b"[%b]" % ",".join(map(str, stack)).encode() for stack in profile.stacks]
    threads = zip(profile.threads, exact.samples_by_thread(profile), strict=True)
    for number, (thread, samples) in enumerate(threads):
        out.write(b",\n" if number else b"\n")
        out.writelines(_thread(thread, samples, stacks, values))
    out.write(b"]}\n")
    return out.getvalue()


def _thread(
    thread: Thread, samples: Sequence[Sample], stacks: Sequence[bytes], values: _Values
) -> Iterator[bytes]:
    weights = [sample.weight * values.factor for sample in samples]
    name = _json(escape_text(thread_name(thread)))
    yield b'{"type": "sampled", "name": %b, "unit": %b, ' % (name, _json(values.unit))
    yield b'"startValue": 0, "endValue": %b,\n"samples": [' % _json(sum(weights))
    for start in range(0, len(samples), _AT_ONCE):
        yield b",\n" if start else b"\n"
        yield b",\n".join([stacks[sample.stack] for sample in samples[start : start + _AT_ONCE]])
    yield b'],\n"weights": %b}' % _json(weights)


def _values(profile: Profile) -> _Values:
    time_ns = sample_time_ns(profile)
    if time_ns is not None:
        return _Values(time_ns, "nanoseconds")
    return _Values(1, "bytes" if profile.unit is Unit.BYTES else "none")


def _frame(frame: Frame) -> bytes:
    """Return a frame with its known fields only: the format has no file without a name, and no line 0."""
    members: dict[str, object] = {"name": escape_text(frame.name)}
    if frame.file:
        members["file"] = escape_text(frame.file)
    if frame.line:
        members["line"] = frame.line
    return _json(members)


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
