"""What a pprof file of any tool says, before it is a profile: its fields by name, strings looked up.

Field numbers: https://github.com/google/pprof/blob/main/proto/profile.proto.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from profkit.formats import wire
from profkit.formats.limits import Budget, unlimited
from profkit.formats.pprof.spelling import unspell
from profkit.model.profile import Frame

_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING = range(1, 7)
_TIME_NS, _DURATION_NS, _PERIOD_TYPE, _PERIOD, _COMMENT, _DEFAULT_TYPE = range(9, 15)

_LARGE = 1 << 20
"""Bytes of a message from which its fields are counted; a location or a sample has hundreds."""

Fields = Mapping[int, Sequence[int | bytes]]


class ValueType(NamedTuple):
    """What a sample's value is: `("cpu", "nanoseconds")`."""

    kind: str
    unit: str


class RawSample(NamedTuple):
    """A sample as it stands there: location ids from the leaf on, a value of each type, labels by key."""

    locations: tuple[int, ...]
    values: tuple[int, ...]
    labels: Mapping[str, int | str]


@dataclass(frozen=True, slots=True)
class Messages:
    """A file's outermost fields."""

    fields: Fields
    strings: tuple[str, ...]
    budget: Budget

    def types(self) -> tuple[ValueType, ...]:
        """Those of each sample's values, in their order."""
        return tuple(self._value_type(message) for message in self.fields.get(_SAMPLE_TYPE, ()))

    def default_type(self) -> int:
        """The place of the type to show first: the one that the file names, else the last."""
        kinds = [kind.kind for kind in self.types()]
        wanted = self.text(number(self.fields, _DEFAULT_TYPE))
        return kinds.index(wanted) if wanted in kinds else len(kinds) - 1

    def period(self) -> tuple[ValueType, int]:
        """What lies between two samples; of empty type and 0 where the file does not say."""
        (message,) = self.fields.get(_PERIOD_TYPE, ())[-1:] or (b"",)
        return self._value_type(message), number(self.fields, _PERIOD)

    def started_ns(self) -> int | None:
        """Unix time of the first sample."""
        return number(self.fields, _TIME_NS) or None

    def samples(self) -> Iterable[RawSample]:
        """All samples, as they stand there."""
        for message in self.fields.get(_SAMPLE, ()):
            fields = self._fields_of(message)
            labels = dict(map(self._label, fields.get(3, ())))
            yield RawSample(self._ids(fields.get(1, ())), _numbers(fields.get(2, ())), labels)

    def locations(self) -> Mapping[int, tuple[Frame, ...]]:
        """Frames by location id, from the leaf on: inlined functions come before what they stand in."""
        functions = {number(function, 1): function for function in self._all(_FUNCTION)}
        files = {number(mapping, 1): self.text(number(mapping, 5)) for mapping in self._all(_MAPPING)}
        return {
            number(location, 1): self._frames(location, functions, files.get(number(location, 2), ""))
            for location in self._all(_LOCATION)
        }

    def text(self, index: int) -> str:
        """The string of an index; raises ValueError where there is none."""
        if not 0 <= index < len(self.strings):
            raise ValueError(f"there is no string {index}")
        return self.strings[index]

    def _all(self, field: int) -> list[Fields]:
        return [self._fields_of(message) for message in self.fields.get(field, ())]

    def _fields_of(self, message: int | bytes) -> Fields:
        """Read a message, if it is not larger by itself than a file may be."""
        if isinstance(message, bytes) and len(message) > _LARGE:
            return fields_of(message, Budget(self.budget.limits, self.budget.source))
        return fields_of(message)

    def _ids(self, values: Sequence[int | bytes]) -> tuple[int, ...]:
        """Read the locations of a sample, if they are not more than a stack may have."""
        size = sum(len(value) // wire.LONGEST_VARINT if isinstance(value, bytes) else 1 for value in values)
        self.budget.check_depth(size)
        return _numbers(values)

    def _value_type(self, message: int | bytes) -> ValueType:
        fields = fields_of(message)
        return ValueType(self.text(number(fields, 1)), self.text(number(fields, 2)))

    def _label(self, message: int | bytes) -> tuple[str, int | str]:
        label = fields_of(message)
        text = number(label, 2)
        return self.text(number(label, 1)), self.text(text) if text else number(label, 3)

    def _frames(self, location: Fields, functions: Mapping[int, Fields], mapped: str) -> tuple[Frame, ...]:
        """Code without symbols bears its address; code without a source file lies in what was mapped."""
        messages = location.get(4, ())
        self.budget.check_depth(len(messages))
        lines = [self._fields_of(line) for line in messages]
        if not lines:
            return (Frame(f"{number(location, 3) & (2**64 - 1):#x}", mapped),)
        frames = []
        for line in lines:
            function = functions.get(number(line, 1))
            if function is None:
                raise ValueError(f"there is no function {number(line, 1)}")
            name = self.text(number(function, 2)) or self.text(number(function, 3))
            file = self.text(number(function, 4)) or mapped
            frames.append(Frame(name, file, max(0, number(line, 2))))
        return tuple(frames)


def read_messages(data: bytes, budget: Budget | None = None) -> Messages:
    """The fields of a file that is not compressed; raises ValueError where it is cut short."""
    budget = budget or unlimited()
    fields = fields_of(data, budget)
    texts = fields.get(_STRING, ())
    if any(isinstance(text, int) for text in texts):
        raise ValueError("a string is a number")
    strings = (bytes(text).decode("utf-8", "surrogateescape") for text in texts)
    return Messages(fields, tuple(map(unspell, strings)) or ("",), budget)


def fields_of(message: int | bytes, budget: Budget | None = None) -> Fields:
    """A message's values by field number, counted if there is a budget."""
    if isinstance(message, int):
        raise ValueError("a field holds a number where a message belongs")
    fields: dict[int, list[int | bytes]] = {}
    found = wire.fields(message) if budget is None else wire.counted_fields(message, budget)
    for field, value in found:
        fields.setdefault(field, []).append(value)
    return fields


def number(fields: Fields, field: int) -> int:
    """An integer field, whose absence means 0."""
    value = fields.get(field, (0,))[-1]
    if isinstance(value, bytes):
        raise ValueError(f"field {field} holds bytes where a number belongs")
    return value


def _numbers(values: Iterable[int | bytes]) -> tuple[int, ...]:
    return tuple(one for value in values for one in wire.integers(value))
