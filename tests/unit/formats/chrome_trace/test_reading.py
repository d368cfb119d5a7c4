from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.errors import DamagedFile
from profkit.formats.chrome_trace import decode, origin_of, sniff
from profkit.model.notes import NoteCode
from profkit.model.profile import Frame, Profile, Thread
from profkit.units import Unit
from tests.support.documents import named_samples, weights_by_name

Event = dict[str, Any]
SOURCE = Path("app.trace.json")


def events(text: str, pid: object = 7, tid: object = 7) -> list[Event]:
    """Events written as `B:f@1 E:f@3 X:g@4+2`: phase, name, microseconds, and how many more."""
    found = []
    for word in text.split():
        phase, _, rest = word.partition(":")
        name, _, times = rest.partition("@")
        at, _, duration = times.partition("+")
        event: Event = {"ph": phase, "ts": float(at), "pid": pid, "tid": tid, "cat": "x"}
        event |= {"name": name} if name else {}
        found.append(event | ({"dur": float(duration)} if duration else {}))
    return found


def read(*listed: Event, **more: object) -> Profile:
    return decode(json.dumps({"traceEvents": listed, **more}).encode(), SOURCE)


def written(profile: Profile) -> list[tuple[str, int]]:
    assert profile.unit is Unit.NANOSECONDS
    return named_samples(profile)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("B:f@1 B:g@2 E:g@4 E:f@4.5", [("f", 1000), ("f g", 2000), ("f", 500)]),
        ("B:f@1 B:g@2 E:@4 E:@4.5", [("f", 1000), ("f g", 2000), ("f", 500)]),
        ("X:f@1+3.5 X:g@2+2", [("f", 1000), ("f g", 2000), ("f", 500)]),
        ("X:g@2+2 X:f@1+3.5", [("f", 1000), ("f g", 2000), ("f", 500)]),
        ("E:f@4.5 B:g@2 B:f@1 E:g@4", [("f", 1000), ("f g", 2000), ("f", 500)]),
        ("X:f@1+4 B:g@2 E:g@4", [("f", 1000), ("f g", 2000), ("f", 1000)]),
        # The same start: what lasts longer holds the other.
        ("X:g@1+2 X:f@1+3", [("f g", 2000), ("f", 1000)]),
        ("X:f@1+2 X:g@1+2", [("f g", 2000)]),
        # Gaps are nobody's time.
        ("X:f@1+1 X:f@5+1", [("f", 2000)]),
        ("X:f@1+1 X:g@5+1", [("f", 1000), ("g", 1000)]),
        # A B without an E ends with the last event of its thread; an E without a B says nothing.
        ("B:f@1 B:g@2 E:g@3 X:h@4+2", [("f", 1000), ("f g", 1000), ("f", 1000), ("f h", 2000)]),
        ("E:f@1 B:g@2 E:g@3", [("g", 1000)]),
        ("B:f@1 E:x@2 E:f@3", [("f", 2000)]),
        # Recursion, a call of no time, and durations that overlap.
        ("B:f@1 B:f@2 E:f@3 E:f@4", [("f", 1000), ("f f", 1000), ("f", 1000)]),
        ("X:f@1+2 X:g@2+0", [("f", 2000)]),
        (
            "X:f@1+6 X:g@2+2 X:h@3+3 X:g@7+1",
            [("f", 1000), ("f g", 1000), ("f g h", 1000), ("f h", 2000), ("f", 1000), ("g", 1000)],
        ),
        ("X:f@1+3 X:g@2+4", [("f", 1000), ("f g", 2000), ("g", 2000)]),
    ],
)
def test_stacks_have_the_time_between_events(text: str, found: list[tuple[str, int]]) -> None:
    assert written(read(*events(text))) == found


intervals = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.sampled_from("fgh")), min_size=1)


@settings(max_examples=60, deadline=None)
@given(intervals)
def test_the_time_of_a_thread_is_that_in_which_something_is_open(listed: list[tuple[int, int, str]]) -> None:
    text = " ".join(f"X:{name}@{start}+{length}" for start, length, name in listed)
    covered = {at for start, length, _ in listed for at in range(start, start + length)}
    assert read(*events(text)).total_weight == len(covered) * 1000


def test_each_thread_has_its_own_stack() -> None:
    profile = read(
        *events("B:f@1"), *events("B:g@1", tid=8), *events("E:f@2"), *events("E:g@4", tid=8),
        {"ph": "M", "name": "thread_name", "pid": 7, "tid": 8, "args": {"name": "loader"}},
    )  # fmt: skip
    assert profile.threads == (Thread(7, 7, ""), Thread(7, 8, "loader"))
    assert [(sample.thread, sample.weight) for sample in profile.samples] == [(0, 1000), (1, 3000)]


def test_ids_may_be_text() -> None:
    profile = read(
        *events("X:f@1+1", "1", "2"), *events("X:f@1+1", 0, "stream 7"), *events("X:f@1+1", 0, "stream 8"),
        {"ph": "M", "name": "process_name", "pid": "1", "tid": 0, "args": {"name": "train"}},
    )  # fmt: skip
    assert profile.threads == (Thread(1, 2, "train"), Thread(0, 0, "stream 7"), Thread(0, 0, "stream 8"))


@pytest.mark.parametrize(
    ("name", "args", "frame"),
    [
        ("f", None, Frame("f", "", 0)),
        ("f", {"file": "/a/app.py", "line": 3}, Frame("f", "/a/app.py", 3)),
        ("g", {"filename": "/a/app.py", "line": 3}, Frame("g", "/a/app.py", 3)),
        ("fib (/a/b (c)/app.py:3)", None, Frame("fib", "/a/b (c)/app.py", 3)),
        ("torch/nn/module.py(1500): _call_impl", {}, Frame("_call_impl", "torch/nn/module.py", 1500)),
        ("aten::add", {"Sequence number": 3}, Frame("aten::add", "", 0)),
    ],
)
def test_names_show_places(name: str, args: object, frame: Frame) -> None:
    event = {"ph": "X", "name": name, "ts": 0, "dur": 1, "pid": 1, "tid": 1}
    assert read(event | ({} if args is None else {"args": args})).frames == (frame,)


@pytest.mark.parametrize("end", ["]", "", ",", ",\n\n"])
def test_a_list_may_end_without_a_bracket(end: str) -> None:
    text = json.dumps(events("X:f@1+2"))[:-1] + end
    assert written(decode(text.encode())) == [("f", 2000)]


def test_events_that_do_not_last_are_passed_over() -> None:
    others = [{"ph": phase, "name": "x", "ts": 1, "id": 1, "pid": 7, "tid": 7} for phase in "CibensftNODPRv"]
    assert written(read(*others, *events("X:f@1+2"))) == [("f", 2000)]


def test_the_span_of_a_whole_torch_capture_is_left_out() -> None:
    capture = {
        "ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler",
        "ts": 0, "dur": 100, "args": {"Op count": 0},
    }  # fmt: skip
    profile = read(*events("X:aten::mm@3+4"), capture)
    assert profile.threads == (Thread(7, 7, ""),)
    assert written(profile) == [("aten::mm", 4000)]
    # Other programs may have events of that category.
    assert read(capture | {"pid": 3}).total_weight == 100_000


def test_samples_are_counted_where_nothing_lasts() -> None:
    frames = {
        "1": {"name": "main"},
        "2": {"name": "f (/a.py:3)", "parent": "1"},
        "x": {"name": "g", "parent": 2},
    }
    samples = [
        {"cpu": 0, "tid": 5, "ts": ts, "name": "cycles", "sf": sf, "weight": weight}
        for ts, sf, weight in ((3000, "x", 1), (1000, 2, 1), (2000, 2, 2), (9000, 1, 1))
    ]
    profile = read(stackFrames=frames, samples=samples)
    assert (profile.unit, profile.period_ns) == (Unit.SAMPLES, 1e6)
    assert profile.threads == (Thread(0, 5, ""),)
    assert profile.frames[1] == Frame("f", "/a.py", 3)
    assert [(profile.stacks[sample.stack], sample.weight) for sample in profile.samples] == [
        ((0, 1), 3), ((0, 1, 2), 1), ((0,), 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({}, "the file has no 'traceEvents'"),
        ({"traceEvents": []}, "it has no durations"),
        ([], "it has no durations"),
        ([7], r"traceEvents\[0\] is not a JSON object"),
        ([{"ph": "X", "name": "f", "dur": 1}], "ts of the X event 'f' is not a number"),
        ([{"ph": "X", "name": "f", "ts": 1, "dur": "1 s"}], "dur of the X event 'f' is not a number"),
        ({"traceEvents": [], "samples": [{"tid": 1, "ts": 1, "sf": 4}]}, "a node '4' that does not exist"),
        (
            {
                "traceEvents": [],
                "samples": [{"tid": 1, "ts": 1, "sf": 4}],
                "stackFrames": {"4": {"name": "f", "parent": 4}},
            },
            "a node '4' that contains itself",
        ),
    ],
)
def test_the_first_wrong_part_is_named(document: object, problem: str) -> None:
    with pytest.raises(DamagedFile, match=problem) as told:
        decode(json.dumps(document).encode(), SOURCE)
    assert told.value.path == SOURCE


def test_cut_files_are_reported() -> None:
    with pytest.raises(DamagedFile):
        decode(b'{"traceEvents": [{"ph": "X"', SOURCE)


@pytest.mark.parametrize(
    ("data", "looks", "tool"),
    [
        (b'{"traceEvents": [], "viztracer_metadata": {"version": "1"}}', True, "viztracer"),
        (b'{"deviceProperties": [], "traceEvents": []}', True, "torch.profiler"),
        (b'{"otherData": {"exporter": "profkit"}, "traceEvents": []}', True, "profkit"),
        (b'[{"args":{},"cat":"py-spy","name":"f","ph":"B"}]', True, "py-spy"),
        (b' [{"name": "f", "ph": "X"}]', True, ""),
        (b"[1, 2]", False, ""),
        (b'{"meta": {}}', False, ""),
    ],
)
def test_files_are_distinguished_from_others(data: bytes, looks: bool, tool: str) -> None:
    assert sniff(data) is looks
    assert origin_of(data).tool == tool


def piece(*nodes: tuple[int, str, int | None], samples: list[int], deltas: list[int]) -> dict[str, object]:
    listed = [
        {"id": number, "callFrame": {"functionName": name, "url": "a.js", "lineNumber": 2}}
        | ({} if parent is None else {"parent": parent})
        for number, name, parent in nodes
    ]
    data = {"cpuProfile": {"nodes": listed, "samples": samples}, "timeDeltas": deltas}
    return {
        "ph": "P",
        "name": "ProfileChunk",
        "pid": 7,
        "tid": 9,
        "id": "0x1",
        "ts": 0,
        "args": {"data": data},
    }


STARTED: dict[str, object] = {
    "ph": "P",
    "name": "Profile",
    "pid": 7,
    "tid": 3,
    "id": "0x1",
    "ts": 0,
    "args": {"data": {"startTime": 5}},
}
DEVTOOLS = {
    "traceEvents": [
        STARTED,
        piece((1, "(root)", None), (2, "main", 1), samples=[2, 2], deltas=[10, 20]),
        piece((3, "f", 2), samples=[3, 2], deltas=[30, 40]),
        {"ph": "X", "name": "Layout", "pid": 7, "tid": 3, "ts": 0, "dur": 500},
        {"ph": "X", "name": "Raster", "pid": 7, "tid": 4, "ts": 0, "dur": 60},
        {"ph": "M", "name": "thread_name", "pid": 7, "tid": 3, "args": {"name": "CrRendererMain"}},
    ]
}


def test_a_thread_with_javascript_samples_shows_these() -> None:
    data = json.dumps(DEVTOOLS).encode()
    profile = decode(data)
    assert weights_by_name(profile) == {
        "main": (50_000, 90_000),
        "f": (40_000, 40_000),
        "Raster": (60_000, 60_000),
    }
    assert {thread.name for thread in profile.threads} == {"CrRendererMain", ""}
    origin = origin_of(data)
    assert origin.tool == "Chrome DevTools"
    assert [note.code for note in origin.notes] == [NoteCode.TIMELINE_LEFT_OUT]


def test_pieces_of_a_profile_must_be_whole() -> None:
    broken = {"traceEvents": [STARTED, piece((1, "f", None), samples=[1], deltas=[])]}
    with pytest.raises(DamagedFile, match="1 samples and 0 times"):
        decode(json.dumps(broken).encode())


def test_pieces_of_a_profile_that_began_before_the_trace_are_left_out() -> None:
    late = piece(samples=[8, 8], deltas=[5, 5]) | {"id": "0x0"}
    whole = decode(json.dumps(DEVTOOLS).encode())
    assert decode(json.dumps({"traceEvents": [late, *DEVTOOLS["traceEvents"]]}).encode()) == whole


def test_a_profile_may_lack_its_first_event() -> None:
    without = decode(json.dumps({"traceEvents": DEVTOOLS["traceEvents"][1:3]}).encode())
    assert weights_by_name(without) == {"main": (50_000, 90_000), "f": (40_000, 40_000)}


def test_older_traces_have_a_whole_profile_in_one_event() -> None:
    first, second = (one["args"]["data"] for one in DEVTOOLS["traceEvents"][1:3])  # type: ignore[index]
    nodes = first["cpuProfile"]["nodes"] + second["cpuProfile"]["nodes"]
    profile = {"nodes": nodes, "samples": [2, 2, 3, 2], "timeDeltas": [10, 20, 30, 40], "startTime": 5}
    event = STARTED | {"name": "CpuProfile", "args": {"data": {"cpuProfile": profile}}}
    data = json.dumps([event, *DEVTOOLS["traceEvents"][3:]]).encode()
    assert decode(data) == decode(json.dumps(DEVTOOLS).encode())
    assert origin_of(data) == origin_of(json.dumps(DEVTOOLS).encode())


def test_a_duration_may_be_on_the_clock_of_the_thread() -> None:
    assert written(read({"ph": "X", "name": "f", "ts": 7, "tdur": 4})) == [("f", 4000)]


def test_an_end_before_its_begin_at_the_same_time_ends_it() -> None:
    listed = [("B", "a", 0), ("E", "b", 2), ("B", "b", 2), ("E", "b", 5), ("B", "c", 6), ("E", "a", 10)]
    profile = read(*({"ph": phase, "name": name, "ts": at} for phase, name, at in listed))
    assert written(profile) == [("a", 6000), ("a c", 4000)]


def test_numbers_may_be_text_as_hermes_writes_them() -> None:
    document = {
        "traceEvents": [{"ph": "X", "name": "js", "ts": "3", "dur": 0, "pid": 1, "tid": "2"}],
        "samples": [
            {"cpu": "-1", "ts": str(at), "pid": 1, "tid": "2", "weight": "1", "sf": 4} for at in (5, 15, 25.5)
        ],
        "stackFrames": {"4": {"name": "f", "category": "JavaScript", "parent": 3}, "3": {"name": "[root]"}},
    }
    profile = decode(json.dumps(document).encode())
    assert weights_by_name(profile) == {"f": (3, 3), "[root]": (0, 3)}
    assert profile.threads == (Thread(0, 2, ""),)
    assert profile.period_ns == pytest.approx(10_250)
