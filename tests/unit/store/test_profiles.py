"""Profiles in the store's own blobs, and those that earlier versions kept as pprof."""

from __future__ import annotations

import zlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from profkit.errors import DamagedFile
from profkit.formats import pprof
from profkit.formats.columns import ColumnReader, column_of, pack_columns
from profkit.model.profile import Column, Frame, Profile, ProfileBuilder, Sample, Thread, Value
from profkit.store.profiles import SCHEMA, Kept, decode, encode
from tests.unit.formats.pprof.test_pprof import INT64, profiles, small_profile, timed_profile

HERE = Path("the profile of run 12")


@given(profiles())
@example(Profile())
@example(small_profile())
def test_any_profile_comes_back(profile: Profile) -> None:
    assert decode(encode(profile), HERE) == profile


@given(profiles(), st.data())
def test_starts_come_back(profile: Profile, data: st.DataObject) -> None:
    starts = tuple(data.draw(st.integers(-(2**40), 2**40)) for _ in profile.samples)
    samples = tuple(sample._replace(weight=sample.weight % 1000) for sample in profile.samples)
    timed = replace(profile, samples=samples, starts=starts)
    assert decode(encode(timed), HERE) == timed


@given(profiles(), st.data())
def test_values_come_back(profile: Profile, data: st.DataObject) -> None:
    weights = st.tuples(*[INT64] * len(profile.samples))
    columns = tuple(Column(value, data.draw(weights)) for value in (Value.ALLOCATED, Value.LEFT))
    valued = replace(profile, value=Value.PEAK, columns=columns)
    assert decode(encode(valued), HERE) == valued


@given(profiles())
def test_without_turns_samples_are_summed(profile: Profile) -> None:
    loose = decode(Kept(encode(profile).profile, None), HERE, in_order=False)
    assert loose == replace(profile, samples=loose.samples, ordered=False)
    assert loose.weights_by_stack == profile.weights_by_stack
    is_summable = sum(abs(sample.weight) for sample in profile.samples) < 2**63
    assert len(loose.samples) <= len(set(profile.samples)) or not is_summable


def test_tables_that_no_sample_uses_come_back() -> None:
    unused = Profile(
        frames=(Frame("f", "a.py", 1),) * 2, stacks=((0, 1), (), (0, 1)), threads=(Thread(1, 2, "t"),) * 2
    )
    assert decode(encode(unused), HERE) == unused


def test_a_profile_without_order_has_one_blob() -> None:
    builder = ProfileBuilder()
    for name in "abc":
        builder.add((Frame(name, "a.py", 1),), Thread(1, 1, "t"), 3)
    assert encode(builder.build()).turns is None


def test_equal_samples_whose_sum_needs_more_than_64_bits_come_back() -> None:
    samples = (Sample(0, 0, 2**62), Sample(1, 0, 1)) * 3
    profile = Profile(
        stacks=((), (0,)), frames=(Frame("f", "", 0),), threads=(Thread(1, 1, ""),), samples=samples
    )
    assert decode(encode(profile), HERE) == profile


@pytest.mark.parametrize("wrong", [Frame("f", "f.py", 2**64), Frame("f", "f.py", -(2**63) - 1)])
def test_numbers_of_more_than_64_bits_are_refused(wrong: Frame) -> None:
    with pytest.raises(OverflowError):
        encode(Profile(frames=(wrong,)))


@pytest.mark.parametrize("profile", [small_profile(), timed_profile()])
def test_a_blob_cut_anywhere_is_reported(profile: Profile) -> None:
    kept = encode(profile)
    assert kept.turns is not None
    for place, blob in enumerate(kept):
        assert blob is not None
        for end in range(len(blob)):
            damaged = Kept(*(blob[:end] if n == place else whole for n, whole in enumerate(kept)))  # type: ignore[arg-type]
            with pytest.raises(DamagedFile, match="the profile of run 12"):
                decode(damaged, HERE)


@given(st.data())
def test_a_blob_with_other_bytes_is_reported_or_means_the_same(data: st.DataObject) -> None:
    kept = encode(timed_profile())
    assert kept.turns is not None
    blobs = [bytearray(kept.profile), bytearray(kept.turns)]
    blob = data.draw(st.sampled_from(blobs))
    place, flipped = data.draw(st.integers(0, len(blob) - 1)), data.draw(st.integers(1, 255))
    blob[place] ^= flipped
    # Some bits of zlib's say nothing about the content, such as the level, or codes that no symbol has.
    with suppress(DamagedFile):
        assert decode(Kept(*map(bytes, blobs)), HERE) == decode(kept, HERE)


def columns_of(kept: Kept) -> tuple[bytes, list[list[int]]]:
    """The packed head of a profile, and its columns."""
    unpacker = zlib.decompressobj()
    unpacker.decompress(kept.profile)
    rest = unpacker.unused_data
    reader = ColumnReader(rest)
    return kept.profile[: -len(rest)], [list(reader.take()) for _ in range(12)]


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (0, [1, 9]), (1, [0, 9]), (1, [0]), (2, [3]), (3, [9]), (4, [9, 9, 9]), (5, [9, 1, 0]), (5, [0, 1]),
        (6, [0, 1]), (6, [0, 1, 9]), (7, [9]), (9, [0, 1, 9]), (9, [0, -1, 2]), (10, [0, 9, 0]),
        (10, [0, -1, 0]), (11, [2]), (11, [4, 2, 9]),
    ],
)  # fmt: skip
def test_numbers_without_meaning_are_reported(column: int, values: list[int]) -> None:
    kept = encode(small_profile())
    head, columns = columns_of(kept)
    columns[column] = values
    damaged = Kept(head + pack_columns(map(column_of, columns)), kept.turns)
    with pytest.raises(DamagedFile):
        decode(damaged, HERE)


def test_turns_of_another_profile_and_none_are_reported() -> None:
    kept, other = encode(small_profile()), encode(timed_profile())
    for turns in (None, b"", pack_columns([]), other.turns):
        with pytest.raises(DamagedFile, match="not a profile written by profkit"):
            decode(Kept(kept.profile, turns), HERE)


def test_an_unknown_schema_is_refused() -> None:
    data = zlib.compress(f'{{"schema": "{SCHEMA}x"}}'.encode())
    with pytest.raises(DamagedFile, match=f"{SCHEMA}x"):
        decode(Kept(data, None), HERE)


def test_pprof_of_earlier_versions_is_read() -> None:
    data = pprof.encode(timed_profile())
    assert decode(Kept(data, None), HERE) == timed_profile()
    assert (
        decode(Kept(data, None), HERE, in_order=False).samples
        == decode(encode(timed_profile()), HERE, in_order=False).samples
    )


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 300)), max_size=4))
def test_columns_come_back(columns: list[list[int]]) -> None:
    reader = ColumnReader(pack_columns(map(column_of, columns)))
    assert [list(reader.take()) for _ in columns] == columns
    reader.close()


@pytest.mark.parametrize(
    ("values", "kind"),
    [([0, 255], "B"), ([256], "H"), ([65536], "I"), ([2**32], "Q"), ([-128], "b"), ([-1, 128], "h"),
     ([-1, 2**31], "q"), ([], "B")],
)  # fmt: skip
def test_columns_are_as_short_as_their_numbers_allow(values: list[int], kind: str) -> None:
    assert column_of(values).typecode == kind
