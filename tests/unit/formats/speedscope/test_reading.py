from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.errors import DamagedFile, UsageError
from profkit.formats.registry import Selection
from profkit.formats.speedscope import decode, origin_of, select, sniff
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile, Thread
from profkit.units import Unit
from tests.support.documents import named_samples
from tests.support.folders import SAMPLES

Document = dict[str, Any]
SOURCE = Path("app.speedscope.json")


def document(*profiles: Document) -> Document:
    frames = [{"name": "f", "file": "/a/app.py", "line": 3, "col": 9}, {"name": "g"}, {"name": "h"}]
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": frames},
        "profiles": list(profiles),
        "exporter": "rbspy@0.12.1",
    }


def sampled(
    samples: list[list[int]], weights: list[float], unit: str = "seconds", name: str = "t"
) -> Document:
    return {
        "type": "sampled", "name": name, "unit": unit, "startValue": 0, "endValue": sum(weights),
        "samples": samples, "weights": weights,
    }  # fmt: skip


def evented(events: str, unit: str = "milliseconds", end: float = 10, name: str = "t") -> Document:
    """Events written as `O0@1 C0@3`: open or close a frame at a time."""
    listed = [
        {"type": event[0], "frame": int(event[1]), "at": float(event.partition("@")[2])}
        for event in events.split()
    ]
    return {
        "type": "evented",
        "name": name,
        "unit": unit,
        "startValue": 0,
        "endValue": end,
        "events": listed,
    }


def read(*profiles: Document) -> Profile:
    return decode(json.dumps(document(*profiles)).encode(), SOURCE)


def test_one_weight_throughout_counts_samples_of_that_time() -> None:
    profile = read(sampled([[0, 1], [0, 1], [0]], [0.01] * 3), sampled([[2]], [10.0], "milliseconds", "u"))
    assert (profile.unit, profile.period_ns) == (Unit.SAMPLES, 1e7)
    assert named_samples(profile) == [("f g", 2), ("f", 1), ("h", 1)]
    assert profile.frames[:2] == (Frame("f", "/a/app.py", 3), Frame("g", "", 0))
    assert profile.threads == (Thread(0, 0, "t"), Thread(0, 0, "u"))


def test_weights_that_differ_are_times() -> None:
    profile = read(sampled([[0, 1], [0], [2]], [1.5, 0, 0.25], "microseconds"))
    assert (profile.unit, profile.period_ns) == (Unit.NANOSECONDS, 0.0)
    assert named_samples(profile) == [("f g", 1500), ("h", 250)]


@pytest.mark.parametrize(("word", "unit"), [("bytes", Unit.BYTES), ("none", Unit.SAMPLES)])
def test_other_units_are_counted(word: str, unit: Unit) -> None:
    profile = read(sampled([[0], [1]], [4096, 4096], word))
    assert (profile.unit, profile.period_ns, named_samples(profile)) == (
        unit,
        0.0,
        [("f", 4096), ("g", 4096)],
    )


@given(st.lists(st.floats(0, 1e6), max_size=30))
def test_rounding_keeps_the_total(weights: list[float]) -> None:
    profile = read(sampled([[n % 3] for n in range(len(weights))], weights, "none"))
    assert profile.total_weight == pytest.approx(sum(weights), abs=0.51)


def test_events_give_the_time_between_them() -> None:
    profile = read(
        evented("O0@100 O1@101.5 C1@103 O1@103 O2@103 C2@104 C1@104 C0@105 O2@107 C2@108", end=108)
    )
    assert profile.unit is Unit.NANOSECONDS
    assert named_samples(profile) == [
        ("f", 1_500_000), ("f g", 1_500_000), ("f g h", 1_000_000), ("f", 1_000_000), ("h", 1_000_000),
    ]  # fmt: skip


def test_frames_that_nobody_closes_end_with_the_profile() -> None:
    assert named_samples(read(evented("O0@1 O1@2", end=10))) == [("f", 1_000_000), ("f g", 8_000_000)]


def test_bytes_may_be_opened_and_closed_too() -> None:
    profile = read(evented("O0@0 C0@512", "bytes", 512))
    assert (profile.unit, named_samples(profile)) == (Unit.BYTES, [("f", 512)])


def test_sampled_and_evented_profiles_share_a_file() -> None:
    profile = read(sampled([[0]], [2.0], "milliseconds", "a"), evented("O1@0 C1@1", name="b"))
    assert profile.unit is Unit.NANOSECONDS
    assert [sample.thread for sample in profile.samples] == [0, 1]


def test_profiles_of_one_name_stay_separate() -> None:
    profile = read(sampled([[0]], [1]), sampled([[0]], [1]), sampled([[0]], [1], name='Thread 5 "w"'))
    assert profile.threads == (Thread(0, 0, "t"), Thread(0, 1, "t"), Thread(0, 5, "w"))


HEAP = sampled([[0]], [512], "bytes", "heap")
MAIN = sampled([[1]], [1.5], "seconds", "main")
WORKER = sampled([[2]], [2.5], "milliseconds", "worker")


def selected(value: str | None, *profiles: Document, **members: int) -> Selection:
    return select(json.dumps(document(*profiles) | members).encode(), SOURCE, None, value)


def test_of_profiles_in_several_units_those_of_one_unit_are_kept() -> None:
    profile, value, notes = selected(None, HEAP, MAIN, WORKER)
    assert (profile.unit, profile.total_weight, value) == (Unit.BYTES, 512, "")
    assert notes == (Note.of(NoteCode.VALUES_LEFT_OUT, kept="heap", left_out="seconds"),)
    assert [thread.name for thread in profile.threads] == ["heap"]


@pytest.mark.parametrize(("active", "unit"), [(0, Unit.BYTES), (2, Unit.NANOSECONDS), (9, Unit.BYTES)])
def test_the_profile_to_show_first_gives_the_default_unit(active: int, unit: Unit) -> None:
    assert selected(None, HEAP, MAIN, WORKER, activeProfileIndex=active).profile.unit is unit


def test_another_unit_is_chosen_by_name() -> None:
    profile, value, notes = selected("seconds", HEAP, MAIN, WORKER)
    assert (profile.unit, profile.total_weight, value) == (Unit.NANOSECONDS, 1_502_500_000, "seconds")
    assert [thread.name for thread in profile.threads] == ["main", "worker"]
    assert notes == (Note.of(NoteCode.VALUES_LEFT_OUT, kept="seconds", left_out="heap"),)
    assert selected("heap", HEAP, MAIN) == selected(None, HEAP, MAIN)


def test_names_that_are_not_unique_are_numbers() -> None:
    twins = HEAP | {"name": "x"}, MAIN | {"name": "x"}
    assert selected("2", *twins).profile.period_ns == 1.5e9
    with pytest.raises(UsageError, match="no value 'x'; give one of these with --value: 1, 2"):
        selected("x", *twins)


def test_an_unknown_name_is_refused_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match=r"json has no value 'x'; give .* --value: heap, main"):
        selected("x", HEAP, MAIN)
    with pytest.raises(UsageError, match="its only value is heap: leave out --value"):
        selected("x", HEAP)
    assert selected("heap", HEAP) == Selection(read(HEAP))


def test_a_file_of_memray_has_bytes_and_allocations() -> None:
    data = (SAMPLES / "memray.speedscope.json").read_bytes()
    memory, _, notes = select(data, SOURCE)
    assert (memory.unit, memory.total_weight) == (Unit.BYTES, 1_089_366)
    assert notes == (Note.of(NoteCode.VALUES_LEFT_OUT, kept="Memory", left_out="Allocations"),)
    allocations = select(data, SOURCE, value="Allocations").profile
    assert (allocations.unit, allocations.total_weight) == (Unit.SAMPLES, 51)


@pytest.mark.parametrize(
    ("profile", "problem"),
    [
        ({**sampled([], []), "type": "heap"}, r"profiles\[0\]\.type is 'heap', neither sampled nor evented"),
        (sampled([], [], "days"), r"profiles\[0\]\.unit is 'days', not one of seconds"),
        (sampled([[0]], [-1.0]), r"profiles\[0\]\.weights has a negative value"),
        (sampled([[0], [0]], [1.0, 2.0, 3.0]), r"profiles\[0\] has 2 samples, but 3 weights"),
        (sampled([[7]], [1.0]), r"profiles\[0\]\.samples\[0\] has a frame that shared\.frames lacks"),
        ({**sampled([[0], [0]], []), "weights": [1.0, None]}, r"profiles\[0\]\.weights is not a number"),
        (evented("O7@0"), r"profiles\[0\]\.events\[0\] has a frame that shared\.frames lacks"),
        (evented("O0@1 C1@2"), r"profiles\[0\]\.events\[1\] closes a frame that is not the innermost"),
        (evented("C0@1"), r"profiles\[0\]\.events\[0\] closes a frame that is not the innermost"),
        (evented("O0@2 C0@1"), r"profiles\[0\]\.events\[1\] is earlier than the event before it"),
        (evented("X0@2"), r"profiles\[0\]\.events\[0\]\.type is 'X', neither O nor C"),
        ({**evented("O0@2"), "endValue": "x"}, r"profiles\[0\]\.endValue is not a number"),
    ],
)
def test_the_first_wrong_part_is_named(profile: Document, problem: str) -> None:
    with pytest.raises(DamagedFile, match=problem):
        read(profile)


def test_slashes_may_be_escaped() -> None:
    data = json.dumps(document()).encode()
    assert sniff(data)
    assert sniff(data.replace(b"/", b"\\/"))


def test_the_exporter_is_the_tool() -> None:
    assert origin_of(json.dumps(document()).encode()).tool == "rbspy 0.12.1"
    assert origin_of(b'{"$schema": "x"}').tool == ""
