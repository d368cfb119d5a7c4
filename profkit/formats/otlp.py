"""Profiles as OpenTelemetry's messages `profiles/v1development` of opentelemetry-proto 1.45; experimental.

Source: https://github.com/open-telemetry/opentelemetry-proto, profiles.proto. The file is a ProfilesData,
which has the same fields as the request that OTLP sends. Each message of the dictionary is there once, and
only if it is used. The first message of each table is empty, and means "not set". A sample is a stack
with attributes and has one value, the sum of its weights. Newer versions of the messages may differ.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from profkit.formats import wire
from profkit.formats.exact import escape_text
from profkit.formats.pprof.schema import SAMPLE_TYPES, STATE, STATES, VALUE_TYPES, WALL
from profkit.formats.registry import TimeSpan
from profkit.model.profile import Frame, Profile, Thread
from profkit.transforms.values import values_of, with_value
from profkit.version import VERSION

Attributes = Mapping[str, str | int]

_INT64_MAX = 2**63 - 1


class DescribedProfile(NamedTuple):
    """A profile, and what is known about it."""

    profile: Profile
    span: TimeSpan = TimeSpan()
    id: bytes = b""
    """Sixteen bytes that no other profile has; empty if there are none."""
    attributes: Attributes = MappingProxyType({})


class _InRequest(enum.IntEnum):
    RESOURCE_PROFILES = 1
    DICTIONARY = 2


class _InResourceProfiles(enum.IntEnum):
    RESOURCE = 1
    SCOPE_PROFILES = 2


class _InScopeProfiles(enum.IntEnum):
    SCOPE = 1
    PROFILES = 2


class _InProfile(enum.IntEnum):
    SAMPLE_TYPE = 1
    SAMPLES = 2
    TIME_NS = 3
    DURATION_NS = 4
    PERIOD_TYPE = 5
    PERIOD = 6
    ID = 7
    ATTRIBUTES = 11


class _InSample(enum.IntEnum):
    STACK = 1
    ATTRIBUTES = 2
    VALUES = 4


class _InDictionary(enum.IntEnum):
    MAPPINGS = 1
    LOCATIONS = 2
    FUNCTIONS = 3
    LINKS = 4
    STRINGS = 5
    ATTRIBUTES = 6
    STACKS = 7


_LOCATION_LINES, _STACK_LOCATIONS, _RESOURCE_ATTRIBUTES = 3, 1, 1
_FUNCTION_NAME, _FUNCTION_FILE = 1, 3
_LINE_FUNCTION, _LINE_NUMBER = 1, 2
_ATTRIBUTE_KEY, _ATTRIBUTE_VALUE = 1, 2
_TYPE, _UNIT = 1, 2
_SCOPE_NAME, _SCOPE_VERSION = 1, 2
_STRING_VALUE, _INT_VALUE = 1, 3


def encode(profile: Profile) -> bytes:
    """Write the file as `encode_timed` does, without times."""
    return encode_timed(profile, TimeSpan())


def encode_timed(profile: Profile, span: TimeSpan) -> bytes:
    """Write the file; raises OverflowError for a weight, line or id that exceeds 64 bits."""
    return encode_profiles([DescribedProfile(profile, span)])


def encode_profiles(profiles: Iterable[DescribedProfile], resource: Attributes | None = None) -> bytes:
    """Write profiles of one process, each value of a profile as one of its own; raises as `encode_timed`."""
    dictionary = _Dictionary()
    scope = _text(_SCOPE_NAME, "profkit") + _text(_SCOPE_VERSION, VERSION)
    messages = [message for described in profiles for message in _profiles(described, dictionary)]
    of_scope = wire.blob(_InScopeProfiles.SCOPE, scope) + b"".join(
        wire.blob(_InScopeProfiles.PROFILES, message) for message in messages
    )
    of_resource = b"".join(
        wire.blob(_RESOURCE_ATTRIBUTES, (_text(_ATTRIBUTE_KEY, key) if key else b"") + _value(value))
        for key, value in (resource or {}).items()
    )
    of_process = wire.blob(_InResourceProfiles.RESOURCE, of_resource) + wire.blob(
        _InResourceProfiles.SCOPE_PROFILES, of_scope
    )
    return wire.blob(_InRequest.RESOURCE_PROFILES, of_process) + wire.blob(
        _InRequest.DICTIONARY, b"".join(dictionary.fields())
    )


class _Table:
    """One table of the dictionary: messages or strings by number, the zero value first."""

    def __init__(self) -> None:
        self._numbers = {b"": 0}

    def number(self, item: bytes) -> int:
        return self._numbers.setdefault(item, len(self._numbers))

    def fields(self, field: int) -> Iterator[bytes]:
        return (wire.blob(field, item) for item in self._numbers)


class _Dictionary:
    """What the samples of all profiles of a file refer to."""

    def __init__(self) -> None:
        self._tables = {field: _Table() for field in _InDictionary}

    def string(self, text: str) -> int:
        return self._tables[_InDictionary.STRINGS].number(escape_text(text).encode())

    def value_type(self, names: tuple[str, str]) -> bytes:
        kind, unit = map(self.string, names)
        return wire.integer(_TYPE, kind) + wire.integer(_UNIT, unit)

    def stack(self, frames: Iterable[Frame]) -> int:
        """Return the number of a stack, whose leaf comes first; 0 if it is empty."""
        locations = wire.packed(_STACK_LOCATIONS, map(self._location, frames))
        return self._tables[_InDictionary.STACKS].number(locations)

    def attributes(self, attributes: Attributes) -> tuple[int, ...]:
        return tuple(
            self._tables[_InDictionary.ATTRIBUTES].number(
                wire.integer(_ATTRIBUTE_KEY, self.string(key)) + _value(value)
            )
            for key, value in attributes.items()
        )

    def _location(self, frame: Frame) -> int:
        function = wire.integer(_FUNCTION_NAME, self.string(frame.name)) + wire.integer(
            _FUNCTION_FILE, self.string(frame.file)
        )
        number = self._tables[_InDictionary.FUNCTIONS].number(function)
        line = wire.integer(_LINE_FUNCTION, number) + wire.integer(_LINE_NUMBER, frame.line)
        return self._tables[_InDictionary.LOCATIONS].number(wire.blob(_LOCATION_LINES, line))

    def fields(self) -> Iterator[bytes]:
        for field, table in self._tables.items():
            yield from table.fields(field)


def _profiles(described: DescribedProfile, dictionary: _Dictionary) -> Iterator[bytes]:
    profile = described.profile
    values = values_of(profile)
    if not values:
        yield _profile(described, SAMPLE_TYPES[profile.unit], dictionary)
    for place, value in enumerate(values):
        # An id names one profile; the other values have none.
        one = described._replace(profile=with_value(profile, value), id=b"" if place else described.id)
        yield _profile(one, VALUE_TYPES[value], dictionary)


def _profile(described: DescribedProfile, names: tuple[str, str], dictionary: _Dictionary) -> bytes:
    profile = described.profile
    started_ns, duration_ns = (max(0, min(time_ns, _INT64_MAX)) for time_ns in described.span)
    parts = [wire.blob(_InProfile.SAMPLE_TYPE, dictionary.value_type(names))]
    parts += _samples(profile, dictionary)
    parts.append(wire.fixed64(_InProfile.TIME_NS, started_ns))
    parts.append(wire.integer(_InProfile.DURATION_NS, duration_ns))
    if profile.period_ns > 0:
        parts.append(wire.blob(_InProfile.PERIOD_TYPE, dictionary.value_type(WALL)))
        parts.append(wire.integer(_InProfile.PERIOD, min(round(profile.period_ns), _INT64_MAX)))
    if described.id:
        parts.append(wire.blob(_InProfile.ID, described.id))
    parts.append(wire.packed(_InProfile.ATTRIBUTES, dictionary.attributes(described.attributes)))
    return b"".join(parts)


def _samples(profile: Profile, dictionary: _Dictionary) -> Iterator[bytes]:
    """Yield one sample for each stack and set of attributes, in the order of their first use."""
    used = sorted({(sample.stack, sample.thread) for sample in profile.samples})
    words = {state: word for word, state in reversed(STATES.items())}
    stacks, threads = _numbers_of_stacks(profile, dictionary, {stack for stack, _ in used}), profile.threads
    identities = {}
    for stack, thread in used:
        word = words.get(profile.state_of(stack))
        attributes = {**_of_thread(threads[thread]), **({STATE: word} if word is not None else {})}
        identities[stack, thread] = wire.integer(_InSample.STACK, stacks[stack]) + wire.packed(
            _InSample.ATTRIBUTES, dictionary.attributes(attributes)
        )
    sums: dict[bytes, int] = {}
    for stack, thread, weight in profile.samples:
        identity = identities[stack, thread]
        sums[identity] = sums.get(identity, 0) + weight
    for identity, weight in sums.items():
        yield wire.blob(_InProfile.SAMPLES, identity + wire.packed(_InSample.VALUES, (weight,)))


def _numbers_of_stacks(profile: Profile, dictionary: _Dictionary, used: Iterable[int]) -> Mapping[int, int]:
    frames: Sequence[Frame] = profile.frames
    return {
        stack: dictionary.stack(frames[frame] for frame in reversed(profile.stacks[stack])) for stack in used
    }


def _of_thread(thread: Thread) -> Attributes:
    known: Attributes = {"process.pid": thread.pid, "thread.id": thread.tid, "thread.name": thread.name}
    return {key: value for key, value in known.items() if value}


def _value(value: str | int) -> bytes:
    """Encode an attribute's value, also if it is empty or 0."""
    if isinstance(value, str):
        return wire.blob(_ATTRIBUTE_VALUE, _text(_STRING_VALUE, value))
    return wire.blob(_ATTRIBUTE_VALUE, wire.present_integer(_INT_VALUE, value))


def _text(field: int, text: str) -> bytes:
    return wire.blob(field, escape_text(text).encode())
