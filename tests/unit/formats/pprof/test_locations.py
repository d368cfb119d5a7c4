"""Locations that are read at once are those read one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from profkit.formats import wire
from profkit.formats.pprof.locations import read_locations
from profkit.formats.pprof.schema import InLine, InLocation, InProfile

NUMBERS = st.one_of(st.integers(0, 3), st.integers(0, 70_000), st.integers(0, 2**63 - 1))
LOCATIONS = st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=20)


def location(number: int, function: int, line: int) -> bytes:
    of_line = wire.integer(InLine.FUNCTION, function) + wire.integer(InLine.NUMBER, line)
    return wire.blob(
        InProfile.LOCATION, wire.integer(InLocation.ID, number) + wire.blob(InLocation.LINE, of_line)
    )


def line_first(number: int, function: int, line: int) -> bytes:
    of_line = wire.integer(InLine.NUMBER, line) + wire.integer(InLine.FUNCTION, function)
    return wire.blob(
        InProfile.LOCATION, wire.blob(InLocation.LINE, of_line) + wire.integer(InLocation.ID, number)
    )


@given(LOCATIONS, st.integers(1, 5), st.booleans())
def test_locations_of_any_numbers_and_order_of_fields(
    numbers: list[tuple[int, int, int]], size: int, reverse: bool
) -> None:
    write = line_first if reverse else location
    fields = [write(*one) for one in numbers]
    pieces = [b"".join(fields[start : start + size]) for start in range(0, len(fields), size)]
    found = read_locations(pieces)
    assert list(zip(found.ids, found.functions, found.lines, strict=True)) == numbers


@given(LOCATIONS)
def test_ids_that_count_from_one_need_no_table(numbers: list[tuple[int, int, int]]) -> None:
    places = read_locations([location(*one) for one in numbers]).places()
    ids = [number for number, _, _ in numbers]
    if ids == list(range(1, len(ids) + 1)):
        assert places is None
    else:
        assert places == {number: place for place, number in enumerate(ids)}
