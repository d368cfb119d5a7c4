from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings

from profkit.errors import DamagedFile
from profkit.formats import exact, firefox
from profkit.model.profile import Frame, Profile, Sample, Thread
from profkit.units import Unit
from tests.support.documents import named_samples, replaced
from tests.support.exact_profiles import exact_profiles, two_threads
from tests.support.firefox_versions import as_version_48, as_version_75
from tests.support.golden import check_golden
from tests.unit.formats.firefox.firefox_rules import check_rules

Document = dict[str, Any]
SOURCE = Path("app.firefox.json")


def written(profile: Profile) -> Document:
    document: Document = json.loads(firefox.encode(profile))
    return document


def foreign(profile: Profile) -> Document:
    """The file as a tool writes it that knows only the format."""
    document = written(profile)
    del document["meta"][exact.MEMBER]
    return document


def read(document: object) -> Profile:
    return firefox.decode(json.dumps(document).encode(), SOURCE)


@settings(max_examples=40, deadline=None)
@given(exact_profiles())
@example(two_threads())
def test_files_keep_the_rules_of_the_format(profile: Profile) -> None:
    check_rules(written(profile))


def test_golden() -> None:
    check_golden("two-threads.firefox.json", firefox.encode(two_threads()).decode())


def test_frames_have_the_category_of_their_code() -> None:
    document = written(two_threads())
    names = [category["name"] for category in document["meta"]["categories"]]
    told = [names[number] for number in document["shared"]["frameTable"]["category"]]
    assert told == ["User", "User", "Library", "Other", "Native"]


def test_the_stack_tree_has_each_prefix_once() -> None:
    table = written(two_threads())["shared"]["stackTable"]
    nodes = list(zip(table["prefix"], table["frame"], strict=True))
    assert len(set(nodes)) == len(nodes) == 7


@pytest.mark.parametrize(
    ("unit", "kind", "weights", "times"),
    [
        (Unit.SAMPLES, "samples", [2, 1, 1, 1, 1], [0, 20, 30, 40, 50]),
        (Unit.NANOSECONDS, "tracing-ms", [2e-6, 1e-6, 1e-6, 1e-6, 1e-6], [0, 2e-6, 3e-6, 4e-6, 5e-6]),
        (Unit.BYTES, "bytes", [2, 1, 1, 1, 1], [0, 1, 2, 3, 4]),
        (Unit.INSTRUCTIONS, "samples", [2, 1, 1, 1, 1], [0, 1, 2, 3, 4]),
        (Unit.ALLOCATIONS, "samples", [2, 1, 1, 1, 1], [0, 1, 2, 3, 4]),
    ],
)
def test_weights_and_times(unit: Unit, kind: str, weights: list[float], times: list[float]) -> None:
    samples = written(replace(two_threads(), unit=unit))["threads"][0]["samples"]
    assert (samples["weightType"], samples["weight"], samples["time"]) == (kind, weights, times)


@pytest.mark.parametrize("threads", [((7, 9), (7, 7), (8, 1)), ((8, 1), (7, 7), (7, 9))])
def test_each_process_has_one_main_thread(threads: tuple[tuple[int, int], ...]) -> None:
    profile = Profile(threads=tuple(Thread(pid, tid, "") for pid, tid in threads))
    mains = {(t["pid"], t["tid"]) for t in written(profile)["threads"] if t["isMainThread"]}
    assert mains == {("7", 7), ("8", 1)}


@settings(max_examples=40, deadline=None)
@given(exact_profiles())
def test_a_reader_that_knows_only_the_format_gets_the_same_totals(profile: Profile) -> None:
    told = read(foreign(profile))
    assert told.total_weight == pytest.approx(profile.total_weight, abs=2, rel=1e-9)
    counted = profile.unit in (Unit.INSTRUCTIONS, Unit.ALLOCATIONS)
    assert not told.samples or told.unit is (Unit.SAMPLES if counted else profile.unit)


@pytest.mark.parametrize("change", [as_version_75, as_version_48, lambda document: document])
def test_all_versions_mean_the_same(change: Any) -> None:
    profile = read(change(foreign(two_threads())))
    assert (profile.unit, profile.period_ns, profile.total_weight) == (Unit.SAMPLES, 1e7, 11)
    assert profile.threads == (Thread(7, 7, "MainThread"), Thread(7, 9, 'load "a"; <b>\n\\udc80'))
    assert profile.frames[0] == Frame("run", "/a/app.py", 3)
    assert named_samples(profile)[:3] == [
        ("run step", 2), ("run step JSONEncoder.encode", 1), ("run run step", 1),
    ]  # fmt: skip


def test_weights_may_be_missing() -> None:
    document = foreign(two_threads())
    for thread in document["threads"]:
        thread["samples"] = {"length": 2, "stack": [0, 1], "time": [0, 1], "weight": None}
    assert read(document).samples[:2] == (Sample(0, 0, 1), Sample(1, 0, 1))


def test_ids_that_are_text_begin_with_their_number() -> None:
    document = foreign(two_threads())
    document["threads"][0] |= {"pid": "12.1", "tid": "12.2"}
    document["threads"][1] |= {"pid": "Unknown Process 1", "tid": "x", "name": None}
    assert read(document).threads == (Thread(12, 12, "MainThread"), Thread(0, 0, ""))


@pytest.mark.parametrize(
    ("change", "value", "problem"),
    [
        ("meta", {}, "not in the processed format; open it at https"),
        ("threads", {}, "the file.threads is of type dict, not list"),
        ("threads.0.samples", [], r"threads\[0\]\.samples is of type list"),
        ("threads.0.samples.stack", [0], r"threads\[0\]\.samples\.stack has 1 entries, not 5"),
        ("threads.0.samples.stack.2", 99, r"threads\[0\]\.samples has a stack 99 that stackTable lacks"),
        ("threads.0.samples.weight.0", -1, r"threads\[0\]\.samples\.weight has a negative value"),
        ("threads.0.samples.weight.0", "x", r"threads\[0\]\.samples\.weight is not a number"),
        ("threads.1.samples.weightType", "bytes", r"threads\[0\] in samples and threads\[1\] in bytes"),
        ("threads.1.samples.weightType", "kg", r"weightType is 'kg', not one of samples"),
        ("shared.stackTable.prefix.3", 3, "a stack whose caller does not come before it"),
        ("shared.stackTable.frame.0", 9, r"stackTable\.frame has a frame that frameTable lacks"),
        ("shared.frameTable.func.0", -1, r"frameTable\.func has -1, which funcTable lacks"),
        ("shared.frameTable.line.0", 1.5, r"frameTable\.line is not a whole number"),
        ("shared.funcTable.name.0", 77, r"funcTable\.name has 77, which is out of range"),
        ("shared.funcTable.source.0", 77, r"funcTable\.source has 77, which is out of range"),
        ("shared.stringArray.0", 5, r"funcTable\.name has 0, which is not text"),
    ],
)
def test_the_first_wrong_part_is_named(change: str, value: object, problem: str) -> None:
    path = [int(key) if key.isdecimal() else key for key in change.split(".")]
    with pytest.raises(DamagedFile, match=problem) as told:
        read(replaced(foreign(two_threads()), path, value))
    assert told.value.path == SOURCE


def test_files_are_distinguished_from_others() -> None:
    data = firefox.encode(two_threads())
    assert firefox.sniff(data)
    assert not firefox.sniff(b'{"meta": {}}')
    assert firefox.origin_of(data).tool == "profkit"
    assert firefox.origin_of(data).started_ns is None
    assert (
        firefox.origin_of(b'{"meta": {"startTime": 1500.5, "product": "sleep"}}').started_ns == 1_500_500_000
    )
