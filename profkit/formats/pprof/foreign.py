"""Reading of pprof files of any tool: which value is imported, its unit, and threads from labels."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from profkit.errors import DamagedFile
from profkit.formats import wire
from profkit.formats.exact import unescape_text
from profkit.formats.limits import BoundedBuilder, Budget, gunzipped, unlimited
from profkit.formats.pprof import reading
from profkit.formats.pprof.comments import states_totals
from profkit.formats.pprof.schema import FORMAT
from profkit.formats.registry import Origin, Selection, Values, only_value
from profkit.formats.wire import Fields, fields_of, integers_of, number_in
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile, Thread
from profkit.units import Unit

_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING = range(1, 7)
_TIME_NS, _DURATION_NS, _PERIOD_TYPE, _PERIOD, _COMMENT, _DEFAULT_TYPE = range(9, 15)

_LARGE = 1 << 20
"""Minimum size in bytes of a message whose fields are counted; a location or a sample has hundreds."""


class ValueType(NamedTuple):
    """Type of a sample's value: `("cpu", "nanoseconds")`."""

    kind: str
    unit: str


class RawSample(NamedTuple):
    """A sample as written in the file: location ids from the leaf on, a value of each type, labels by key."""

    locations: tuple[int, ...]
    values: tuple[int, ...]
    labels: Mapping[str, int | str]


@dataclass(frozen=True, slots=True)
class Messages:
    """The outermost fields of a file."""

    fields: Fields
    strings: tuple[str, ...]
    budget: Budget

    def types(self) -> tuple[ValueType, ...]:
        """Return the types of each sample's values, in order."""
        return tuple(self._value_type(message) for message in self.fields.get(_SAMPLE_TYPE, ()))

    def default_type(self) -> int:
        """Return the index of the type to show first: the one that the file names, else the last."""
        kinds = [kind.kind for kind in self.types()]
        wanted = self.text(number_in(self.fields, _DEFAULT_TYPE))
        return kinds.index(wanted) if wanted in kinds else len(kinds) - 1

    def period(self) -> tuple[ValueType, int]:
        """Return the type and size of the period between two samples; an empty type and 0 if unknown."""
        (message,) = self.fields.get(_PERIOD_TYPE, ())[-1:] or (b"",)
        return self._value_type(message), number_in(self.fields, _PERIOD)

    def started_ns(self) -> int | None:
        """Return the Unix time of the first sample."""
        return number_in(self.fields, _TIME_NS) or None

    def samples(self) -> Iterable[RawSample]:
        """Yield all samples, as written in the file."""
        for message in self.fields.get(_SAMPLE, ()):
            fields = self._fields_of(message)
            labels = dict(map(self._label, fields.get(3, ())))
            yield RawSample(self._ids(fields.get(1, ())), tuple(integers_of(fields.get(2, ()))), labels)

    def locations(self) -> Mapping[int, tuple[Frame, ...]]:
        """Return frames by location id, from the leaf on: inlined functions come before their callers."""
        functions = {number_in(function, 1): function for function in self._all(_FUNCTION)}
        files = {number_in(mapping, 1): self.text(number_in(mapping, 5)) for mapping in self._all(_MAPPING)}
        return {
            number_in(location, 1): self._frames(location, functions, files.get(number_in(location, 2), ""))
            for location in self._all(_LOCATION)
        }

    def text(self, index: int) -> str:
        """Return the string of an index; raises ValueError if there is none."""
        if not 0 <= index < len(self.strings):
            raise ValueError(f"there is no string {index}")
        return self.strings[index]

    def _all(self, field: int) -> list[Fields]:
        return [self._fields_of(message) for message in self.fields.get(field, ())]

    def _fields_of(self, message: int | bytes) -> Fields:
        """Read a message; raise LimitExceeded if it alone exceeds the limits of a file."""
        if isinstance(message, bytes) and len(message) > _LARGE:
            return fields_of(message, Budget(self.budget.limits, self.budget.source))
        return fields_of(message)

    def _ids(self, values: Sequence[int | bytes]) -> tuple[int, ...]:
        """Read the locations of a sample; raise LimitExceeded if they exceed the depth of a stack."""
        size = sum(len(value) // wire.LONGEST_VARINT if isinstance(value, bytes) else 1 for value in values)
        self.budget.check_depth(size)
        return tuple(integers_of(values))

    def _value_type(self, message: int | bytes) -> ValueType:
        fields = fields_of(message)
        return ValueType(self.text(number_in(fields, 1)), self.text(number_in(fields, 2)))

    def _label(self, message: int | bytes) -> tuple[str, int | str]:
        label = fields_of(message)
        text = number_in(label, 2)
        return self.text(number_in(label, 1)), self.text(text) if text else number_in(label, 3)

    def _frames(self, location: Fields, functions: Mapping[int, Fields], mapped: str) -> tuple[Frame, ...]:
        """Return a location's frames: an address without symbols; the mapped file without a source file."""
        messages = location.get(4, ())
        self.budget.check_depth(len(messages))
        lines = [self._fields_of(line) for line in messages]
        if not lines:
            return (Frame(f"{number_in(location, 3) & (2**64 - 1):#x}", mapped),)
        frames = []
        for line in lines:
            function = functions.get(number_in(line, 1))
            if function is None:
                raise ValueError(f"there is no function {number_in(line, 1)}")
            name = self.text(number_in(function, 2)) or self.text(number_in(function, 3))
            file = self.text(number_in(function, 4)) or mapped
            frames.append(Frame(name, file, max(0, number_in(line, 2))))
        return tuple(frames)


def read_messages(data: bytes, budget: Budget | None = None) -> Messages:
    """Parse the fields of an uncompressed file; raises ValueError if it is cut short."""
    budget = budget or unlimited()
    fields = fields_of(data, budget)
    texts = fields.get(_STRING, ())
    if any(isinstance(text, int) for text in texts):
        raise ValueError("a string is a number")
    strings = (bytes(text).decode("utf-8", "surrogateescape") for text in texts)
    return Messages(fields, tuple(map(unescape_text, strings)) or ("",), budget)


_TIMES = {"nanoseconds": 1, "microseconds": 10**3, "milliseconds": 10**6, "seconds": 10**9}
_SIZES = {"bytes": 1, "kilobytes": 1 << 10, "megabytes": 1 << 20, "gigabytes": 1 << 30}
_COUNTED = ValueType("samples", "count")
_BEFORE = range(9, 15)
_HEAD_BYTES = 256
_PID = ("pid", "process_id", "process id")
_TID = ("tid", "thread_id", "thread native id", "thread id")
_NAME = ("thread", "thread_name", "thread name")
_KNOWN_LABELS = frozenset((*_PID, *_TID, *_NAME))


class _Choice(NamedTuple):
    column: int
    unit: Unit
    factor: int
    period_ns: float = 0.0


def decode(data: bytes, source: Path, budget: Budget | None = None) -> Profile:
    """Parse the value that is imported by default; raises as `select` does."""
    return select(data, source, budget).profile


def select(data: bytes, source: Path, budget: Budget | None = None, value: str | None = None) -> Selection:
    """Parse the value called `value`, by default the one to show first, of a file that may be gzipped.

    Raises UsageError for an unknown value, and DamagedFile, naming `source`.
    """
    try:
        budget = budget or unlimited()
        plain = gunzipped(data, budget)
        if _is_own(plain):
            in_order = not _is_rewritten(plain)
            profile = reading.decode(plain, source, budget, in_order=in_order, packed=False)
            return only_value(profile, value, source)
        return _selected(read_messages(plain, budget), source, value)
    except (zlib.error, ValueError) as error:
        raise DamagedFile(source, f"it is not a pprof profile: {error}") from error


def sniff(data: bytes) -> bool:
    """Return whether content begins as a profile: with the types of its values, or times and periods."""
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
    """Return when the profile was taken and what is not kept; empty for an unreadable file."""
    try:
        if _is_own(data):
            notes = (Note(NoteCode.STACKS_APPROXIMATED),) if states_totals(data) else ()
            return Origin("profkit", number_in(fields_of(data), _TIME_NS) or None, notes)
        messages = read_messages(data)
        return Origin("", messages.started_ns(), tuple(_notes(messages)))
    except ValueError:
        return Origin()


def _is_own(data: bytes) -> bool:
    return f"{FORMAT} {{".encode() in data


def _is_rewritten(data: bytes) -> bool:
    """Return whether `go tool pprof` rewrote profkit's file: it merges samples, and adds a mapping."""
    return any(field == _MAPPING for field, _ in wire.fields(data))


def _notes(messages: Messages) -> Iterator[Note]:
    labels = {key for sample in messages.samples() for key in sample.labels} - _KNOWN_LABELS
    if labels:
        yield Note.of(NoteCode.LABELS_LEFT_OUT, labels=", ".join(sorted(labels)))


def _selected(messages: Messages, source: Path, value: str | None) -> Selection:
    types = messages.types()
    if not types:
        raise ValueError("it has no sample types")
    values = Values.named((kind.kind for kind in types), messages.default_type())
    place, default = values.index(value, source), _choice(messages, values.default)
    choice = default if place in (values.default, default.column) else _choice(messages, place)
    # If samples are kept instead of times, the times follow from them.
    if choice is default:
        return values.select(values.default, _profile(messages, choice), same=(default.column,))
    return values.select(place, _profile(messages, choice))


def _profile(messages: Messages, choice: _Choice) -> Profile:
    locations = messages.locations()
    builder = BoundedBuilder(messages.budget)
    numbers: dict[int, tuple[int, ...]] = {}
    for sample in messages.samples():
        weight = _value(sample, choice.column) * choice.factor
        if weight < 0:
            raise ValueError("it has negative values, as in differences of profiles")
        if weight:
            thread = builder.thread(_thread(sample.labels))
            builder.add_indexed(_stack(sample.locations, locations, numbers, builder), thread, weight)
    return builder.build(unit=choice.unit, period_ns=choice.period_ns, ordered=False)


def _choice(messages: Messages, column: int) -> _Choice:
    """Return a value; if it is the samples times the period, return the samples."""
    types = messages.types()
    shown, period_ns = _unit(types[column]), _period_ns(messages)
    counted = types.index(_COUNTED) if _COUNTED in types else column
    if shown[0] is not Unit.NANOSECONDS or counted == column:
        return _Choice(column, *shown, period_ns if shown[0] is Unit.SAMPLES and counted == column else 0.0)
    alike = all(
        _value(sample, column) * shown[1] == _value(sample, counted) * period_ns
        for sample in messages.samples()
    )
    return _Choice(counted, Unit.SAMPLES, 1, period_ns) if period_ns and alike else _Choice(column, *shown)


def _unit(kind: ValueType) -> tuple[Unit, int]:
    """Return a value's unit, and its size in that unit; values without a unit of profkit count as samples."""
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
        raise ValueError(f"a sample has only {len(sample.values)} values")
    return sample.values[column]


def _stack(
    ids: tuple[int, ...],
    locations: Mapping[int, tuple[Frame, ...]],
    numbers: dict[int, tuple[int, ...]],
    builder: BoundedBuilder,
) -> tuple[int, ...]:
    """Return the frames of a stack, root first; `numbers` caches those of locations."""
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
    """Return the first of the labels, which some tools write as text; 0 if there is none."""
    value = next((labels[key] for key in keys if key in labels), 0)
    return value if isinstance(value, int) else int(value) if value.isdecimal() else 0
