from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from profkit.errors import UsageError
from profkit.formats import chrome_trace
from profkit.formats.chrome_trace import writing
from profkit.model.profile import Profile, Thread
from profkit.units import Unit
from tests.support.exact_profiles import exact_profiles, two_threads
from tests.support.golden import check_golden
from tests.unit.formats.chrome_trace.chrome_trace_schema import SCHEMA

Event = dict[str, Any]
TIMED = st.sampled_from([Unit.SAMPLES, Unit.NANOSECONDS])


def timed_profiles() -> st.SearchStrategy[Profile]:
    """Profiles whose order is known, and whose time is: a weight is a whole number of microseconds."""
    return exact_profiles(TIMED, st.integers(1, 1000).map(lambda n: n * 1000)).map(
        lambda profile: replace(profile, ordered=True, period_ns=1e6)
    )


def events_of(profile: Profile, *phases: str) -> list[Event]:
    document = json.loads(chrome_trace.encode(profile))
    return [event for event in document["traceEvents"] if event["ph"] in phases]


def self_times(profile: Profile, period_ns: float) -> Counter[tuple[str, str]]:
    """Nanoseconds by function of the innermost frame."""
    times: Counter[tuple[str, str]] = Counter()
    for stack, _, weight in profile.samples:
        if profile.stacks[stack]:
            name, file, _ = profile.frames[profile.stacks[stack][-1]]
            times[name, file] += round(weight * period_ns)
    return times


@settings(max_examples=60, deadline=None)
@given(timed_profiles())
@example(two_threads())
def test_each_function_has_its_self_time_again(profile: Profile) -> None:
    told = chrome_trace.decode(chrome_trace.encode(profile)) if any(profile.stacks) else Profile()
    period_ns = profile.period_ns if profile.unit is Unit.SAMPLES else 1
    assert self_times(told, 1) == self_times(profile, period_ns)


@settings(max_examples=30, deadline=None)
@given(timed_profiles())
@example(two_threads())
def test_files_are_what_the_formats_schema_says(profile: Profile) -> None:
    data = chrome_trace.encode(profile)
    assert data.isascii()
    jsonschema.validate(json.loads(data), SCHEMA)


@settings(max_examples=30, deadline=None)
@given(timed_profiles())
def test_events_of_a_thread_nest(profile: Profile) -> None:
    for track in {(event["pid"], event["tid"]) for event in events_of(profile, "X")}:
        ends: list[int] = []
        before = 0
        for event in events_of(profile, "X"):
            if (event["pid"], event["tid"]) != track:
                continue
            start, end = event["ts"], event["ts"] + event["dur"]
            assert start >= before
            assert event["dur"] > 0
            while ends and ends[-1] <= start:
                ends.pop()
            assert not ends or end <= ends[-1]
            ends.append(end)
            before = start


def test_golden() -> None:
    check_golden("two-threads.trace.json", chrome_trace.encode(two_threads()).decode())


def test_threads_keep_names_ids_and_order() -> None:
    told = chrome_trace.decode(chrome_trace.encode(two_threads()))
    assert told.threads == two_threads().threads
    assert told.unit is Unit.NANOSECONDS


def test_threads_that_share_an_id_stay_separate() -> None:
    profile = replace(two_threads(), threads=(Thread(7, 7, "a"), Thread(7, 7, "b")))
    assert {(event["pid"], event["tid"]) for event in events_of(profile, "X")} == {(7, 7), (7, 8)}


def test_a_function_at_another_line_is_the_same_call() -> None:
    profile = two_threads()
    frames = (*profile.frames, profile.frames[0]._replace(line=4))
    moved = replace(profile, frames=frames, stacks=((0,), (5,)), samples=profile.samples[:2])
    moved = replace(moved, samples=tuple(s._replace(stack=n, thread=0) for n, s in enumerate(moved.samples)))
    (call,) = events_of(moved, "X")
    assert (call["dur"], call["args"]["line"]) == (30_000, 3)


@pytest.mark.parametrize(
    ("profile", "problem"),
    [
        (replace(two_threads(), ordered=False), "in the order they were taken, which this profile lacks"),
        (replace(two_threads(), period_ns=0.0), "counts samples of unknown duration"),
        (replace(two_threads(), unit=Unit.BYTES), "counts bytes of unknown duration"),
        (replace(two_threads(), unit=Unit.INSTRUCTIONS), "counts instructions of unknown duration"),
    ],
)
def test_profiles_without_order_or_time_are_refused(profile: Profile, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        chrome_trace.encode(profile)


def test_profiles_that_no_viewer_would_read_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MAX_CALLS", 3)
    with pytest.raises(UsageError, match="has 9 calls, and viewers support at most 3"):
        chrome_trace.encode(two_threads())
