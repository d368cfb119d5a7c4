"""Starts and states of samples in files of other formats that profkit writes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.errors import DamagedFile
from profkit.formats import firefox, speedscope
from profkit.model.profile import Profile
from tests.support.profile_strategies import profile_of, profiles

FORMATS = [speedscope, firefox]


def timed() -> Profile:
    profile = profile_of(("f:1 g:2", 2), ("f:1", 1), ("f:1 g:2", 3))
    return replace(profile, starts=(4, 6, 20))


@pytest.mark.parametrize("codec", FORMATS, ids=lambda codec: codec.__name__)
def test_starts_are_read_back(codec: object) -> None:
    encoded = codec.encode(timed())  # type: ignore[attr-defined]
    assert codec.decode(encoded) == timed()  # type: ignore[attr-defined]
    untimed = codec.encode(replace(timed(), starts=()))  # type: ignore[attr-defined]
    assert b"starts" not in untimed
    assert codec.decode(untimed).starts == ()  # type: ignore[attr-defined]


@pytest.mark.parametrize("starts", [[1, -2, 3], ["a", 1, 2], 7])
def test_wrong_starts_are_reported(starts: object) -> None:
    document = json.loads(speedscope.encode(timed()))
    document["profkit"]["starts"] = starts
    with pytest.raises(DamagedFile):
        speedscope.decode(json.dumps(document).encode())


def test_starts_of_other_samples_are_ignored() -> None:
    document = json.loads(speedscope.encode(timed()))
    document["profkit"]["starts"] = [1, 2]
    read = speedscope.decode(json.dumps(document).encode())
    assert read.samples == timed().samples
    assert read.starts == ()


@pytest.mark.parametrize("codec", FORMATS, ids=lambda codec: codec.__name__)
@given(profile=profiles(idle=st.booleans()))
def test_idle_stacks_are_read_back(codec: object, profile: Profile) -> None:
    encoded = codec.encode(profile)  # type: ignore[attr-defined]
    assert codec.decode(encoded) == profile  # type: ignore[attr-defined]
    assert (b'"idle"' in encoded) is bool(profile.idle)


@pytest.mark.parametrize("runs", [[1, 1], [0, 2, 2], [10**18, 1]])
def test_states_of_other_samples_are_ignored(runs: list[int]) -> None:
    document = json.loads(speedscope.encode(timed()))
    document["profkit"]["idle"] = runs
    assert speedscope.decode(json.dumps(document).encode()) == timed()
