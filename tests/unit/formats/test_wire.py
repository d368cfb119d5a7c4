"""The wire format's short ways say what its long ways say."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from profkit.formats import wire
from profkit.formats.pprof.locations import PackedLookup, look_up_each

NUMBERS = st.one_of(st.integers(0, 300), st.integers(0, 40_000), st.integers(2**14 - 2, 2**14 + 2))


@given(st.lists(NUMBERS, max_size=30))
@example([0, 0])
@example([5, 200, 5])
@example([300, 301, 5])
@example([300, 2**14, 5, 300])
def test_packed_integers_are_looked_up(numbers: list[int]) -> None:
    meanings = {number: position for position, number in enumerate(dict.fromkeys(numbers))}
    packed = b"".join(map(wire.varint, numbers))
    assert PackedLookup(meanings).all(packed) == tuple(meanings[number] for number in numbers)


@given(st.lists(NUMBERS, min_size=1, max_size=30), st.data())
def test_an_integer_without_a_meaning_is_reported(numbers: list[int], data: st.DataObject) -> None:
    unknown = data.draw(st.sampled_from(numbers))
    lookup = PackedLookup({number: 0 for number in numbers if number != unknown})
    with pytest.raises(ValueError, match=f"{unknown} is not a known id"):
        lookup.all(b"".join(map(wire.varint, numbers)))


@given(st.binary(max_size=12))
def test_any_bytes_are_looked_up_as_they_are_read(packed: bytes) -> None:
    """Integers with needless bytes, and those that are cut short, among them."""
    try:
        numbers = wire.integers(packed)
    except ValueError:
        with pytest.raises(ValueError, match=r"cut short|is not a known id"):
            PackedLookup({0: 0, 1: 1}).all(packed)
        return
    meanings = {number: position for position, number in enumerate(dict.fromkeys(numbers))}
    assert PackedLookup(meanings).all(packed) == tuple(meanings[number] for number in numbers)


@given(st.lists(st.tuples(st.integers(1, 3), st.one_of(st.binary(max_size=4), st.just(bytes(200))))))
def test_a_repeated_field_is_distinguished_by_its_bytes(fields: list[tuple[int, bytes]]) -> None:
    data = b"".join(wire.blob(field, value) for field, value in fields)
    found = wire.repeated([data], 2)
    assert [found.distinct[index] for index in found.order] == [v for field, v in fields if field == 2]
    assert len(set(found.distinct)) == len(found.distinct)
    assert found.others == {
        field: [value for number, value in fields if number == field]
        for field in dict.fromkeys(number for number, _ in fields)
        if field != 2
    }


@given(st.binary(max_size=20))
@example(b"\t" + bytes(8))
def test_any_bytes_are_repeated_fields_or_none(data: bytes) -> None:
    try:
        fields = list(wire.fields(data))
    except ValueError as error:
        with pytest.raises(ValueError, match=f"^{re.escape(str(error))}$"):
            wire.repeated([data], 1)
        return
    found = wire.repeated([data], 1)
    # What is written in another way than its bytes after their length is among the others.
    values = [*(found.distinct[index] for index in found.order), *found.others.pop(1, [])]
    assert sorted(values, key=repr) == sorted((v for n, v in fields if n == 1), key=repr)
    assert {(n, v) for n, all_of in found.others.items() for v in all_of} == {f for f in fields if f[0] != 1}


@pytest.mark.parametrize("size", [1, 127, 128, 16_384])
def test_sizes_of_any_length_are_read(size: int) -> None:
    data = wire.blob(2, bytes(size)) * 2
    assert wire.repeated([data], 2) == ([bytes(size)], [0, 0], {}, [])
    assert wire.first_blob(data, 2) == (bytes(size), wire.blob(2, bytes(size)))
    with pytest.raises(ValueError, match="cut short"):
        wire.repeated([data[:-1]], 2)


@given(st.lists(st.tuples(st.integers(1, 3), st.binary(max_size=4))), st.data())
def test_pieces_of_a_message_are_read_like_the_whole(
    fields: list[tuple[int, bytes]], data: st.DataObject
) -> None:
    whole = b"".join(wire.blob(field, value) for field, value in fields)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)))))
    pieces = [whole[start:end] for start, end in pairwise((0, *cuts, len(whole)))]
    assert wire.repeated(pieces, 2) == wire.repeated([whole], 2)


@given(st.lists(st.one_of(NUMBERS, st.integers(0, 2**22), st.integers(0, 2**40))))
def test_many_integers_are_those_read_one_by_one(numbers: list[int]) -> None:
    packed = b"".join(map(wire.varint, numbers))
    assert wire.many_integers(packed) == numbers


@given(st.binary(max_size=16))
def test_any_bytes_are_read_at_once_as_one_by_one(packed: bytes) -> None:
    try:
        expected = wire.integers(packed)
    except ValueError:
        with pytest.raises(ValueError, match="cut short"):
            wire.many_integers(packed)
        return
    assert wire.many_integers(packed) == expected


@given(st.lists(st.lists(st.integers(1, 20_000), max_size=6).map(tuple), max_size=20))
def test_fields_with_many_ids_are_looked_up_at_once(stacks: list[tuple[int, ...]]) -> None:
    fields = [b"".join(map(wire.varint, stack)) for stack in stacks]
    places = [tuple(number - 1 for number in stack) for stack in stacks]
    assert list(look_up_each(fields, None, 20_000)) == places


@pytest.mark.parametrize("unknown", [0, 20_001])
def test_an_unknown_one_of_many_ids_is_reported(unknown: int) -> None:
    with pytest.raises(ValueError, match=f"{unknown} is not a known id"):
        list(look_up_each([wire.varint(unknown)], None, 20_000))


@given(st.lists(st.tuples(st.integers(1, 3), st.binary(max_size=200)), max_size=30), st.integers(1, 50))
def test_a_second_field_is_kept_whole(fields: list[tuple[int, bytes]], size: int) -> None:
    data = b"".join(wire.blob(field, value) for field, value in fields)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    found = wire.repeated(pieces, 2, 3)
    assert list(wire.fields(b"".join(found.whole))) == [one for one in fields if one[0] == 3]
    assert [value for piece in found.whole for value in wire.fields(piece)] == [
        one for one in fields if one[0] == 3
    ]
    assert found.others.get(1, []) == [value for field, value in fields if field == 1]
    assert [found.distinct[index] for index in found.order] == [v for field, v in fields if field == 2]
