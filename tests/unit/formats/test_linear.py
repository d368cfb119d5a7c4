"""Files whose parts are many, equal or nested are read in linear time and memory."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from profkit.formats.austin import decode as decode_austin
from profkit.formats.austin import sniff as is_austin
from profkit.formats.chrome_trace import decode as decode_trace
from profkit.formats.chrome_trace.reading import frame_named
from profkit.formats.collapsed import decode as decode_collapsed
from profkit.formats.collapsed import escape, unescape
from profkit.formats.exact import escape_text, unescape_text
from profkit.formats.firefox import decode as decode_firefox
from profkit.formats.speedscope import decode as decode_speedscope
from profkit.model.profile import Frame, Profile

SOURCE = Path("x")
FACTOR = 8
"""How many times larger the larger file is; a quadratic reader takes 64 times as long."""
PATIENCE_S = 1.0
"""Bound for what takes milliseconds, and took minutes."""


def seconds(work: Callable[[], object]) -> float:
    """Processor time, the least of three runs."""

    def once() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return min(once() for _ in range(3))


def speedscope(count: int) -> bytes:
    """Profiles of one name, which tells no thread."""
    recorded = {
        "type": "sampled", "name": "worker", "unit": "none", "startValue": 0, "endValue": 1,
        "samples": [[0]], "weights": [1],
    }  # fmt: skip
    frames = {"frames": [{"name": "f"}]}
    return json.dumps({"shared": frames, "profiles": [recorded] * count}).encode()


def tracks(count: int) -> bytes:
    """Threads of one name, whose ids are no numbers."""
    named = {"ph": "M", "name": "process_name", "pid": "p", "tid": "", "args": {"name": "server"}}
    events = [{"ph": "X", "name": "f", "pid": "p", "tid": f"t{n}", "ts": n, "dur": 1} for n in range(count)]
    return json.dumps([named, *events]).encode()


def unclosed(count: int) -> bytes:
    """Calls that nothing closes, and ends of calls that nothing began; a few at a time last."""
    events: list[dict[str, object]] = []
    for n in range(count):
        events.append({"ph": "B", "name": "f", "pid": 1, "tid": 1, "ts": 5})
        events.append({"ph": "E", "name": "g", "pid": 1, "tid": 1, "ts": 5})
        events.append({"ph": "X", "name": f"h{n}", "pid": 1, "tid": 2, "ts": n, "dur": 1})
    return json.dumps(events).encode()


def firefox(count: int) -> bytes:
    """Threads of one name and id."""
    thread = {
        "name": "t", "pid": "p", "tid": 0, "stringArray": ["f"],
        "funcTable": {"length": 1, "name": [0], "fileName": [None]},
        "frameTable": {"length": 1, "func": [0], "line": [1]},
        "stackTable": {"length": 1, "frame": [0], "prefix": [None]},
        "samples": {"length": 1, "stack": [0]},
    }  # fmt: skip
    meta = {"preprocessedProfileVersion": 50, "interval": 1}
    return json.dumps({"meta": meta, "threads": [thread] * count}).encode()


def collapsed(count: int) -> bytes:
    """A function for each line."""
    return b"".join(b"main;f%d 1\n" % n for n in range(count))


@pytest.mark.parametrize(
    ("decode", "content", "count"),
    [
        (decode_speedscope, speedscope, 300),
        (decode_trace, tracks, 300),
        (decode_trace, unclosed, 500),
        (decode_firefox, firefox, 300),
        (decode_collapsed, collapsed, 3000),
    ],
    ids=["speedscope names", "trace threads", "unclosed events", "firefox threads", "collapsed functions"],
)
def test_time_grows_with_the_size(
    decode: Callable[[bytes, Path], Profile], content: Callable[[int], bytes], count: int
) -> None:
    small, large = content(count), content(count * FACTOR)
    assert seconds(lambda: decode(large, SOURCE)) < 3 * FACTOR * seconds(lambda: decode(small, SOURCE))


def test_equal_names_are_numbered() -> None:
    profile = decode_speedscope(speedscope(4), SOURCE)
    assert [(thread.tid, thread.name) for thread in profile.threads] == [(n, "worker") for n in range(4)]


def test_stacks_between_samples_are_not_kept() -> None:
    def peak(depth: int) -> int:
        frames = {str(n): {"name": "f"} | ({"parent": n - 1} if n else {}) for n in range(depth)}
        document = {"traceEvents": [], "stackFrames": frames}
        samples = [{"tid": 1, "ts": 0, "sf": depth - 1}]
        data = json.dumps(document | {"samples": samples}).encode()
        tracemalloc.start()
        try:
            assert [len(stack) for stack in decode_trace(data, SOURCE).stacks] == [depth]
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(3200) < 1.5 * FACTOR * peak(400)


BACKSLASHES = "\\" * 40_000


@pytest.mark.parametrize(
    "work",
    [
        lambda: is_austin(b"\n" * 28 + b"text"),
        lambda: is_austin(b"# a: b\n" * 28 + b" \n" * 28 + b"text"),
        lambda: decode_austin(b"P1;T1;:" + b"a" * 40_000 + b" 7\n", SOURCE),
        lambda: decode_collapsed(b"f (" + b"." * 40_000 + b" 7\n", SOURCE),
        lambda: frame_named(" (" * 40_000),
        lambda: escape("\n" + BACKSLASHES),
        lambda: unescape(BACKSLASHES),
        lambda: escape_text(BACKSLASHES),
        lambda: unescape_text(BACKSLASHES + "\\ud80"),
    ],
    ids=[
        "blank lines",
        "metadata and blank lines",
        "long austin frame",
        "dots in a place",
        "brackets in a name",
        "escape",
        "unescape",
        "escape_text",
        "unescape_text",
    ],
)
def test_texts_that_patterns_could_divide_in_many_ways(work: Callable[[], object]) -> None:
    start = time.process_time()
    work()
    assert time.process_time() - start < PATIENCE_S


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ("f (a.py:3)", Frame("f", "a.py", 3)),
        ("f (a:b.py:3)", Frame("f", "a:b.py", 3)),
        ("f ()", Frame("f ()", "")),
        (" (a.py:3)", Frame(" (a.py:3)", "")),
        ("f (:3)", Frame("f (:3)", "")),
        ("f (a (b:3)", Frame("f", "a (b", 3)),
    ],
)
def test_places_in_names_of_events(text: str, frame: Frame) -> None:
    assert frame_named(text) == frame
