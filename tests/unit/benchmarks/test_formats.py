"""The comparison of importers with other readers: its verdicts, and that it finds differences."""

from __future__ import annotations

import cProfile
import json
from pathlib import Path

import pytest

from benchmarks.formats.__main__ import main
from benchmarks.formats.checks import import_file
from benchmarks.formats.costs import Costs, by_name, differences
from profkit.formats import firefox
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.units import Unit

V8 = {
    "nodes": [
        {"id": 1, "callFrame": {"functionName": "(root)", "url": "", "lineNumber": -1}, "children": [2]},
        {"id": 2, "callFrame": {"functionName": "f", "url": "a.js", "lineNumber": 2}},
    ],
    "samples": [2, 2], "timeDeltas": [10, 20], "startTime": 5, "endTime": 50,
}  # fmt: skip
FILES = {
    "x.collapsed": "thread (7): MainThread;f (a.py:3);g (a.py:9) 4\nthread (7): MainThread;f (a.py:4) 2\n",
    "x.cpuprofile": json.dumps(V8),
    "x.austin": "# austin: 3.7.0\n# mode: wall\n\nP7;T0:7;a.py:f:3;a.py:g:9 400\nP7;T0:7;a.py:f:4 200\n",
    "x.trace.json": json.dumps(
        [{"ph": "X", "pid": 1, "tid": 1, "name": name, "ts": at, "dur": time} for name, at, time in (
            ("f", 0, 10), ("g", 2, 3), ("f", 3, 1))]),
    "x.perf.txt": "app 7 1.5:  1000 cpu-clock:\n\t 4d68 f+0x1 (/bin/app)\n\n",
}  # fmt: skip


def two_functions() -> Profile:
    builder = ProfileBuilder()
    f, g = Frame("f", "a.py", 3), Frame("g", "a.py", 9)
    builder.add((f, g), Thread(7, 7, "MainThread"), 4)
    builder.add((f,), Thread(7, 7, "MainThread"), 2)
    return builder.build(unit=Unit.SAMPLES, period_ns=1e6)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "x.html").write_text("<html>memray", "utf-8")
    (tmp_path / "x.md").write_text("# A page\n", "utf-8")
    (tmp_path / "x.firefox.json").write_bytes(firefox.encode(two_functions()))
    profiler = cProfile.Profile()
    profiler.runcall(sorted, range(10), key=lambda number: -number)
    profiler.dump_stats(tmp_path / "x.prof")
    return tmp_path


def test_each_file_has_a_verdict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder), "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["files"]
    found = {Path(one["file"]).name: (one["format"], one["verdict"]) for one in listed}
    assert found == {
        "x.austin": ("austin", "accepted"),
        "x.collapsed": ("collapsed", "accepted"),
        "x.cpuprofile": ("cpuprofile", "accepted"),
        "x.firefox.json": ("firefox", "accepted"),
        "x.html": ("", "refused"),
        "x.md": ("", "unknown"),
        "x.perf.txt": ("perf-script", "accepted"),
        "x.prof": ("pstats", "accepted"),
        "x.trace.json": ("chrome-trace", "accepted"),
    }
    details = {Path(one["file"]).name: one["detail"] for one in listed}
    assert details["x.prof"] == "equal to pstats"
    assert details["x.html"].startswith("FILE is an HTML report of memray; ")
    compared = {"x.austin", "x.collapsed", "x.cpuprofile", "x.firefox.json", "x.trace.json"}
    assert all(details[name].startswith("equal to sums of ") for name in compared)


def test_the_table_ends_with_the_counts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder / "x.prof"), str(folder / "x.html")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 accepted, 1 refused, 0 misread, 0 unknown"


@pytest.mark.parametrize(
    ("total", "functions", "found"),
    [
        (6, {"f": (2, 6), "g": (4, 4)}, []),
        (6, {"f": (2, None), "g": (4, None)}, []),
        (None, {"g": (4, 4)}, []),
        (7, {"f": (2, 6)}, ["total 6 instead of 7"]),
        (6, {"f": (3, 6)}, ["self of 'f' 2 instead of 3"]),
        (6, {"g": (4, 6)}, ["total of 'g' 4 instead of 6"]),
        (6, {"h": (1, 1)}, ["self of 'h' 0 instead of 1", "total of 'h' 0 instead of 1"]),
    ],
)
def test_differences_are_found(
    total: float | None, functions: dict[str, tuple[float, float | None]], found: list[str]
) -> None:
    assert list(differences(two_functions(), Costs("other", total, functions, by_name))) == found


def test_outcomes_of_files(folder: Path) -> None:
    assert import_file(folder / "x.prof").format == "pstats"
    refused = import_file(folder / "x.html")
    assert refused.is_named
    assert refused.profile is None
    assert not import_file(folder / "x.md").is_named
