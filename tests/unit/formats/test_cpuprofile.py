"""CPU profiles of V8, as `node --cpu-prof` and Chrome write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from profkit.errors import DamagedFile
from profkit.formats.cpuprofile import decode, sniff
from profkit.formats.registry import read_any
from profkit.model.profile import Frame
from profkit.units import Unit
from tests.support.documents import format_named, weights_by_name

SOURCE = Path("x.cpuprofile")


def node(
    number: int, name: str, children: tuple[int, ...] = (), line: int = 3, **more: object
) -> dict[str, object]:
    called = {
        "functionName": name,
        "scriptId": "1",
        "url": "file:///a.js",
        "lineNumber": line,
        "columnNumber": 0,
    }
    return {"id": number, "callFrame": called, "children": list(children), **more}


DOCUMENT = {
    "nodes": [
        node(1, "(root)", (2, 4)),
        node(2, "main", (3,)),
        node(3, "", line=7),
        node(4, "(idle)", line=-1),
    ],
    "startTime": 1000,
    "endTime": 1100,
    "samples": [2, 3, 3, 4],
    "timeDeltas": [10, 20, 30, 15],
}


def decoded(document: object) -> dict[str, tuple[int, int]]:
    return weights_by_name(decode(json.dumps(document).encode(), SOURCE))


def test_a_sample_counts_until_the_next_one() -> None:
    assert decoded(DOCUMENT) == {
        "main": (20_000, 65_000),
        "(anonymous)": (45_000, 45_000),
        "(idle)": (25_000, 25_000),
    }
    profile = decode(json.dumps(DOCUMENT).encode(), SOURCE)
    assert profile.unit is Unit.NANOSECONDS
    assert profile.ordered
    assert Frame("main", "file:///a.js", 4) in profile.frames
    assert Frame("(idle)", "file:///a.js", 0) in profile.frames


def test_nodes_may_name_their_parents() -> None:
    nodes = [
        node(1, "(root)"),
        node(2, "main", parent=1),
        node(3, "f", parent=2),
        node(4, "(idle)", parent=1),
    ]
    assert decoded({**DOCUMENT, "nodes": nodes})["f"] == (45_000, 45_000)


def test_time_that_a_clock_went_back_is_not_counted_twice() -> None:
    assert decoded({**DOCUMENT, "timeDeltas": [10, 20, -30, 15]}) == {
        "main": (20_000, 20_000),
        "(idle)": (
            70_000,
            70_000,
        ),  # up to the end: 90 µs together, as the recording has after its first sample
    }


def test_without_samples_hits_are_counted() -> None:
    nodes = [node(1, "(root)", (2,)), node(2, "main", (3,), hitCount=2), node(3, "f", hitCount=5)]
    assert decoded({"nodes": nodes}) == {"main": (2, 7), "f": (5, 5)}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({**DOCUMENT, "samples": [9, 3, 3, 4]}, "a node 9 that does not exist: a part"),
        (
            {**DOCUMENT, "nodes": [node(2, "f", parent=1), node(3, "g"), node(4, "h")]},
            "a node 2 below a node 1 that does not exist: a part",
        ),
        ({**DOCUMENT, "timeDeltas": [1]}, "4 samples and 1 times"),
        ({**DOCUMENT, "nodes": [node(2, "f", (3,)), node(3, "g", (2,))]}, "a node 2 that contains itself"),
        ({"nodes": [{"id": 1, "callFrame": 3}]}, "nodes[0].callFrame is of type int"),
    ],
)
def test_damage_is_named(document: object, said: str) -> None:
    with pytest.raises(DamagedFile, match=r"x\.cpuprofile") as caught:
        decode(json.dumps(document).encode(), SOURCE)
    assert said in str(caught.value)


def test_it_is_recognized() -> None:
    data = json.dumps(DOCUMENT).encode()
    assert sniff(data)
    assert format_named(data) == "cpuprofile"
    assert read_any(data).origin.tool == "V8"


def old_node(number: int, name: str, *children: object, line: int = 3, hits: int = 0) -> dict[str, object]:
    return {
        "functionName": name, "url": "file:///a.js", "lineNumber": line, "callUID": 7, "bailoutReason": "",
        "id": number, "scriptId": 1, "hitCount": hits, "children": list(children),
    }  # fmt: skip


OLD_TREE = old_node(
    1,
    "(root)",
    old_node(2, "main", old_node(3, "", line=7, hits=2), hits=1),
    old_node(4, "(idle)", line=-1, hits=1),
)


def test_the_older_form_has_a_tree_and_timestamps() -> None:
    times = [163_140_599_286 + after for after in (0, 20, 50, 65)]
    document = {
        "head": OLD_TREE, "startTime": 163_140, "endTime": 163_140,
        "samples": [2, 3, 3, 4], "timestamps": times,
    }  # fmt: skip
    # Nothing says how long the last sample lasted.
    assert decoded(document) == {"main": (20_000, 65_000), "(anonymous)": (45_000, 45_000)}
    with_end = {**document, "timestamps": [*times, times[-1] + 25]}
    assert decoded(with_end) == decoded(DOCUMENT)
    assert format_named(json.dumps(document).encode()) == "cpuprofile"
    without = {key: value for key, value in document.items() if key not in ("samples", "timestamps")}
    assert decoded(without) == {"main": (1, 3), "(anonymous)": (2, 2), "(idle)": (1, 1)}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"head": [3]}, "the file.head is of type list"),
        ({"head": {"id": 1, "children": [7]}}, "a node is not a JSON object"),
        ({"timestamps": [1]}, "1 times"),
        ({"timestamps": ["x"], "samples": [2]}, r"timestamps\[0\] is not a number"),
    ],
)
def test_the_first_wrong_part_of_the_older_form_is_named(changed: dict[str, object], problem: str) -> None:
    document = {"head": OLD_TREE, "samples": [2, 3], "timestamps": [5, 6], **changed}
    with pytest.raises(DamagedFile, match=problem):
        decode(json.dumps(document).encode(), SOURCE)
