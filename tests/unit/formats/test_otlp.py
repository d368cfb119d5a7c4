"""OTLP's profiles, as messages of opentelemetry-proto, where that is installed, and by our own reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.errors import UsageError
from profkit.formats import wire
from profkit.formats.otlp import Attributes, DescribedProfile, encode, encode_profiles
from profkit.formats.registry import FORMATS, TimeSpan, importable, read_any
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread, ThreadState
from profkit.units import Unit
from tests.support.example_memory import memory_run
from tests.support.profile_strategies import profiles, thread_states

ATTRIBUTES: st.SearchStrategy[Attributes] = st.dictionaries(
    st.text(max_size=5), st.text(max_size=5) | st.integers(-(2**63), 2**63 - 1), max_size=4
)
WORDS = {
    ThreadState.WORKING: "working",
    ThreadState.WAITING: "waiting",
    ThreadState.GIL: "waiting for the GIL",
}
TABLES = ("mapping", "location", "function", "link", "string", "attribute", "stack")


def parsed(data: bytes) -> Any:
    """The messages, checked to be what opentelemetry-proto would write for them."""
    from opentelemetry.proto.collector.profiles.v1development.profiles_service_pb2 import (
        ExportProfilesServiceRequest,
    )

    request = ExportProfilesServiceRequest.FromString(data)
    assert request.SerializeToString() == data
    return request


def value_of(value: Any) -> str | int:
    kind = value.WhichOneof("value")
    assert kind in ("string_value", "int_value")
    found: str | int = getattr(value, kind)
    return found


def counted(profile: Profile) -> Counter[tuple[object, ...]]:
    """Weights by stack, thread and state, as OTLP's attributes say them."""
    found: Counter[tuple[object, ...]] = Counter()
    for sample in profile.samples:
        thread = profile.threads[sample.thread]
        known = {"process.pid": thread.pid, "thread.id": thread.tid, "thread.name": thread.name}
        attributes = {key: value for key, value in known.items() if value}
        if (state := profile.state_of(sample.stack)) in WORDS:
            attributes["state"] = WORDS[state]
        frames = tuple(profile.frames[frame] for frame in profile.stacks[sample.stack])
        found[frames, frozenset(attributes.items())] += sample.weight
    return found


def counted_there(message: Any, dictionary: Any) -> Counter[tuple[object, ...]]:
    found: Counter[tuple[object, ...]] = Counter()
    strings = dictionary.string_table

    def frame(location: Any) -> Frame:
        (line,) = location.lines
        function = dictionary.function_table[line.function_index]
        return Frame(strings[function.name_strindex], strings[function.filename_strindex], line.line)

    for sample in message.samples:
        locations = dictionary.stack_table[sample.stack_index].location_indices
        frames = tuple(frame(dictionary.location_table[number]) for number in reversed(locations))
        pairs = [dictionary.attribute_table[number] for number in sample.attribute_indices]
        attributes = frozenset((strings[pair.key_strindex], value_of(pair.value)) for pair in pairs)
        key = (frames, attributes)
        assert key not in found, "samples of one identity are one sample"
        (found[key],) = sample.values
    return found


def check_tables(request: Any) -> None:
    """The dictionary begins with zero values, and has nothing twice and nothing that is not used."""
    dictionary = request.dictionary
    for name in TABLES:
        items = [
            item if name == "string" else item.SerializeToString()
            for item in getattr(dictionary, f"{name}_table")
        ]
        assert items[0] in ("", b"")
        assert len(set(items)) == len(items)
    messages = [m for r in request.resource_profiles for s in r.scope_profiles for m in s.profiles]
    used: dict[str, set[int]] = {name: {0} for name in TABLES}
    for message in messages:
        used["attribute"].update(message.attribute_indices)
        for kind in (message.sample_type, message.period_type):
            used["string"].update((kind.type_strindex, kind.unit_strindex))
        for sample in message.samples:
            used["stack"].add(sample.stack_index)
            used["attribute"].update(sample.attribute_indices)
    for stack in dictionary.stack_table:
        used["location"].update(stack.location_indices)
    for location in dictionary.location_table:
        used["function"].update(line.function_index for line in location.lines)
    for function in dictionary.function_table:
        used["string"].update((function.name_strindex, function.filename_strindex))
    for pair in dictionary.attribute_table:
        used["string"].add(pair.key_strindex)
    for name in TABLES:
        assert used[name] == set(range(len(getattr(dictionary, f"{name}_table"))))


@pytest.mark.neighbours
@given(
    profiles(states=thread_states),
    profiles(),
    ATTRIBUTES,
    ATTRIBUTES,
    st.integers(0, 2**63 - 1),
    st.binary(min_size=16, max_size=16),
)
def test_messages_have_what_profiles_have(
    first: Profile, second: Profile, resource: Attributes, attributes: Attributes, started_ns: int, id: bytes
) -> None:
    described = (
        DescribedProfile(first, TimeSpan(started_ns, 7), id, attributes),
        DescribedProfile(second),
    )
    request = parsed(encode_profiles(described, resource))
    check_tables(request)
    (of_process,) = request.resource_profiles
    assert {pair.key: value_of(pair.value) for pair in of_process.resource.attributes} == resource
    (of_scope,) = of_process.scope_profiles
    assert of_scope.scope.name == "profkit"
    for profile, message in zip((first, second), of_scope.profiles, strict=True):
        assert counted_there(message, request.dictionary) == counted(profile)
        strings = request.dictionary.string_table
        assert strings[message.sample_type.type_strindex] == "samples"
        assert strings[message.period_type.unit_strindex] == "nanoseconds"
        assert message.period == profile.period_ns
    message, strings = of_scope.profiles[0], request.dictionary.string_table
    assert (message.time_unix_nano, message.duration_nano, message.profile_id) == (started_ns, 7, id)
    pairs = [request.dictionary.attribute_table[number] for number in message.attribute_indices]
    assert {strings[pair.key_strindex]: value_of(pair.value) for pair in pairs} == attributes


@pytest.mark.neighbours
def test_each_value_of_memory_is_a_profile() -> None:
    request = parsed(encode(memory_run().profile or Profile()))
    check_tables(request)
    strings = request.dictionary.string_table
    messages = request.resource_profiles[0].scope_profiles[0].profiles
    kinds = [(strings[m.sample_type.type_strindex], strings[m.sample_type.unit_strindex]) for m in messages]
    assert kinds[:2] == [("inuse_space", "bytes"), ("alloc_space", "bytes")]


@pytest.mark.neighbours
@pytest.mark.parametrize("unit", Unit)
def test_each_unit_has_a_type(unit: Unit) -> None:
    builder = ProfileBuilder()
    builder.add((Frame("\ud800", "f.py", -1),), Thread(1, 2, "t"), 2**62)
    request = parsed(encode(builder.build(unit=unit)))
    (message,) = request.resource_profiles[0].scope_profiles[0].profiles
    assert request.dictionary.string_table[message.sample_type.type_strindex]
    assert list(message.samples[0].values) == [2**62]


def test_the_tables_begin_with_zero_values() -> None:
    ours = wire.fields_of(wire.fields_of(encode(Profile()))[2][0])
    assert {field: items[0] for field, items in ours.items()} == dict.fromkeys(range(1, 8), b"")


def test_weights_of_more_than_64_bits_are_refused() -> None:
    builder = ProfileBuilder()
    for tid in (1, 1):
        builder.add((Frame("f", "f.py", 1),), Thread(1, tid, "t"), 2**63 - 1)
    with pytest.raises(OverflowError):
        encode(builder.build())


@pytest.mark.parametrize("made", [encode, lambda _: b""])
def test_it_is_not_imported(made: Callable[[Profile], bytes]) -> None:
    assert "otlp" not in importable()
    assert not FORMATS["otlp"].sniff(encode(Profile()))
    with pytest.raises(UsageError, match="'otlp' cannot be imported"):
        read_any(made(Profile()), "otlp")
