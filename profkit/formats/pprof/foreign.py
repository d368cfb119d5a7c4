"""pprof files of any tool: those without profkit's comment too.

Of a sample's values one is taken: the type that the file names as its default, else the last, as
`go tool pprof` shows first. The order of samples means nothing there.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from profkit.errors import DamagedFile
from profkit.formats import wire
from profkit.formats.gunzipped import gunzipped
from profkit.formats.limits import BoundedBuilder, Budget, unlimited
from profkit.formats.pprof import reading
from profkit.formats.pprof.messages import Messages, RawSample, ValueType, fields_of, read_messages
from profkit.formats.pprof.schema import FORMAT, GZIP
from profkit.formats.pprof.totals import states_totals
from profkit.formats.registry import Origin
from profkit.model.profile import Frame, Profile, Thread
from profkit.units import Unit

_TIMES = {"nanoseconds": 1, "microseconds": 10**3, "milliseconds": 10**6, "seconds": 10**9}
_SIZES = {"bytes": 1, "kilobytes": 1 << 10, "megabytes": 1 << 20, "gigabytes": 1 << 30}
_SAMPLE_TYPE, _MAPPING, _BEFORE = 1, 3, range(9, 15)
_HEAD_BYTES = 256
_APPROXIMATE = (
    "The profile is of a call graph, which has no stacks: those of the call tree are an approximation."
)
_PID = ("pid", "process_id", "process id")
_TID = ("tid", "thread_id", "thread native id", "thread id")
_NAME = ("thread", "thread_name", "thread name")
_KNOWN_LABELS = frozenset((*_PID, *_TID, *_NAME))


class _Choice(NamedTuple):
    """The value that is taken of each sample, and what its weights count."""

    column: int
    unit: Unit
    factor: int
    period_ns: float = 0.0


def decode(data: bytes, source: Path, budget: Budget | None = None) -> Profile:
    """The profile in a file, gzipped or not; raises DamagedFile, naming `source`."""
    try:
        budget = budget or unlimited()
        plain = gunzipped(data, budget)
        if _is_own(plain):
            profile = reading.decode(zlib.compress(plain, 0, GZIP), source, budget)
            return replace(profile, ordered=profile.ordered and not _is_rewritten(plain))
        return _profile(read_messages(plain, budget), budget)
    except (zlib.error, ValueError) as error:
        raise DamagedFile(source, f"it is no pprof profile: {error}") from error


def sniff(data: bytes) -> bool:
    """Whether a content begins as profiles do: with the types of its values, or times and periods."""
    try:
        for field, value in wire.fields(data[:_HEAD_BYTES]):
            if field == _SAMPLE_TYPE:
                return isinstance(value, bytes) and fields_of(value).keys() <= {1, 2}
            if field not in _BEFORE:
                return False
    except ValueError:
        return False
    return False


def origin_of(data: bytes) -> Origin:
    """When the profile was taken, and what of it is not kept; nothing for a file that cannot be read."""
    if _is_own(data):
        return Origin("profkit", notes=(_APPROXIMATE,) if states_totals(data) else ())
    try:
        messages = read_messages(data)
        return Origin("", messages.started_ns(), tuple(_notes(messages)))
    except ValueError:
        return Origin()


def _is_own(data: bytes) -> bool:
    return f"{FORMAT} {{".encode() in data


def _is_rewritten(data: bytes) -> bool:
    """Whether `go tool pprof` wrote profkit's file again: it merges samples, and adds a mapping."""
    return any(field == _MAPPING for field, _ in wire.fields(data))


def _notes(messages: Messages) -> Iterator[str]:
    types, column = messages.types(), _choice(messages).column
    # Where samples were taken for times, they tell these too.
    told = {column, messages.default_type()}
    if others := [kind.kind for number, kind in enumerate(types) if number not in told]:
        yield f"of the values in the file, {types[column].kind} is kept, {', '.join(others)} left out"
    labels = {key for sample in messages.samples() for key in sample.labels} - _KNOWN_LABELS
    if labels:
        yield f"labels of samples are left out: {', '.join(sorted(labels))}"


def _profile(messages: Messages, budget: Budget) -> Profile:
    choice = _choice(messages)
    locations = messages.locations()
    builder = BoundedBuilder(budget)
    numbers: dict[int, tuple[int, ...]] = {}
    for sample in messages.samples():
        weight = _value(sample, choice.column) * choice.factor
        if weight < 0:
            raise ValueError("it has negative values, as differences of profiles have")
        if weight:
            thread = builder.thread(_thread(sample.labels))
            builder.add_indexed(_stack(sample.locations, locations, numbers, builder), thread, weight)
    return builder.build(unit=choice.unit, period_ns=choice.period_ns, ordered=False)


def _choice(messages: Messages) -> _Choice:
    """The default value; of times that are samples times the period, the samples."""
    types = messages.types()
    if not types:
        raise ValueError("it has no sample types")
    column = messages.default_type()
    shown = _unit(types[column])
    if shown[0] is not Unit.NANOSECONDS or ("samples", "count") not in types:
        return _Choice(column, *shown, _period_ns(messages) if shown[0] is Unit.SAMPLES else 0.0)
    counted, period_ns = types.index(ValueType("samples", "count")), _period_ns(messages)
    alike = all(
        _value(sample, column) * shown[1] == _value(sample, counted) * period_ns
        for sample in messages.samples()
    )
    return _Choice(counted, Unit.SAMPLES, 1, period_ns) if period_ns and alike else _Choice(column, *shown)


def _unit(kind: ValueType) -> tuple[Unit, int]:
    """What a value counts, and its size in that unit; what profkit has no unit for counts as samples."""
    if kind.unit in _TIMES:
        return Unit.NANOSECONDS, _TIMES[kind.unit]
    if kind.unit in _SIZES:
        return Unit.BYTES, _SIZES[kind.unit]
    return (Unit.INSTRUCTIONS if kind.kind == "instructions" else Unit.SAMPLES), 1


def _period_ns(messages: Messages) -> float:
    kind, period = messages.period()
    return float(max(0, period) * _TIMES.get(kind.unit, 0))


def _value(sample: RawSample, column: int) -> int:
    if column >= len(sample.values):
        raise ValueError(f"a sample has {len(sample.values)} values")
    return sample.values[column]


def _stack(
    ids: tuple[int, ...],
    locations: Mapping[int, tuple[Frame, ...]],
    numbers: dict[int, tuple[int, ...]],
    builder: BoundedBuilder,
) -> tuple[int, ...]:
    """The frames of a stack, root first; `numbers` keeps those of locations that were used before."""
    stack: list[int] = []
    for location in reversed(ids):
        known = numbers.get(location)
        if known is None:
            if location not in locations:
                raise ValueError(f"there is no location {location}")
            known = tuple([builder.frame(frame) for frame in reversed(locations[location])])
            numbers[location] = known
        stack += known
    return tuple(stack)


def _thread(labels: Mapping[str, int | str]) -> Thread:
    named = next((str(labels[key]) for key in _NAME if key in labels), "")
    return Thread(_whole(labels, _PID), _whole(labels, _TID), named)


def _whole(labels: Mapping[str, int | str], keys: tuple[str, ...]) -> int:
    """The first of the labels, which some tools write as text; 0 where there is none."""
    value = next((labels[key] for key in keys if key in labels), 0)
    return value if isinstance(value, int) else int(value) if value.isdecimal() else 0
