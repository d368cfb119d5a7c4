from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.errors import DamagedFile
from profkit.formats import exact, speedscope
from profkit.model.profile import Profile, Thread
from profkit.units import Unit
from tests.support.exact_profiles import WITHOUT_FRAMES, exact_profiles, two_threads
from tests.support.golden import check_golden

FEW = settings(max_examples=40, deadline=None)


def without_profkit(data: bytes) -> bytes:
    """The file as a tool writes it that knows only the format."""
    document = json.loads(data)
    del document[exact.MEMBER]
    return json.dumps(document).encode()


def weight_by_names(profile: Profile) -> Counter[tuple[str, ...]]:
    weights: Counter[tuple[str, ...]] = Counter()
    for stack, thread, weight in profile.samples:
        names = (profile.frames[frame].name for frame in profile.stacks[stack])
        weights[profile.threads[thread].name, *names] += weight
    return weights


def test_golden() -> None:
    check_golden("two-threads.speedscope.json", speedscope.encode(two_threads()).decode())


def test_weights_are_times_where_a_samples_time_is_known() -> None:
    for profile, unit, weights in (
        (two_threads(), "nanoseconds", [2e7, 1e7]),
        (replace(two_threads(), period_ns=0.0), "none", [2, 1]),
        (replace(two_threads(), unit=Unit.NANOSECONDS), "nanoseconds", [2, 1]),
        (replace(two_threads(), unit=Unit.BYTES), "bytes", [2, 1]),
        (replace(two_threads(), unit=Unit.INSTRUCTIONS), "none", [2, 1]),
    ):
        first = json.loads(speedscope.encode(profile))["profiles"][0]
        assert (first["unit"], first["weights"][:2]) == (unit, weights)
        assert first["endValue"] == sum(first["weights"])


def test_names_show_threads_as_py_spy_does() -> None:
    profiles = json.loads(speedscope.encode(two_threads()))["profiles"]
    assert profiles[0]["name"] == 'Process 7 Thread 7 "MainThread"'
    assert speedscope.parse_thread_name(profiles[0]["name"]) == Thread(7, 7, "MainThread")


def read_without_profkit(profile: Profile) -> Profile | None:
    """What is read without profkit's own part of the file, None if its times need more than 64 bits."""
    try:
        return speedscope.decode(without_profkit(speedscope.encode(profile)))
    except DamagedFile as error:
        if "more than 64 bits" not in str(error):
            raise
        return None


@FEW
@given(exact_profiles())
def test_a_reader_that_knows_only_the_format_gets_the_same_totals(profile: Profile) -> None:
    factor = {Unit.SAMPLES: profile.period_ns or 1}.get(profile.unit, 1)
    told = read_without_profkit(profile)
    if told is None:
        # Times of more than 64 bits, 292 years, are refused, and nothing else.
        assert profile.total_weight * factor >= 2**63 * (1 - 1e-9)
        return
    if told.unit is Unit.SAMPLES and told.period_ns:
        factor /= told.period_ns
    assert told.total_weight == pytest.approx(profile.total_weight * factor, rel=1e-9, abs=2)


@FEW
@given(st.data())
def test_a_file_whose_member_is_damaged_is_reported(data: st.DataObject) -> None:
    document = json.loads(speedscope.encode(two_threads()))
    about = document[exact.MEMBER]
    key = data.draw(st.sampled_from(sorted(about)))
    about[key] = data.draw(st.sampled_from([None, "x", [1], {}, 3.5, [0, 9], [[1, 2]], [0, 4, 1, 2, 5, 1]]))
    if (key, about[key]) == ("period_ns", 3.5):
        return
    with pytest.raises(DamagedFile):
        speedscope.decode(json.dumps(document).encode())


def test_a_sample_of_no_frame_is_reported() -> None:
    document = json.loads(speedscope.encode(two_threads()))
    document["profiles"][0]["samples"][0] = [99]
    with pytest.raises(DamagedFile, match=r"a frame that shared\.frames lacks"):
        speedscope.decode(json.dumps(document).encode())


def test_profkits_files_are_distinguished_from_others() -> None:
    data = speedscope.encode(two_threads())
    assert speedscope.sniff(data)
    assert speedscope.origin_of(data).tool == "profkit"
    assert not speedscope.sniff(b'{"traceEvents": []}')


def test_one_sample_without_frames() -> None:
    """Names of its thread and functions are empty."""
    read = speedscope.decode(without_profkit(speedscope.encode(WITHOUT_FRAMES)))
    assert weight_by_names(read) == {("",): 3}
