from __future__ import annotations

import json
from pathlib import Path

import pytest

from profkit.errors import DamagedFile
from profkit.formats.pyinstrument import decode, origin_of, sniff
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Thread
from profkit.units import Unit
from tests.support.documents import named_samples

HEAD = {"start_time": 1795284577.5, "duration": 1.0, "sample_count": 3}
START = ["MainThread\0<thread>\x00123", "<module>\0/app/a.py\x001\x01l9"]
F, SLEEP = "f\0/app/a.py\x003\x01cA\x01l5", "sleep\0<built-in>\x000"


def frame(name: str, time: float, *children: object, **others: object) -> dict[str, object]:
    at = {"function": name, "file_path": "/app/a.py", "line_no": 3}
    return {**at, "time": time, "children": list(children), **others}


def session(records: object) -> bytes:
    return json.dumps({**HEAD, "start_call_stack": START, "frame_records": records}).encode()


def tree(root: object) -> bytes:
    return json.dumps({**HEAD, "root_frame": root}).encode()


def test_a_session_has_every_sample_in_order() -> None:
    data = session([[[*START, F], 0.25], [[*START, F, SLEEP], 0.5], [[*START, F], 0.25], [START, 0.125]])
    profile = decode(data)
    assert (profile.unit, profile.ordered) == (Unit.NANOSECONDS, True)
    assert profile.threads == (Thread(0, 123, "MainThread"),)
    assert profile.frames == (Frame("A.f", "/app/a.py", 5), Frame("sleep", "", 0))
    assert profile.stacks == ((0,), (0, 1), ())
    assert [(sample.stack, sample.weight) for sample in profile.samples] == [
        (0, 250_000_000), (1, 500_000_000), (0, 250_000_000), (2, 125_000_000),
    ]  # fmt: skip
    origin = origin_of(data)
    assert (origin.tool, origin.started_ns, origin.notes) == ("pyinstrument", 1_795_284_577_500_000_000, ())


def test_a_tree_has_what_its_children_lack() -> None:
    root = frame(
        "main", 1.0, frame("f", 0.75, frame("[self]", 0.25), frame("g", 0.5)), frame("A", 0.25 + 1e-6)
    )
    profile = decode(tree(root))
    assert dict(named_samples(profile)) == {
        "main f": 250_000_000,
        "main f g": 500_000_000,
        "main A": 250_001_000,
    }
    assert not profile.ordered
    assert origin_of(tree(root)).notes == (Note(NoteCode.SHORT_CALLS_LEFT_OUT),)
    assert decode(tree(None)).samples == ()


def test_names_of_classes_and_built_in_functions() -> None:
    profile = decode(
        tree(frame("run", 1.0, frame("sleep", 0.5, file_path="<built-in>", line_no=0), class_name="A"))
    )
    assert profile.frames == (Frame("A.run", "/app/a.py", 3), Frame("sleep", "", 0))


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b"{}",
        session([[["f"], "x"]]),
        session([[["f"], -1]]),
        session([[["f"], 1e999]]),
        session([[[3], 1]]),
        session([["f", 1]]),
        session({}),
        tree({}),
        tree([]),
        tree(frame("f", 1.0, 3)),
        tree({**frame("f", 1.0), "line_no": "x"}),
        b'{"root_frame": ' + b'{"children": [' * 5000,
    ],
)
def test_what_is_wrong_is_named(data: bytes) -> None:
    with pytest.raises(DamagedFile, match=r"x\.json"):
        decode(data, Path("x.json"))


def test_sniffing() -> None:
    assert sniff(tree(None))
    assert sniff(session([]))
    assert not any(map(sniff, (b"", b"{}", b'{"start_time": 3}', b'{"$schema": "x"}')))
