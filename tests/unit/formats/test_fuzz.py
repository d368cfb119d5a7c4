"""Files of every format, changed at random: read, or refused by an error of profkit's own."""

from __future__ import annotations

import copy
import json
import marshal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from profkit.errors import DamagedFile, ProfkitError
from profkit.formats import wire
from profkit.formats.limits import ImportLimits
from profkit.formats.registry import importable, read_any
from profkit.store.run_files import decode_runs, encode_runs
from tests.support.example_runs import made_run
from tests.support.folders import GOLDEN, INPUTS
from tests.unit.formats.test_damaged import EDITS, content, edited
from tests.unit.formats.test_limits import ODD

"""Contents that once broke an importer, as `FORMAT.what.bin`, in time or by a wrong exception."""
PATIENCE_S = 2.0
LIMITS = ImportLimits(max_bytes=1 << 20, max_depth=200, max_records=20_000, max_frames=20_000, max_seconds=20)
SOURCE = Path("x")

JSON_VALUES = st.sampled_from(
    [
        None, True, False, 0, -1, 1, 3.5, -0.0, 1e300, -1e300, float("nan"), float("inf"), 2**63, 10**400, "",
        "x", "1", "\ud800", "a\0b\x01l9", "0" * 30, [], {}, [[]], [0], [None], {"a": 1}, [-1], ["x"], [1e300],
        {"length": 3}, [[0], [1]],
    ]
)  # fmt: skip
TREE = b"""{"start_time": 1, "duration": 1, "root_frame": {"function": "f", "time": 1, "file_path": "a.py",
"line_no": 3, "children": [{"function": "[self]", "time": 0.5, "children": []}]}}"""
DOCUMENTS = {
    "speedscope": (GOLDEN / "two-threads.speedscope.json").read_bytes(),
    "speedscope evented": ODD["profiles[0].events[1]"].replace(b"N", b"2"),
    "speedscope sampled": ODD["profiles[0].weights"].replace(b"N", b"2"),
    "firefox": (GOLDEN / "two-threads.firefox.json").read_bytes(),
    "chrome-trace": (GOLDEN / "two-threads.trace.json").read_bytes(),
    "chrome-trace sampled": ODD["samples[0].ts"].replace(b"N", b"2"),
    "pyinstrument": content("pyinstrument"),
    "pyinstrument tree": TREE,
}


def is_read_or_refused(data: bytes, name: str | None) -> None:
    """Only errors of profkit's own come out."""
    with suppress(ProfkitError):
        read_any(data, name, LIMITS, source=SOURCE)


def places(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """The path to each value of a document."""
    found = [path]
    if isinstance(value, dict):
        for key, inner in value.items():
            found += places(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value[:20]):
            found += places(inner, (*path, place))
    return found


def replaced(value: object, path: tuple[object, ...], new: object) -> object:
    """The document with another value at one place; which is not changed itself."""
    if not path:
        return new
    first, *rest = path
    assert isinstance(value, dict | list)
    changed = copy.copy(value)
    changed[first] = replaced(value[first], tuple(rest), new)  # type: ignore[index, call-overload]
    return changed


@settings(max_examples=600, deadline=None)
@given(st.data(), st.sampled_from(sorted(DOCUMENTS)), st.integers(1, 3))
def test_json_with_other_values(data: st.DataObject, name: str, times: int) -> None:
    document: object = json.loads(DOCUMENTS[name])
    for _ in range(times):
        path = data.draw(st.sampled_from(places(document)))
        document = replaced(document, path, data.draw(JSON_VALUES))
    is_read_or_refused(json.dumps(document).encode(), name.partition(" ")[0])


@settings(max_examples=600, deadline=None)
@given(st.sampled_from(importable()), EDITS, st.booleans())
@example("collapsed", [(0.0, 0, b"\n" * 40)], True)
@example("collapsed", [(0.0, 0, b" \n# a: b\n" * 40)], True)
def test_contents_that_are_damaged(name: str, edits: list[tuple[float, int, bytes]], sniffed: bool) -> None:
    is_read_or_refused(edited(content(name), edits), None if sniffed else name)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(importable()), st.data())
def test_contents_with_flipped_bits(name: str, data: st.DataObject) -> None:
    flipped = bytearray(content(name))
    for place in data.draw(st.lists(st.integers(0, len(flipped) - 1), min_size=1, max_size=6)):
        flipped[place] ^= 1 << data.draw(st.integers(0, 7))
    is_read_or_refused(bytes(flipped), name)


@pytest.mark.parametrize("name", importable())
def test_contents_that_are_cut_anywhere(name: str) -> None:
    data = content(name)
    for end in range(0, len(data), max(1, len(data) // 200)):
        is_read_or_refused(data[:end], name)


PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=3)
    | st.binary(max_size=3)
)
KEYS = st.tuples(PLAIN, PLAIN, PLAIN) | PLAIN
MARSHALLED = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=5).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.lists(inner, max_size=3)
    ),
    max_leaves=20,
)
FUNCTIONS = st.tuples(st.text(max_size=2), st.integers(-2, 2**66), st.text(max_size=2))
NUMBERS = st.integers(-(2**70), 2**70) | st.floats()
ENTRIES = st.tuples(
    NUMBERS,
    NUMBERS,
    NUMBERS,
    NUMBERS,
    st.dictionaries(FUNCTIONS, st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS) | NUMBERS, max_size=3),
)


@settings(max_examples=300, deadline=None)
@given(MARSHALLED | st.dictionaries(FUNCTIONS, ENTRIES, max_size=4))
def test_statistics_of_anything(document: object) -> None:
    try:
        data = marshal.dumps(document)
    except ValueError:
        return
    is_read_or_refused(data, "pstats")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 15), st.integers(0, 2**64 - 1) | st.binary(max_size=12)), max_size=12)
)
def test_pprof_of_any_fields(fields: list[tuple[int, int | bytes]]) -> None:
    data = b"".join(
        wire.integer(field, value - 2**63) if isinstance(value, int) else wire.blob(field, value)
        for field, value in fields
    )
    is_read_or_refused(data, "pprof")


LINES = st.lists(
    st.sampled_from(
        [
            *("events: Ir", "events: Ir Dr", "positions: line", "positions: instr line", "part: 1", ""),
            *("fn=(1) f", "fn=(1)", "fn=(1", "fl=a.c", "cfn=(1)", "cfn=(2) g", "cob=(1)", "jump=1 2"),
            *("1 5", "+1 9", "* 9", "1 -5", f"1 {10**400}", "1", "calls=1 1", "calls=x"),
            *("totals: 5", "totals: 10", "summary: 5"),
        ]
    ),
    max_size=14,
)


@settings(max_examples=400, deadline=None)
@given(LINES)
def test_callgrind_of_any_lines(lines: list[str]) -> None:
    is_read_or_refused("\n".join(["events: Ir", *lines, ""]).encode(), "callgrind")


TEXTS = st.lists(
    st.sampled_from(
        [
            *("P1;T2;", "P1;T0:2;", "a.py:f:3", "# mode: memory\n", "# mode: full\n", ",0,5", "L3"),
            *("thread (1)", 'process 1:"x"', ";", " ", "7", "9" * 18, "-1", "\n", " (", ")", ":", "."),
            *("\\", "\xff", "\0", "٣"),
        ]
    ),
    max_size=16,
).map("".join)


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.sampled_from(["austin", "collapsed", None]))
def test_lines_of_anything(text: str, name: str | None) -> None:
    is_read_or_refused(text.encode("utf-8", "surrogateescape"), name)


WHOLE = json.loads(encode_runs([made_run()]))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whole_runs_with_other_values(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(places(WHOLE)))
    document = replaced(WHOLE, path, data.draw(JSON_VALUES))
    with suppress(ProfkitError):
        decode_runs(json.dumps(document).encode(), SOURCE)


def test_whole_runs_with_a_number_that_no_float_holds() -> None:
    document = replaced(WHOLE, ("runs", 0, "info", "plan", "max_duration_s"), 10**400)
    with pytest.raises(DamagedFile, match="max_duration_s is an integer of 1329 bits"):
        decode_runs(json.dumps(document).encode(), SOURCE)


@pytest.mark.parametrize("path", sorted(INPUTS.glob("*.bin")), ids=lambda path: path.stem)
def test_contents_that_once_broke_an_importer(path: Path) -> None:
    name = path.stem.partition(".")[0]
    start = time.process_time()
    is_read_or_refused(path.read_bytes(), name)
    is_read_or_refused(path.read_bytes(), None)
    assert time.process_time() - start < PATIENCE_S
