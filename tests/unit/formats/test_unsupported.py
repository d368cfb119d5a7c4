"""Files that are no profiles, or not of a known format: what they are, and what to do instead."""

from __future__ import annotations

import pickle
import time
from pathlib import Path

import pytest

from profkit.cli.files import runs_of_file
from profkit.errors import UsageError
from profkit.formats.unsupported import recognize
from tests.support.documents import format_named

FILES = {
    "perf.data": (b"PERFILE2" + bytes(100), "recording of perf", "perf script -i"),
    "go heap": (b"heap profile: 1: 2 [3: 4] @ heap/1024",
        "heap profile of Go or gperftools", "go tool pprof -proto"),
    "memray": (b"memray\0\x0b", "recording of memray", "memray transform speedscope"),
    "memray table": (b"allocator,num_allocations,size,tid,thread_name", "table of memray", "speedscope"),
    "memray graph": (b'{"version": 0, "costs": [{"description": "Memory", "unit": "bytes"}], "events": '
        b'[{"callchain": [0]',
        "graph for gprof2dot", "memray transform speedscope"),
    "tachyon": (b"HCAT\1\0\0\0", "profiling.sampling", "replay --gecko -o FILE.json"),
    "zstd": (b"\x28\xb5\x2f\xfd\0", "zstd", "zstd -d"),
    "xz": (b"\xfd7zXZ\0\0", "xz", "xz -dk"),
    "bzip2": (b"BZh91AY", "bzip2", "bzip2 -dk"),
    "zip": (b"PK\x03\x04\0", "ZIP", "unzip"),
    "sqlite": (b"SQLite format 3\0\0", "SQLite", "PROFKIT_STORE"),
    "jfr": (b"FLR\0\0", "Java Flight Recorder", "jfrconv"),
    "nettrace": (b"Nettrace!", ".NET", "dotnet-trace convert"),
    "elf": (b"\x7fELF\2", "program", "name a profile"),
    "v8 log": (b"v8-version,12,4\n", "log of V8", "--cpu-prof"),
    "massif": (b"desc: --time-unit=ms\ncmd: a\n", "massif", "callgrind"),
    "pickle": (b"\x80\x04\x95", "pickle", "another format"),
    "line_profiler": (b"\x80\x04\x95...line_profiler.LineStats", "pickle", "line_profiler has no stacks"),
    "flight recorder": (pickle.dumps({"version": "2.10", "entries": [], "pg_config": {}}),
        "flight recorder", "profkit dump FILE"),
    "flight recorder as JSON": (b'{"entries":[{"collective_seq_id":1}],"pg_config":{}}',
        "flight recorder", "profkit dump --job"),
    "pyinstrument page": (b"<!DOCTYPE html>\n<title>pyinstrument</title>",
        "pyinstrument", "-o FILE.pyisession"),
    "memray page": (b"<html><script>memray</script>", "memray", "transform"),
    "scalene page": (b"<html>scalene", "scalene", "py-spy record"),
    "svg": (b'<?xml version="1.0"?><svg width="3">', "flame graph as SVG", "py-spy record -f speedscope"),
    "xml": (b'<?xml version="1.0"?><a/>', "is XML", "py-spy record -f speedscope"),
    "sampling page": (b"<!doctype html><title>Tachyon Profiler</title><svg>",
        "profiling.sampling", "--gecko"),
    "viztracer page": (b'<html>{"viztracer_metadata": {}, "traceEvents": []}', "VizTracer", "viztracer -o"),
    "go goroutines": (b"goroutine profile: total 1\n1 @ 0x42d576\n#\t0x45\n", "profile of Go", "-proto"),
    "go contention": (b"--- contention:\ncycles/second=2\n", "profile of Go", "-proto"),
    "go threads": (b"threadcreate profile: total 5\n", "profile of Go", "debug 0"),
    "go trace": (b"go 1.19 trace\0\0\0", "execution trace of Go", "go tool trace -pprof=sched"),
    "go report": (b"File: app\nType: cpu\nTime: Nov 25, 2026\n", "report of go tool pprof", "profile itself"),
    "gperftools": ((0).to_bytes(8, "little") + (3).to_bytes(8, "little") + bytes(8) + b"\x10\x27" + bytes(14),
        "CPU profile of gperftools", "go tool pprof -proto -output=FILE.pb.gz PROGRAM FILE"),
    "jemalloc": (b"heap_v2/131072\n  t*: 592: 66547633 [0: 0]\n",
        "jemalloc", "jeprof --collapsed PROGRAM FILE"),
    "gmon": (b"gmon\1\0\0\0", "recording of gprof", "perf script > FILE.perf.txt"),
    "perf report": (b"# To display the perf.data header info, please", "report of perf", "perf script"),
    "perf stat": (b"\n Performance counter stats for './app':\n", "perf stat", "perf record -g"),
    "perf json": (b'{\n\t"linux-perf-json-version": 1,\n', "perf data convert", "perf script -i perf.data"),
    "perf without stacks": (b"  app 10422  2480.27:     250000 cpu-clock:      7fa9c7bec62a f+0xa "
        b"(/lib/ld.so)\n",
        "without stacks", "perf record -g"),
    "perf without events": (b"app 11383  2513.115501: \n\t            1176 fib+0x6 (/app)\n",
        "without events", "perf script > FILE.perf.txt"),
    "aggregated memray": (b"\x04\x22\x4d\x18@@\xc0\xe2N\0\0\xf8\x06memray", "memray", "memray transform"),
    "lz4": (b"\x04\x22\x4d\x18@@\xc0", "LZ4", "lz4 -dk"),
    "memray statistics": (b'{\n "total_num_allocations": 3}', "statistics of memray", "memray transform"),
    "pyinstrument text": (b"\n  _     ._   __/__   _ _  _  _ _/_   Recorded: 11:50:25  Samples:  330\n",
        "report of pyinstrument as text", "-o FILE.pyisession"),
    "plain svg": (b"<svg width='3'>", "flame graph as SVG", "-f raw"),
    "page": (b"<!doctype html><p>", "HTML", "export JSON"),
    "scalene": (b'{"alloc_samples": 3, "elapsed_time_sec": 2.0}', "scalene", "py-spy record"),
    "dhat": (b'{"dhatFileVersion":2}', "dhat", "callgrind"),
    "pytest-benchmark": (b'{"machine_info": {}, "benchmarks": []}', "pytest-benchmark", "profkit measure"),
    "pyperf": (b'{"benchmarks": [{"runs": []}], "metadata": {}}', "pyperf", "profkit measure"),
    "heap snapshot": (b'{"snapshot":{"meta":{}}}', "heap snapshot", "--cpu-prof"),
    "hprof": (b"JAVA PROFILE 1.0.1, created", "Java's hprof", "asprof -o collapsed -f FILE.collapsed"),
    "dtrace": (b"CPU     ID                    FUNCTION:NAME\n  1  29684                        :tick-60s \n",
        "DTrace", "stackcollapse.pl FILE > FILE.collapsed"),
    "xperf": (b"Process Name, Display Name, Process, Stack, Module,", "xperf", "speedscope"),
    "utf-16": ("a;b 3\n".encode("utf-16"), "UTF-16", "iconv -f UTF-16 -t UTF-8 FILE > FILE.txt"),
    "sleepy": (b"PK\x03\x04\x14\0 Stats.txt ... Callstacks.txt", "Very Sleepy", "Export as Callgrind"),
    "sysprof": (b"<profile>\n <size>8</size>\n <call_tree>1</call_tree>", "Sysprof", "perf record -g"),
    "graph": (b'{"version": 0, "costs": [{"description": "Samples"}], "functions": [], "events": []}',
        "graph for gprof2dot", "convert the recording"),
    "heap of v8": (b'{"head":{"callFrame":{"functionName":"(root)"},"selfSize":0}}',
        "heap profile of V8", "Ctrl+S"),
    "processed log": (b'{"code":[{"name":"f","type":"JS"}]}', "log of V8", "node --cpu-prof"),
    "firefox panel": (b'{"label":"a","duration":7.5,"markers":[],"frames":[]}',
        "former Performance panel", "Firefox Profiler"),
    "safari": (b'{"version":1,"recording":{"displayName":"x"}}', "Safari", "speedscope.app"),
    "ghc json": (b'{\n"program": "a",\n"rts_arguments": ["-pj"]}',
        "profile of GHC", "ghc-prof-aeson-flamegraph < FILE > FILE.collapsed"),
    "ghc": (b"\tThu Oct 25 Time and Allocation Profiling Report  (Final)\n",
        "profile of GHC", "stackcollapse-ghc -p FILE > FILE.collapsed"),
    "stackprof": (b'{"version":1.2,"mode":"wall","samples":4,"gc_samples":1,"missed_samples":0}',
        "stackprof", "stackprof --stackcollapse"),
    "instruments": (b"Weight\tSelf Weight\t\tSymbol Name\n96 Gc\n", "Instruments", "speedscope.app"),
    "gprof": (b"Flat profile:\n\nEach sample counts as 0.01 seconds.\n", "report of gprof", "perf script"),
    "gprof graph": (b"index  % time    self  children called     name\n", "report of gprof", "perf script"),
    "vtune": (b"Index  % CPU Time:Total  CPU Time:Self\n", "report of VTune", "stackcollapse-vtune.pl"),
    "pmcstat": (b"@ inst_retired.any [35705 samples]\n",
        "call graph of pmcstat", "stackcollapse-pmc.pl FILE > FILE.collapsed"),
    "papyrus": (b"Script_quest log opened (PC)\n500:PUSH:3053\n", "Papyrus", "speedscope.app"),
    "printed statistics": (b"         6 function calls (4 primitive calls) in 0.001 seconds\n",
        "pstats printed", "cProfile -o FILE.prof"),
    "line_profiler text": (b"Timer unit: 1e-06 s\n\nTotal time: 0.1 s\n", "line_profiler", "py-spy record"),
    "a bad line": (b"a;b 3\na;c 4\noops\na;d 5\n",
        "line 3 has no frames with a count: 'oops'", "remove such lines"),
    "hyperfine": (b'{"results": [{"command": "ls"}]}', "hyperfine", "profkit measure"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_named_with_the_way_out(tmp_path: Path, name: str) -> None:
    content, what, fix = FILES[name]
    file = tmp_path / "x"
    file.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        runs_of_file(file)
    assert str(file) in caught.value.problem
    assert what in caught.value.problem
    assert fix.replace("FILE", str(file)) in caught.value.fix


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"hello\n", b"<", b"\x80", b"a;b 3\n", b'{"benchmark": 1}'],
)  # fmt: skip
def test_other_content_is_unknown(content: bytes) -> None:
    assert recognize(content) is None


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"main 3\n", "collapsed"),
        (b"main (a.py:3) 5\nf (b.py:1) 2\n", "collapsed"),
        (b"operator new(unsigned long);f 3\n", "collapsed"),
        (b"main;f 1\ng 2\n", "collapsed"),
        (b"2026-11-25 12:00:03 worker started with pid 17\n2026-11-25 12:00:04 worker ended with 0\n", ""),
        (b"INFO step 1 loss 3\nINFO step 2 loss 2\n", ""),
        (b"total time 12\n", ""),
    ],
)
def test_stacks_are_recognized_and_lines_of_a_log_are_not(data: bytes, name: str) -> None:
    assert format_named(data) == name


def test_an_empty_file_has_no_format(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    with pytest.raises(UsageError, match="is empty"):
        runs_of_file(tmp_path / "x", "collapsed")


@pytest.mark.parametrize(
    "piece",
    [b"1", b" ", b"a ", b" 1", b"a;", b"a; 1 ", b"1.1: ", b"\n", b'"', b'"costs":[', b"<", b"# ",
     b"a 1 1.1: 1 a: "],
)  # fmt: skip
def test_no_content_takes_long(piece: bytes) -> None:
    started_s = time.perf_counter()
    for beginning in (b"", b"{", b'{"label":', b"a", b"File: "):
        recognize(beginning + piece * (1 << 17))
    assert time.perf_counter() - started_s < 5
