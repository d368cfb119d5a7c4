"""Whatever a file holds, it is read or refused by name, in every format that is imported."""

from __future__ import annotations

import gzip
import marshal
import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.cli.files import runs_of_file
from profkit.errors import DamagedFile, UsageError
from profkit.formats.registry import FORMATS
from profkit.model.run import Run
from profkit.store.rows import rows_of
from profkit.store.run_files import encode_runs
from tests.support.example_measured_runs import measured_run
from tests.support.example_runs import made_profile, made_run

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
    [
        b"",
        b"0",
        b"-1",
        b"9" * 30,
        b"1e400",
        b'"',
        b"{",
        b"]",
        b"null",
        b"\x00",
        b"\xff\xff\xff\xff",
        b";",
        b"\n",
        b"(",
    ]
)
EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 6), WORDS | st.binary(max_size=3)), min_size=1, max_size=4
)


NAMES = [name for name, known in FORMATS.items() if known.decode]


@cache
def content(name: str) -> bytes:
    encode = FORMATS[name].encode
    data = FOREIGN[name] if encode is None else encode(made_profile())
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def edited(data: bytes, edits: list[tuple[float, int, bytes]]) -> bytes:
    for place, length, word in edits:
        at = int(place * len(data))
        data = data[:at] + word + data[at + length :]
    return data


def is_read_or_refused(data: bytes, name: str | None) -> None:
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        try:
            runs = runs_of_file(file.name, name)
        except (DamagedFile, UsageError):
            return
        for run in runs:
            assert rows_of(run)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(NAMES), EDITS)
def test_every_format(name: str, edits: list[tuple[float, int, bytes]]) -> None:
    is_read_or_refused(edited(content(name), edits), name)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_whole_is_recognized(name: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content(name))
    (run,) = runs_of_file(tmp_path / "x")
    assert isinstance(run, Run)
    assert run.info.imported is not None
    assert run.info.imported.format == name


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([encode_runs([made_run()]), encode_runs([measured_run()])]), EDITS)
def test_whole_runs(data: bytes, edits: list[tuple[float, int, bytes]]) -> None:
    is_read_or_refused(edited(data, edits), "profkit")


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=40))
def test_anything(data: bytes) -> None:
    is_read_or_refused(data, None)
