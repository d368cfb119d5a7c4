"""Files that other tools really write are read as what those tools say; theirs read what profkit writes."""

from __future__ import annotations

import json
import os
import pstats
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet  # pytest does not export it
from pyinstrument.processors import remove_first_pyinstrument_frames_processor
from pyinstrument.renderers import JSONRenderer, PstatsRenderer, SpeedscopeRenderer
from pyinstrument.session import Session

from benchmarks import call_graphs
from profkit.cli.files import runs_of_file
from profkit.formats import pprof
from profkit.formats.collapsed import encode
from profkit.formats.pstats import decode as call_graph_of
from profkit.formats.registry import TimeSpan
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.model.run import Run, RunInfo
from profkit.transforms.tables import function_rows
from profkit.units import Unit
from tests.integration.callgrind_programs import RECURSION, annotated_totals, compiled, dumps_of
from tests.support.call_traces import FUNCTIONS, Call, statistics_of
from tests.support.callgrind_files import read_callgrind

PROGRAM = """
import subprocess, sys, threading, time

def burn(until):
    while time.monotonic() < until:
        sum(n * n for n in range(300))

class Work:
    def run(self, n):
        return self.run(n - 1) if n else burn(time.monotonic() + (0.6 if "child" in sys.argv else 0.15))

def main():
    if "family" in sys.argv:
        child = subprocess.Popen([sys.executable, __file__, "child"])
        thread = threading.Thread(target=burn, args=(time.monotonic() + 0.3,), name="one; two (x)")
        thread.start()
    Work().run(4)
    if "family" in sys.argv:
        thread.join()
        child.wait()

main()
"""
GO = "package big\n" + "\n".join(
    f"func F{n}(a int) (s int) {{ for i := 0; i < a; i++ {{ if i == {n} {{ s += i }} }}; return }}"
    for n in range(1500)
)


def done(*command: str | Path, cwd: Path, **environ: str) -> str:
    """What a tool says on stdout."""
    return subprocess.run(
        [*command], cwd=cwd, env=os.environ | environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, check=True, timeout=300,
    ).stdout  # fmt: skip


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, "utf-8")
    return path


def imported(path: Path, name: str) -> tuple[Profile, RunInfo]:
    """The profile of a file, whose format was recognized."""
    (run,) = runs_of_file(path)
    assert isinstance(run, Run)
    assert run.profile is not None
    assert run.info.imported is not None
    assert run.info.imported.format == name
    return run.profile, run.info


def tool(name: str) -> Path:
    return Path(sys.executable).with_name(name)


@pytest.mark.sampler
@pytest.mark.gil
def test_raw_output_of_py_spy_is_read_with_its_threads_and_processes(program: Path) -> None:
    folder = program.parent
    record = (
        tool("py-spy"),
        "record",
        "-f",
        "raw",
        "-r",
        "200",
        "--threads",
        "--subprocesses",
        "-o",
        "raw.txt",
    )
    done(*record, "--", sys.executable, program, "family", cwd=folder)
    profile, info = imported(folder / "raw.txt", "collapsed")
    lines = (folder / "raw.txt").read_text("utf-8").splitlines()
    assert profile.total_weight == info.samples == sum(int(line.rpartition(" ")[2]) for line in lines)
    assert len({thread.pid for thread in profile.threads}) == 2
    assert {thread.name for thread in profile.threads} >= {"MainThread"}
    # py-spy sees a thread before its id is set.
    without = [line for line in lines if not re.search(r"thread \((?!(?:0x)?0+\))", line)]
    assert any(not thread.tid for thread in profile.threads) == bool(without)
    burns = [frame for frame in profile.frames if frame.name == "burn"]
    assert {frame.file for frame in burns} == {"program.py"}
    assert {frame.line for frame in burns} <= {5, 6}
    # Written again, it says the same.
    again = folder / "again.txt"
    again.write_bytes(encode(profile))
    assert imported(again, "collapsed")[0] == profile


def test_sessions_and_trees_of_pyinstrument(program: Path) -> None:
    folder = program.parent
    done(tool("pyinstrument"), "-o", "x.pyisession", program, cwd=folder)
    session = Session.load(folder / "x.pyisession")
    taken_s = sum(time_s for _, time_s in session.frame_records)
    profile, info = imported(folder / "x.pyisession", "pyinstrument")
    assert profile.total_weight == pytest.approx(taken_s * 1e9, abs=len(session.frame_records))
    assert info.started_ns == pytest.approx(session.start_time * 1e9, abs=1e3)
    rows = {row.name: row for row in function_rows(profile)}
    in_run_s = sum(
        time_s for frames, time_s in session.frame_records if any(text.startswith("run\0") for text in frames)
    )
    assert rows["Work.run"].total_weight == pytest.approx(in_run_s * 1e9, abs=len(session.frame_records))
    written = JSONRenderer().render(session)
    (folder / "x.json").write_text(written, "utf-8")
    tree, told = imported(folder / "x.json", "pyinstrument")
    assert tree.total_weight == pytest.approx(json.loads(written)["root_frame"]["time"] * 1e9, abs=1e4)
    assert told.notes


def test_other_files_of_pyinstrument_have_the_same_times(program: Path) -> None:
    folder = program.parent
    done(tool("pyinstrument"), "-o", "x.pyisession", program, cwd=folder)
    session = Session.load(folder / "x.pyisession")
    statistics, speedscope = PstatsRenderer(), SpeedscopeRenderer()
    for renderer in (statistics, speedscope):
        # It drops the program if pyinstrument's own code was sampled before it.
        renderer.processors.remove(remove_first_pyinstrument_frames_processor)
    (folder / "x.pstats").write_bytes(statistics.render(session).encode("utf-8", "surrogateescape"))
    (folder / "x.speedscope.json").write_text(speedscope.render(session), "utf-8")
    whole, _ = imported(folder / "x.pyisession", "pyinstrument")
    in_main = {row.name: row for row in function_rows(whole)}["main"].total_weight
    for name, format in (("x.pstats", "pstats"), ("x.speedscope.json", "speedscope")):
        profile, _ = imported(folder / name, format)
        rows = {row.name: row for row in function_rows(profile)}
        assert rows["main"].total_weight == pytest.approx(in_main, abs=1e5)


def test_statistics_of_cprofile(program: Path) -> None:
    folder = program.parent
    done(sys.executable, "-m", "cProfile", "-o", "x.prof", program, cwd=folder)
    stats = pstats.Stats(str(folder / "x.prof"))
    profile, info = imported(folder / "x.prof", "pstats")
    assert profile.total_weight == pytest.approx(stats.total_tt * 1e9, abs=1000)  # type: ignore[attr-defined]
    assert info.imported is not None
    assert info.imported.unit is Unit.NANOSECONDS


@pytest.mark.valgrind
def test_dumps_of_callgrind(tmp_path: Path) -> None:
    (dump,) = dumps_of([compiled(RECURSION, tmp_path / "recursion.c", "-O1")], tmp_path)
    profile, info = imported(dump, "callgrind")
    assert profile.total_weight == annotated_totals(dump)[1][0]
    assert info.imported is not None
    assert info.imported.tool.startswith("callgrind")
    own: Counter[str] = Counter()
    for function in read_callgrind(dump).functions:
        own[function.name.partition(":")[2]] += int(function.exclusive)
    rows: Counter[str] = Counter()
    for row in function_rows(profile):
        rows[row.name] += row.self_weight
    assert +rows == +own


NODE = """
function leaf(n) { let sum = 0; for (let i = 0; i < n; i++) sum += Math.sqrt(i); return sum }
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
let rounds = 0
const end = Date.now() + 300
while (Date.now() < end || rounds < 40) { leaf(200000); fib(22); rounds++ }
"""


@pytest.mark.npm
def test_cpu_profiles_of_node(tmp_path: Path) -> None:
    (tmp_path / "app.js").write_text(NODE, "utf-8")
    done("node", "--cpu-prof", "--cpu-prof-name=x.cpuprofile", "app.js", cwd=tmp_path)
    profile, info = imported(tmp_path / "x.cpuprofile", "cpuprofile")
    written = json.loads((tmp_path / "x.cpuprofile").read_text("utf-8"))
    names = {node["id"]: node["callFrame"]["functionName"] for node in written["nodes"]}
    own_us: Counter[str] = Counter()
    # A sample counts for the time until the next one, and the last one until the end.
    last_us = written["endTime"] - written["startTime"] - sum(written["timeDeltas"])
    for node, time_us in zip(written["samples"], [*written["timeDeltas"][1:], last_us], strict=True):
        own_us[names[node]] += max(0, time_us)
    rows = {row.name: row for row in function_rows(profile)}
    assert rows["leaf"].self_weight == 1000 * own_us["leaf"]
    assert rows["fib"].self_weight == 1000 * own_us["fib"]
    assert rows["fib"].file.endswith("/app.js")
    assert info.imported is not None
    assert info.imported.tool == "V8"


@pytest.mark.go
def test_profiles_of_go(tmp_path: Path) -> None:
    (tmp_path / "big.go").write_text(GO, "utf-8")
    done(
        "go",
        "tool",
        "compile",
        "-p",
        "big",
        "-cpuprofile",
        "cpu.pb.gz",
        "-o",
        "big.o",
        "big.go",
        cwd=tmp_path,
    )
    profile, info = imported(tmp_path / "cpu.pb.gz", "pprof")
    seen_s = profile.total_weight * profile.period_ns / 1e9
    shown = done("go", "tool", "pprof", "-top", "-unit=ms", "cpu.pb.gz", cwd=tmp_path)
    total = re.search(r"Total samples = ?([\d.]+)ms", shown)
    assert total is not None
    assert seen_s == pytest.approx(float(total[1]) / 1e3)
    assert abs(info.started_ns - (tmp_path / "cpu.pb.gz").stat().st_mtime_ns) < 60e9
    # Names of generic functions have spaces: (*HashTrieMap[go.shape.interface {}]).Load
    flat = re.findall(
        r"^ *([\d.]+)(?:ms)? +[\d.]+% +[\d.]+% +([\d.]+)(?:ms)? +[\d.]+%  (.+?)(?: \([a-z-]*inline\))?$",
        shown,
        re.MULTILINE,
    )
    rows = {row.name: row for row in function_rows(profile)}
    for own_ms, total_ms, name in flat[:10]:
        assert rows[name].self_weight * profile.period_ns / 1e6 == pytest.approx(float(own_ms))
        assert rows[name].total_weight * profile.period_ns / 1e6 == pytest.approx(float(total_ms))


@pytest.mark.go
def test_go_reads_what_profkit_writes(tmp_path: Path) -> None:
    builder = ProfileBuilder()
    main, other = Thread(7, 7, "MainThread"), Thread(7, 9, "loader; 0")
    run, step = Frame("run", "/app/a.py", 3), Frame("odd name;\u202e", "/app/b.py", 9)
    builder.add((run, step), main, 30)
    builder.add((run,), other, 12)
    (tmp_path / "x.pb.gz").write_bytes(pprof.encode(builder.build(period_ns=1e7)))
    top = done("go", "tool", "pprof", "-top", "-sample_index=samples", "x.pb.gz", cwd=tmp_path)
    assert re.search(r"^ *30 71\.43% .* odd name;\u202e$", top, re.MULTILINE)
    assert re.search(r"^ *12 28\.57%\s+100%\s+42\s+100%\s+run$", top, re.MULTILINE)
    raw = done("go", "tool", "pprof", "-raw", "x.pb.gz", cwd=tmp_path)
    labels = r" +thread:\[MainThread\]\n +pid:\[7\] tid:\[7\]\n"
    sample = re.search(rf"samples/count wall/nanoseconds\n +30 +300000000: (\d) \d *\n{labels}", raw)
    assert sample is not None
    assert re.search(rf"^ *{sample[1]}: .* odd name;", raw, re.MULTILINE)
    assert "thread:[loader; 0]" in raw
    # What pprof wrote again is read again.
    done("go", "tool", "pprof", "-proto", "-output=y.pb.gz", "x.pb.gz", cwd=tmp_path)
    again, _ = imported(tmp_path / "y.pb.gz", "pprof")
    assert not again.ordered
    assert sorted((again.threads[sample.thread], sample.weight) for sample in again.samples) == [
        (main, 30), (other, 12),
    ]  # fmt: skip


@pytest.mark.go
def test_call_graphs_of_go(tmp_path: Path) -> None:
    builder = ProfileBuilder()
    run, step = Frame("run", "/app/a.py", 3), Frame("step", "/app/b.py", 9)
    builder.add((run, step), Thread(7, 7, "MainThread"), 30)
    builder.add((run,), Thread(7, 7, "MainThread"), 12)
    (tmp_path / "x.pb.gz").write_bytes(pprof.encode(builder.build(period_ns=1e7)))
    done("go", "tool", "pprof", "-callgrind", "-unit=ms", "-output=x.out", "x.pb.gz", cwd=tmp_path)
    profile, _ = imported(tmp_path / "x.out", "callgrind")
    assert profile.unit is Unit.NANOSECONDS
    assert {row.name: (row.self_weight, row.total_weight) for row in function_rows(profile)} == {
        "run": (120_000_000, 420_000_000), "step": (300_000_000, 300_000_000),
    }  # fmt: skip


@pytest.mark.go
def test_go_shows_when_a_profile_was_recorded(tmp_path: Path) -> None:
    builder = ProfileBuilder()
    builder.add((Frame("run", "/app/a.py", 3),), Thread(7, 7, "MainThread"), 30)
    profile = builder.build(period_ns=1e7)
    span = TimeSpan(1_700_000_000 * 10**9, 1_500_000_000)
    (tmp_path / "x.pb.gz").write_bytes(pprof.encode_timed(profile, span))
    shown = done("go", "tool", "pprof", "-top", "x.pb.gz", cwd=tmp_path, TZ="UTC")
    assert "Time: Nov 14, 2023 at 10:13pm (UTC)" in shown or "Time: 2023-11-14 22:13:20 UTC" in shown
    assert "Duration: 1.50s, Total samples = 300ms (20.00%)" in shown
    assert imported(tmp_path / "x.pb.gz", "pprof")[1].started_ns == span.started_ns


@pytest.mark.go
def test_go_passes_over_stated_totals(tmp_path: Path) -> None:
    profile = call_graph_of(statistics_of([Call(FUNCTIONS[0], 10**9, (Call(FUNCTIONS[3], 2 * 10**9),))]))
    assert profile.totals
    (tmp_path / "x.pb.gz").write_bytes(pprof.encode(profile))
    top = done("go", "tool", "pprof", "-top", "x.pb.gz", cwd=tmp_path)
    assert re.search(r"^ *1s 33\.33% .* 3s +100%  main$", top, re.MULTILINE)
    assert "profkit.totals" not in top
    assert imported(tmp_path / "x.pb.gz", "pprof")[0] == profile
    # What pprof selects is not what the totals are about.
    done("go", "tool", "pprof", "-proto", "-focus=load", "-output=y.pb.gz", "x.pb.gz", cwd=tmp_path)
    assert imported(tmp_path / "y.pb.gz", "pprof")[0].totals == ()


PYTHON_NAMES = ("<module>", "<lambda>", "main.<locals>.step", "<listcomp>", "operator()(int)", "a<b>::c(d)")


@pytest.mark.go
def test_go_shows_names_as_they_are(tmp_path: Path) -> None:
    builder = ProfileBuilder()
    for number, name in enumerate(PYTHON_NAMES, 1):
        builder.add((Frame(name, "/app/a.py", number),), Thread(7, 7, "MainThread"), number)
    (tmp_path / "x.pb.gz").write_bytes(pprof.encode(builder.build(period_ns=1e7)))
    top = done("go", "tool", "pprof", "-top", "-sample_index=samples", "x.pb.gz", cwd=tmp_path)
    assert [line.rpartition("%  ")[2].strip() for line in top.splitlines()[-len(PYTHON_NAMES) :]] == [
        *reversed(PYTHON_NAMES)
    ]


def call_graph_programs(quick: Sequence[str]) -> list[ParameterSet]:
    """Names of programs: all but the quick ones need the extra `neighbours`, and take long."""
    marks = {name: [pytest.mark.neighbours, pytest.mark.full] for name in call_graphs.PROGRAMS}
    marks |= {name: [] for name in quick} | {"torch": [*marks["torch"], pytest.mark.torch]}
    return [pytest.param(name, marks=marks[name]) for name in sorted(marks)]


@pytest.mark.parametrize("name", call_graph_programs(call_graphs.QUICK))
def test_times_are_those_that_pstats_prints(name: str, tmp_path: Path) -> None:
    path = call_graphs.statistics_of(call_graphs.PROGRAMS[name], tmp_path)
    compared = call_graphs.compare(call_graphs.stated_by_pstats(path), call_graphs.shown(path))
    assert compared.large > 50
    assert compared.differing == ()


@pytest.mark.full
@pytest.mark.valgrind
@pytest.mark.parametrize("name", call_graph_programs(["json.tool"]))
def test_instructions_are_those_that_callgrind_annotate_prints(name: str, tmp_path: Path) -> None:
    path = call_graphs.dump_of(call_graphs.PROGRAMS[name], tmp_path)
    stated = call_graphs.stated_by_annotate(path)
    compared = call_graphs.compare(stated, call_graphs.shown(path))
    assert compared.large > 50
    assert compared.differing == ()
    # Python runs itself again and again: such totals are more than the whole.
    assert name != "json.tool" or max(cost.total for cost in stated.values()) > sum(
        cost.own for cost in stated.values()
    )


@pytest.mark.parametrize(
    ("text", "name", "library"),
    [
        ("f(char [1]) [clone .isra.0] [/usr/lib/a b.so]", "f(char [1]) [clone .isra.0]", "/usr/lib/a b.so"),
        ("f(char [1]) [clone .isra.0]", "f(char [1]) [clone .isra.0]", ""),
        ("0x0000000004936718'2 [???]", "0x0000000004936718'2", "???"),
        ("main", "main", ""),
    ],
)
def test_names_of_cpp_have_brackets_of_their_own(text: str, name: str, library: str) -> None:
    assert call_graphs.split_annotated(text) == (name, library)
