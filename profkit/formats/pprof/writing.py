"""Writing of pprof: samples, then the tables that they refer to, in protobuf's own order of fields."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence

from profkit.formats import wire
from profkit.formats.exact import escape_text
from profkit.formats.limits import GZIP
from profkit.formats.pprof.comments import starts_comment, totals_comment, turns_comment
from profkit.formats.pprof.schema import (
    FORMAT,
    SAMPLE_TYPES,
    STATE,
    STATES,
    VALUE_TYPES,
    WALL,
    InFunction,
    InLabel,
    InLine,
    InLocation,
    InProfile,
    InSample,
    InValueType,
)
from profkit.formats.registry import TimeSpan
from profkit.formats.turns import Turns, take_turns
from profkit.model.profile import Frame, Profile, Sample, Thread, ThreadState

_INT64_MAX = 2**63 - 1


def encode(profile: Profile) -> bytes:
    """Write the gzipped file as `encode_timed` does, without times."""
    return encode_timed(profile, TimeSpan())


def encode_timed(profile: Profile, span: TimeSpan) -> bytes:
    """Write the gzipped file; samples have their time as a second value if the profile has a period.

    Raises OverflowError for a weight, line or id that exceeds 64 bits.
    """
    strings = _Strings()
    parts = [_value_type(InProfile.SAMPLE_TYPE, kind, strings) for kind in _value_types(profile)]
    samples, turns = (profile.samples, None) if profile.columns else take_turns(profile.samples)
    if profile.columns:
        parts += _samples_of_columns(profile, strings)
    else:
        fields = _distinct_samples(profile, samples, strings)
        parts += map(fields.__getitem__, samples)
    parts += _frames(profile.frames, strings)
    last = _span(span) + _period(profile, strings) + _comment(profile, strings, turns)
    parts += strings.fields()
    parts.append(last)
    return zlib.compress(b"".join(parts), wbits=GZIP)


def _value_types(profile: Profile) -> list[tuple[str, str]]:
    if profile.value is not None:
        return [VALUE_TYPES[value] for value in (profile.value, *(one.value for one in profile.columns))]
    return [SAMPLE_TYPES[profile.unit], *([WALL] if profile.period_ns > 0 else [])]


class _Strings:
    """The string table: each string once, the empty one first as the format demands."""

    def __init__(self) -> None:
        self._numbers = {"": 0}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def fields(self) -> Iterator[bytes]:
        return (wire.blob(InProfile.STRING, escape_text(text).encode()) for text in self._numbers)


def _value_type(field: int, names: tuple[str, str], strings: _Strings) -> bytes:
    kind, unit = map(strings.number, names)
    return wire.blob(field, wire.integer(InValueType.TYPE, kind) + wire.integer(InValueType.UNIT, unit))


def _distinct_samples(profile: Profile, samples: Sequence[Sample], strings: _Strings) -> dict[Sample, bytes]:
    # Location ids begin at 1.
    ids = [wire.varint(frame + 1) for frame in range(len(profile.frames))]
    stacks = [
        wire.blob(InSample.LOCATIONS, b"".join([ids[frame] for frame in reversed(stack)])) if stack else b""
        for stack in profile.stacks
    ]
    values = {w: _values(w, profile.period_ns) for w in {sample.weight for sample in samples}}
    labels = [_labels(thread, strings) for thread in profile.threads]
    states = _state_labels(profile, strings)
    return {
        sample: wire.blob(
            InProfile.SAMPLE,
            stacks[sample.stack]
            + values[sample.weight]
            + labels[sample.thread]
            + states[profile.state_of(sample.stack)],
        )
        for sample in dict.fromkeys(samples)
    }


def _samples_of_columns(profile: Profile, strings: _Strings) -> Iterator[bytes]:
    ids = [wire.varint(frame + 1) for frame in range(len(profile.frames))]
    labels = [_labels(thread, strings) for thread in profile.threads]
    others = zip(*(column.weights for column in profile.columns), strict=True)
    for sample, more in zip(profile.samples, others, strict=True):
        stack = b"".join([ids[frame] for frame in reversed(profile.stacks[sample.stack])])
        yield wire.blob(
            InProfile.SAMPLE,
            (wire.blob(InSample.LOCATIONS, stack) if stack else b"")
            + wire.packed(InSample.VALUES, [sample.weight, *more])
            + labels[sample.thread],
        )


def _values(weight: int, period_ns: float) -> bytes:
    values = [weight]
    if period_ns > 0:
        # Times are for other readers: a time that is too large for them is clamped, not rejected.
        values.append(max(-_INT64_MAX, min(round(weight * period_ns), _INT64_MAX)))
    return wire.packed(InSample.VALUES, values)


def _labels(thread: Thread, strings: _Strings) -> bytes:
    values = (
        ("pid", wire.integer(InLabel.NUMBER, thread.pid)),
        ("tid", wire.integer(InLabel.NUMBER, thread.tid)),
        ("thread", wire.integer(InLabel.STRING, strings.number(thread.name))),
    )
    return b"".join(_label(key, value, strings) for key, value in values)


def _state_labels(profile: Profile, strings: _Strings) -> Mapping[ThreadState, bytes]:
    labels = {ThreadState.UNKNOWN: b""}
    for word, state in STATES.items():
        if state in profile.states and state not in labels:
            labels[state] = _label(STATE, wire.integer(InLabel.STRING, strings.number(word)), strings)
    return labels


def _label(key: str, value: bytes, strings: _Strings) -> bytes:
    return wire.blob(InSample.LABEL, wire.integer(InLabel.KEY, strings.number(key)) + value)


def _frames(frames: Sequence[Frame], strings: _Strings) -> Iterator[bytes]:
    """Yield one location per frame, in order, then their functions."""
    functions: dict[tuple[str, str], int] = {}
    for number, frame in enumerate(frames, 1):
        function = functions.setdefault((frame.name, frame.file), len(functions) + 1)
        line = wire.integer(InLine.FUNCTION, function) + wire.integer(InLine.NUMBER, frame.line)
        location = wire.integer(InLocation.ID, number) + wire.blob(InLocation.LINE, line)
        yield wire.blob(InProfile.LOCATION, location)
    # Write no system_name: `go tool pprof` takes it for a C++ name, and shortens it.
    for (name, file), number in functions.items():
        yield wire.blob(
            InProfile.FUNCTION,
            wire.integer(InFunction.ID, number)
            + wire.integer(InFunction.NAME, strings.number(name))
            + wire.integer(InFunction.FILE, strings.number(file)),
        )


def _span(span: TimeSpan) -> bytes:
    started, duration = (max(0, min(time_ns, _INT64_MAX)) for time_ns in span)
    return wire.integer(InProfile.TIME_NS, started) + wire.integer(InProfile.DURATION_NS, duration)


def _period(profile: Profile, strings: _Strings) -> bytes:
    if profile.period_ns <= 0:
        return b""
    period = wire.integer(InProfile.PERIOD, min(round(profile.period_ns), _INT64_MAX))
    return _value_type(InProfile.PERIOD_TYPE, WALL, strings) + period


def _comment(profile: Profile, strings: _Strings, turns: Turns | None) -> bytes:
    about: dict[str, object] = {
        "unit": profile.unit.value,
        "period_ns": profile.period_ns,
        "ordered": profile.ordered,
        "turns": turns is not None,
    }
    if profile.value is not None:
        about["values"] = [profile.value.value, *(column.value.value for column in profile.columns)]
    comments = [f"{FORMAT} {json.dumps(about)}"]
    if profile.totals:
        comments.append(totals_comment(profile))
    if turns is not None:
        comments.append(turns_comment(turns))
    if (starts := starts_comment(profile)) is not None:
        comments.append(starts)
    return wire.packed(InProfile.COMMENT, list(map(strings.number, comments)))
