"""Starts and states of samples in files of other formats that profkit writes."""

from __future__ import annotations

import json
from dataclasses import replace
from types import ModuleType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from profkit.errors import DamagedFile
from profkit.formats import firefox, speedscope
from profkit.formats.limits import gunzipped, unlimited
from profkit.formats.registry import FORMATS as FORMATS_BY_NAME
from profkit.formats.registry import lost_in, read_any
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread, ThreadState
from tests.support.exact_profiles import WITHOUT_FRAMES, exact_profiles, two_threads
from tests.support.profile_strategies import profile_of, profiles, thread_states

FORMATS = [speedscope, firefox]


def timed() -> Profile:
    profile = profile_of(("f:1 g:2", 2), ("f:1", 1), ("f:1 g:2", 3))
    return replace(profile, starts=(4, 6, 20))


@pytest.mark.parametrize("codec", FORMATS, ids=lambda codec: codec.__name__)
@settings(max_examples=60, deadline=None)
@given(profile=exact_profiles())
@example(profile=Profile())
@example(profile=Profile(frames=(Frame("f", "a.py", 1),)))
@example(profile=WITHOUT_FRAMES)
@example(profile=two_threads())
def test_decoding_gives_the_profile_that_was_encoded(codec: ModuleType, profile: Profile) -> None:
    data = codec.encode(profile)
    assert codec.decode(data) == profile
    assert data.isascii()
    assert data == codec.encode(replace(profile))
    json.dumps(json.loads(data), ensure_ascii=False).encode()  # no lone surrogates


@given(profile=exact_profiles(weights=st.integers(-(2**63), 2**63 - 1)))
def test_weights_that_no_float_holds_come_back_from_speedscope(profile: Profile) -> None:
    assert speedscope.decode(speedscope.encode(profile)) == profile


@pytest.mark.parametrize("codec", FORMATS, ids=lambda codec: codec.__name__)
def test_starts_are_read_back(codec: ModuleType) -> None:
    assert codec.decode(codec.encode(timed())) == timed()
    untimed = codec.encode(replace(timed(), starts=()))
    assert b"starts" not in untimed
    assert codec.decode(untimed).starts == ()


@pytest.mark.parametrize("codec", FORMATS, ids=lambda codec: codec.__name__)
@given(profile=profiles(states=thread_states))
def test_states_are_read_back(codec: ModuleType, profile: Profile) -> None:
    encoded = codec.encode(profile)
    assert codec.decode(encoded) == profile
    assert (b'"states"' in encoded) is bool(profile.states)


@pytest.mark.parametrize(
    "about", [{"states": [1, 2]}, {"states": [2, 10**18, 1, 1]}, {"idle": [1, 1]}, {"idle": [10**18, 1]}]
)
def test_states_of_other_samples_are_ignored(about: dict[str, list[int]]) -> None:
    assert speedscope.decode(described(timed(), about)) == timed()


def test_starts_of_other_samples_are_ignored() -> None:
    assert speedscope.decode(described(timed(), {"starts": [1, 2]})) == replace(timed(), starts=())


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("starts", wrong) for wrong in ([1, -2, 3], ["a", 1, 2], 7)),
        *(("states", wrong) for wrong in ([7, 3], [1], [1, 2, 3], [1, -3], ["a", 3], {})),
    ],
)
def test_wrong_starts_and_states_are_reported(name: str, wrong: object) -> None:
    with pytest.raises(DamagedFile):
        speedscope.decode(described(timed(), {name: wrong}))


def test_idle_samples_of_earlier_versions_wait() -> None:
    profile = speedscope.decode(described(timed(), {"idle": [0, 1, 1, 1]}))
    states = [profile.state_of(sample.stack) for sample in profile.samples]
    assert states == [ThreadState.WAITING, ThreadState.UNKNOWN, ThreadState.WAITING]
    assert [sample.weight for sample in profile.samples] == [2, 1, 3]


def described(profile: Profile, description: object) -> bytes:
    document = json.loads(speedscope.encode(profile))
    document["profkit"] |= description
    return json.dumps(document).encode()


def test_formats_that_lose_states_say_so() -> None:
    builder = ProfileBuilder()
    builder.add((Frame("f", "f.py", 1),), Thread(7, 7, "t"), state=ThreadState.WAITING)
    profile = builder.build(period_ns=1e6)
    written = [known for known in FORMATS_BY_NAME.values() if known.encode is not None]
    told = {known.name for known in written if any("waiting" in lost for lost in lost_in(known, profile))}
    assert told == {"chrome-trace", "collapsed", "otlp"}
    for known in written:
        assert not any("waiting" in lost for lost in lost_in(known, timed()))
        if known.decode is None:
            continue
        assert known.encode is not None
        content = gunzipped(known.encode(profile), unlimited())
        kept = read_any(content, known.name).profile.states
        assert bool(kept) is (known.name not in told)


@pytest.mark.parametrize(
    ("period_ns", "words"), [(-1e7, "not a time"), (0, "its samples have times, but"), ("x", "not a number")]
)
def test_a_period_that_is_no_time_is_reported(period_ns: object, words: str) -> None:
    """A file with one was imported, and reports of it failed."""
    with pytest.raises(DamagedFile, match=words):
        speedscope.decode(described(profile_of(("f:1", 2)), {"period_ns": period_ns}))
