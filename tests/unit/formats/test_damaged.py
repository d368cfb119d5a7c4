"""Whatever a file holds, it is read or refused by name, in every format that is imported."""

from __future__ import annotations

import gzip
import json
import marshal
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from profkit.cli.files import import_formats, runs_of_file
from profkit.errors import DamagedFile, ProfkitError, UsageError
from profkit.formats import wire
from profkit.formats.limits import ImportLimits
from profkit.formats.registry import FORMATS, importable, read_any
from profkit.model.run import Run
from profkit.store.rows import rows_of
from profkit.store.run_files import decode_runs, encode_runs
from tests.support.documents import replaced
from tests.support.example_measured_runs import measured_run
from tests.support.example_runs import made_profile, made_run
from tests.support.files_of_ranks import READERS
from tests.support.folders import GOLDEN, REGRESSIONS

SOURCE = Path("x")
CALLGRIND = b"""version: 1
creator: callgrind-3.19.0
positions: line
events: Ir
fl=(1) a.c
fn=(1) main
3 10
cfn=(2) f
calls=2 7
4 40
fn=(2)
7 40
totals: 50
"""
FOREIGN = {
    "pstats": marshal.dumps({("a.py", 1, "f"): (1, 1, 0.5, 1.5, {("b.py", 2, "g"): (1, 1, 0.5, 1.5)})}),
    "pyinstrument": b'{"start_time": 1.5, "duration": 1, "start_call_stack": ["f\\u0000a.py\\u00003"], '
    b'"frame_records": [[["f\\u0000a.py\\u00003", "g\\u0000a.py\\u00009\\u0001l12"], 0.25], [[], 0.5]]}',
    "callgrind": CALLGRIND,
    "cpuprofile": b'{"nodes": [{"id": 1, "callFrame": {"functionName": "(root)"}, "children": [2]}, '
    b'{"id": 2, "callFrame": {"functionName": "f", "url": "a.js", "lineNumber": 3}, "hitCount": 2}], '
    b'"startTime": 1, "endTime": 9, "samples": [2, 2], "timeDeltas": [1, 3]}',
    "perf-script": b"python 42/43 1.5: 10 cpu-clock:P:\n\t7f1c f+0x1 (/a.so)\n\t7f1d py::g:/a.py (/b)\n\n",
    "austin": b"# austin: 3.7.0\n# mode: full\nP42;T0:43;/a.py:f:9;/a.py:g:3 100,0,-4096\nP42;T1 250,1,0\n",
}
WORDS = st.sampled_from(
    [b"", b"0", b"-1", b"9" * 30, b"1e400", b'"', b"{", b"]", b"null", b"\0", b"\xff" * 4, b";", b"\n", b"("]
)
EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 6), WORDS | st.binary(max_size=3)), min_size=1, max_size=4
)
NAMES = list(importable())
WHOLE_RUNS = {"profkit": encode_runs([made_run()]), "profkit measured": encode_runs([measured_run()])}


@cache
def content(name: str) -> bytes:
    if name in WHOLE_RUNS:
        return WHOLE_RUNS[name]
    encode = FORMATS[name].encode
    data = FOREIGN[name] if encode is None else encode(made_profile())
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def edited(data: bytes, edits: list[tuple[float, int, bytes]]) -> bytes:
    for place, length, word in edits:
        at = int(place * len(data))
        data = data[:at] + word + data[at + length :]
    return data


def file_is_read_or_refused(data: bytes, name: str | None) -> None:
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        try:
            runs = runs_of_file(file.name, name)
        except (DamagedFile, UsageError):
            return
        for run in runs:
            assert rows_of(run)


@settings(max_examples=660, deadline=None)
@given(st.sampled_from([*NAMES, *WHOLE_RUNS]), EDITS, st.booleans())
@example("collapsed", [(0.0, 0, b"\n" * 40)], True)
@example("collapsed", [(0.0, 0, b" \n# a: b\n" * 40)], True)
def test_every_format(name: str, edits: list[tuple[float, int, bytes]], sniffed: bool) -> None:
    file_is_read_or_refused(edited(content(name), edits), None if sniffed else name.partition(" ")[0])


@pytest.mark.parametrize("name", NAMES)
def test_what_is_whole_is_recognized(name: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content(name))
    (run,) = runs_of_file(tmp_path / "x")
    assert isinstance(run, Run)
    assert run.info.imported is not None
    assert run.info.imported.format == name


SPEEDSCOPE = b"""{"$schema": "https://www.speedscope.app/file-format-schema.json",
"shared": {"frames": [{"name": "f"}]},
"profiles": [{"name": "t", "unit": "seconds", "startValue": 0, "endValue": 9, %b}]}"""
SESSION = b'{"start_time": 1, "duration": 1, %b}'
ODD = {
    "ts of the X event": b'{"traceEvents": [{"ph": "X", "name": "f", "ts": N, "dur": 1}]}',
    "dur of the X event": b'{"traceEvents": [{"ph": "X", "name": "f", "ts": 1, "dur": N}]}',
    "samples[0].ts": b"""{"traceEvents": [], "stackFrames": {"1": {"name": "f"}},
        "samples": [{"tid": 1, "ts": N, "sf": 1}]}""",
    "profiles[0].events[1]": SPEEDSCOPE
    % b"""
        "type": "evented",
        "events": [{"type": "O", "frame": 0, "at": 0}, {"type": "C", "frame": 0, "at": N}]""",
    "profiles[0].weights": SPEEDSCOPE % b'"type": "sampled", "samples": [[0], [0]], "weights": [1, N]',
    "frame_records[0]": SESSION % b'"start_call_stack": [], "frame_records": [[["f\\u0000a\\u00001"], N]]',
    "a frame's time": SESSION % b'"root_frame": {"function": "f", "time": N, "children": []}',
}


@pytest.mark.parametrize("number", ["1e300", "-1e300", "NaN", "Infinity", "true", '"one"', "9" * 400, "[1]"])
@pytest.mark.parametrize("place", ODD)
def test_odd_numbers_are_named_with_their_place(place: str, number: str) -> None:
    with pytest.raises(DamagedFile) as caught:
        read_any(ODD[place].replace(b"N", number.encode()), source=SOURCE)
    assert place in caught.value.detail
    assert caught.value.path == SOURCE


PATIENCE_S = 2.0
LIMITS = ImportLimits(max_bytes=1 << 20, max_depth=200, max_records=20_000, max_frames=20_000, max_seconds=20)

JSON_VALUES: st.SearchStrategy[object] = st.sampled_from(
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
    "profkit": content("profkit"),
}


def is_read_or_refused(data: bytes, name: str | None) -> None:
    """Only errors of profkit's own come out."""
    with suppress(ProfkitError):
        if name == "profkit":
            decode_runs(data, SOURCE)
        else:
            read_any(data, name, LIMITS, source=SOURCE)


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The path to each value of a document."""
    found = [path]
    if isinstance(value, dict):
        for key, inner in value.items():
            found += places(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value[:20]):
            found += places(inner, (*path, place))
    return found


@settings(max_examples=750, deadline=None)
@given(st.data(), st.sampled_from(sorted(DOCUMENTS)), st.integers(1, 3))
def test_json_with_other_values(data: st.DataObject, name: str, times: int) -> None:
    document: object = json.loads(DOCUMENTS[name])
    for _ in range(times):
        path = data.draw(st.sampled_from(places(document)))
        document = replaced(document, path, data.draw(JSON_VALUES))
    is_read_or_refused(json.dumps(document).encode(), name.partition(" ")[0])


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(NAMES), st.data())
def test_contents_with_flipped_bits(name: str, data: st.DataObject) -> None:
    flipped = bytearray(content(name))
    for place in data.draw(st.lists(st.integers(0, len(flipped) - 1), min_size=1, max_size=6)):
        flipped[place] ^= 1 << data.draw(st.integers(0, 7))
    is_read_or_refused(bytes(flipped), name)


@pytest.mark.parametrize("name", NAMES)
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
NUMBER = st.integers(-(2**70), 2**70) | st.floats()
NUMBERS = st.tuples(NUMBER, NUMBER, NUMBER, NUMBER)
ENTRIES = st.tuples(NUMBERS, st.dictionaries(FUNCTIONS, NUMBERS | NUMBER, max_size=3)).map(
    lambda entry: (*entry[0], entry[1])
)
VALUES = st.integers(-(2**63), 2**63 - 1) | st.binary(max_size=12)
FIELDS = st.lists(st.tuples(st.integers(1, 15), VALUES), max_size=12)
LINE = st.sampled_from(
    [
        *("events: Ir", "events: Ir Dr", "positions: line", "positions: instr line", "part: 1", ""),
        *("fn=(1) f", "fn=(1)", "fn=(1", "fl=a.c", "cfn=(1)", "cfn=(2) g", "cob=(1)", "jump=1 2"),
        *("1 5", "+1 9", "* 9", "1 -5", f"1 {10**400}", "1", "calls=1 1", "calls=x"),
        *("totals: 5", "totals: 10", "summary: 5"),
    ]
)
LINES = st.lists(LINE, max_size=14).map(lambda lines: "\n".join(["events: Ir", *lines, ""]).encode())
PIECES = st.sampled_from(
    [
        *("P1;T2;", "P1;T0:2;", "a.py:f:3", "# mode: memory\n", "# mode: full\n", ",0,5", "L3"),
        *("thread (1)", 'process 1:"x"', ";", " ", "7", "9" * 18, "-1", "\n", " (", ")", ":", "."),
        *("\\", "\xff", "\0", "٣"),
    ]
)
TEXTS = st.lists(PIECES, max_size=16).map(lambda pieces: "".join(pieces).encode())


def marshalled(document: object) -> bytes:
    try:
        return marshal.dumps(document)  # type: ignore[arg-type] # the strategy makes only what marshal knows
    except ValueError:
        return b""


def message(fields: list[tuple[int, int | bytes]]) -> bytes:
    return b"".join(
        wire.integer(field, value) if isinstance(value, int) else wire.blob(field, value)
        for field, value in fields
    )


MADE_UP: dict[str | None, st.SearchStrategy[bytes]] = {
    "pstats": (MARSHALLED | st.dictionaries(FUNCTIONS, ENTRIES, max_size=4)).map(marshalled),
    "pprof": FIELDS.map(message),
    "callgrind": LINES,
    "austin": TEXTS,
    "collapsed": TEXTS,
    None: TEXTS | st.binary(max_size=40),
}


@pytest.mark.parametrize("name", MADE_UP)
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_what_its_own_parts_make_up(name: str | None, data: st.DataObject) -> None:
    is_read_or_refused(data.draw(MADE_UP[name]), name)


def test_whole_runs_with_a_number_that_no_float_holds() -> None:
    whole = json.loads(content("profkit"))
    document = replaced(whole, ("runs", 0, "info", "plan", "max_duration_s"), 10**400)
    with pytest.raises(DamagedFile, match="max_duration_s is an integer of 1329 bits"):
        decode_runs(json.dumps(document).encode(), SOURCE)


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(REGRESSIONS.glob("*/*")) if path.parent.name not in READERS],
    ids=lambda path: f"{path.parent.name}-{path.name}",
)
def test_what_broke_an_importer_once_is_read_or_refused(path: Path) -> None:
    """Most were found by the fault campaign; some took minutes."""
    name = None if path.parent.name == "any" else path.parent.name
    assert name is None or name in import_formats()
    start = time.process_time()
    file_is_read_or_refused(path.read_bytes(), name)
    is_read_or_refused(path.read_bytes(), None)
    assert time.process_time() - start < PATIENCE_S
