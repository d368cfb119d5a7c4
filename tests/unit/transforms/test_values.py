"""Profiles with several values: joined, chosen, and written to pprof and back."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.errors import DamagedFile, UsageError
from profkit.formats import pprof
from profkit.model.profile import Frame, Profile, Thread, Value
from profkit.transforms.values import join_values, run_with_value, values_of, with_value
from profkit.units import Unit
from tests.support.example_runs import made_run
from tests.support.profile_strategies import profile_of, profiles

ALL = tuple(Value)
FOUR = st.tuples(*(profiles() for _ in ALL))


def joined(four: tuple[Profile, ...]) -> Profile:
    return join_values([(value, profile) for value, profile in zip(ALL, four, strict=True)])


def stacks(profile: Profile) -> dict[tuple[tuple[Frame, ...], Thread], int]:
    """Weights by stack and thread, summed."""
    found: dict[tuple[tuple[Frame, ...], Thread], int] = {}
    for sample in profile.samples:
        stack = tuple(profile.frames[frame] for frame in profile.stacks[sample.stack])
        key = stack, profile.threads[sample.thread]
        found[key] = found.get(key, 0) + sample.weight
    return found


@given(FOUR)
def test_each_value_is_found_again(four: tuple[Profile, ...]) -> None:
    profile = joined(four)
    assert values_of(profile) == ALL
    for value, source in zip(ALL, four, strict=True):
        chosen = with_value(profile, value)
        assert stacks(chosen) == stacks(source)
        assert (chosen.unit, chosen.value, chosen.columns) == (value.unit, value, ())
        assert all(sample.weight for sample in chosen.samples)
    places = [(sample.stack, sample.thread) for sample in profile.samples]
    assert len(places) == len(set(places)), "a stack of a thread has one sample"
    assert all(len(column.weights) == len(profile.samples) for column in profile.columns)


@given(FOUR, st.booleans())
def test_pprof_keeps_all_values(four: tuple[Profile, ...], in_order: bool) -> None:
    profile = joined(four)
    read = pprof.decode(pprof.encode(profile), in_order=in_order)
    assert values_of(read) == ALL
    for value in ALL:
        assert stacks(with_value(read, value)) == stacks(with_value(profile, value))


@given(profiles(), st.sampled_from(ALL))
def test_pprof_keeps_a_single_value(source: Profile, value: Value) -> None:
    profile = with_value(join_values([(value, source)]), value)
    read = pprof.decode(pprof.encode(profile))
    assert (read.value, read.unit) == (value, value.unit)
    assert stacks(read) == stacks(profile)


def test_pprof_with_a_sample_that_lacks_a_value_is_damaged() -> None:
    written = pprof.encode(join_values([(Value.PEAK, profile_of(("f:1 g:2", 3))), (Value.LEFT, Profile())]))
    text = zlib.decompress(written, wbits=31).replace(b'["peak", "left"]', b'["peak"        ]')
    with pytest.raises(DamagedFile, match="does not have 1 values"):
        pprof.decode(zlib.compress(text, wbits=31))


def test_a_run_of_time_has_no_values() -> None:
    run = made_run()
    assert run_with_value(run, None) is run
    with pytest.raises(UsageError, match="has no value 'peak'"):
        run_with_value(run, Value.PEAK)


def test_a_run_shows_its_main_value_unless_another_is_asked_for() -> None:
    profile = joined((profile_of(("f:1", 7)), *(profile_of(("f:1", weight)) for weight in (1, 2, 3))))
    run = replace(made_run(), profile=profile)
    main = run_with_value(run, None).profile
    assert main is not None
    assert (main.value, main.total_weight) == (Value.PEAK, 7)
    left = run_with_value(run, Value.LEFT).profile
    assert left is not None
    assert (left.total_weight, left.unit) == (3, Unit.BYTES)
    with pytest.raises(UsageError, match="has no value 'left'"):
        with_value(main, Value.LEFT)
