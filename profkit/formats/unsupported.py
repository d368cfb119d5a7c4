"""Files that people try to import, but profkit does not read: what they are, and what to do instead."""

from __future__ import annotations

import re
from typing import NamedTuple

_HEAD = 1 << 16
"""Number of bytes that are searched for the marks of texts and documents."""


class Unsupported(NamedTuple):
    """What a file is, as the end of a sentence, and the command or option that makes one that is read."""

    what: str
    fix: str


_COMPRESSED = "decompress it first: {} FILE"
_RECORD = "record again with `py-spy record -f speedscope`"
_NATIVE = "record with `perf record -g`, then: perf script > FILE.perf.txt"
_SPEEDSCOPE = "open it in https://www.speedscope.app and press Ctrl+S, which saves a .speedscope.json"
_COLLAPSE = "convert it with {0} of FlameGraph: {0} FILE > FILE.collapsed"
_NODE = "record a profile of time: node --cpu-prof"
_LZ4 = Unsupported("is compressed by LZ4", _COMPRESSED.format("lz4 -dk"))
_GO_TEXT = Unsupported(
    "is a profile of Go as text", "convert it: go tool pprof -proto -output=FILE.pb.gz FILE"
)
_HEAP_TEXT = Unsupported(
    "is a heap profile of Go or gperftools as text",
    "convert it: go tool pprof -proto -output=FILE.pb.gz PROGRAM FILE; Go's need no PROGRAM",
)
_MEMRAY = Unsupported("is a recording of memray", "convert it: memray transform speedscope FILE")
_FLIGHT_RECORDER = "is a dump of torch.distributed's flight recorder, which has collectives but no profile"
_DUMPS = "show those of all ranks: profkit dump FILE ...; while the job hangs: profkit dump --job"
_UTF_16 = Unsupported("is text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE > FILE.txt")

_BEGINNINGS: tuple[tuple[bytes, Unsupported], ...] = (
    (b"PERFILE2", Unsupported(
        "is a recording of perf", "convert it: perf script -i FILE > FILE.perf.txt")),
    (b"2ELIFREP", Unsupported(
        "is a recording of perf on a machine of other byte order", "convert it there: perf script -i FILE")),
    (b"heap profile:", _HEAP_TEXT),
    (b"heap_v2/", Unsupported(
        "is a heap profile of jemalloc", "convert it: jeprof --collapsed PROGRAM FILE > FILE.collapsed")),
    # https://gperftools.github.io/gperftools/cpuprofile-fileformat.html
    (bytes(8) + b"\3" + bytes(15), Unsupported(
        "is a CPU profile of gperftools",
        "convert it: go tool pprof -proto -output=FILE.pb.gz PROGRAM FILE")),
    (b"memray", _MEMRAY),
    (b"allocator,num_allocations,size,", Unsupported(
        "is a table of memray", "convert the recording instead: memray transform speedscope")),
    (b"HCAT", Unsupported(
        "is a binary recording of profiling.sampling",
        "convert it: python -m profiling.sampling replay --gecko -o FILE.json FILE")),
    (b"\x28\xb5\x2f\xfd", Unsupported("is compressed by zstd", _COMPRESSED.format("zstd -d"))),
    (b"\xfd7zXZ\0", Unsupported("is compressed by xz", _COMPRESSED.format("xz -dk"))),
    (b"BZh", Unsupported("is compressed by bzip2", _COMPRESSED.format("bzip2 -dk"))),
    (b"SQLite format 3\0", Unsupported(
        "is an SQLite database", "for a store of profkit, set PROFKIT_STORE=sqlite:///FILE; for a report of "
        "Nsight Systems, export a trace of torch.profiler instead")),
    (b"FLR\0", Unsupported(
        "is a recording of Java Flight Recorder", "convert it: jfrconv -o collapsed FILE")),
    (b"Nettrace", Unsupported(
        "is a trace of .NET", "convert it: dotnet-trace convert --format Speedscope FILE")),
    (b"\x7fELF", Unsupported("is a program or library", "name a profile of it")),
    (b"v8-version,", Unsupported(
        "is a log of V8", "record a profile instead: node --cpu-prof, which writes FILE.cpuprofile")),
    (b"desc: ", Unsupported(
        "is a report of Valgrind's massif", "it has no times; valgrind --tool=callgrind writes a profile")),
    (b"JAVA PROFILE ", Unsupported(
        "is a profile of Java's hprof",
        "record with async-profiler: asprof -o collapsed -f FILE.collapsed PID")),
    (b"CPU     ID                    FUNCTION:NAME", Unsupported(
        "is output of DTrace", _COLLAPSE.format("stackcollapse.pl"))),
    (b"Process Name, Display Name, Process, Stack,", Unsupported(
        "is a table of Windows Performance Toolkit (xperf)",
        "open the recording in PerfView and save it as speedscope")),
    (b"\xff\xfe", _UTF_16),
    (b"\xfe\xff", _UTF_16),
    (b"gmon", Unsupported("is a recording of gprof, which has no stacks", _NATIVE)),
    (b"# To display the perf.data header info", Unsupported(
        "is a report of perf", "write the samples: perf script > FILE.perf.txt")),
    *((text, _GO_TEXT) for text in (
        b"goroutine profile:", b"--- contention:", b"--- mutex:")),
    (b"threadcreate profile:", Unsupported(
        "is a profile of Go as text", "write it with debug 0: pprof.Lookup(NAME).WriteTo(writer, 0)")),
)  # fmt: skip
_PAGE = Unsupported("is an HTML page", f"{_RECORD}, or export JSON from the tool that made it")
_ARCHIVE = Unsupported("is a ZIP archive", "extract the profile: unzip FILE")
_SLEEPY_PART = b"Callstacks.txt"
_SLEEPY = Unsupported("is a profile of Very Sleepy", "open it there, and choose File, Export as Callgrind")
_MARKUP: tuple[tuple[bytes, Unsupported], ...] = (
    (b"pyinstrument", Unsupported(
        "is an HTML report of pyinstrument", "write a session: pyinstrument -o FILE.pyisession")),
    (b"heap profile:", _HEAP_TEXT),
    (b"memray", Unsupported(
        "is an HTML report of memray", "convert the recording: memray transform speedscope")),
    (b"scalene", Unsupported("is an HTML report of scalene, which has no stacks", _RECORD)),
    (b"speedscope", Unsupported(
        "is an HTML page with a profile for speedscope", "import the JSON inside it")),
    (b"viztracer", Unsupported("is an HTML page of VizTracer", "write JSON: viztracer -o FILE.json PROGRAM")),
    (b"tachyon", Unsupported(
        "is an HTML page of profiling.sampling", "record or replay with --gecko, --pstats or --collapsed")),
    (b"profkit", Unsupported(
        "is an HTML report of profkit", "export the run: profkit export RUN -o FILE.profkit.json")),
    (b"<svg", Unsupported("is a flame graph as SVG, which has no exact weights",
                          f"{_RECORD}, or with -f raw")),
    (b"<?xml", Unsupported("is XML", _RECORD)),
    (b"<call_tree", Unsupported("is a profile of Sysprof as XML", _NATIVE)),
    (b"<html", _PAGE),
    (b"<!doctype html", _PAGE),
)  # fmt: skip
_GRAPH = re.compile(
    rb'"costs"\s*:\s*\[[^\]]{0,200}\]\s*,\s*(?:"functions"|"events"\s*:\s*\[\s*\{\s*"callchain")'
)
_FIREFOX_PANEL = re.compile(
    rb'^\s*\{\s*"label"\s*:[^\n]{0,100},\s*"duration"\s*:[^\n]{0,100},\s*"markers"\s*:'
)
_DOCUMENTS: tuple[tuple[re.Pattern[bytes], Unsupported], ...] = (
    (re.compile(rb'"elapsed_time_sec"|"max_footprint_mb"'), Unsupported(
        "is a profile of scalene, which has no stacks", _RECORD)),
    (re.compile(rb'^\{"type":\s*"meta",.*"sample_interval_usec"'), Unsupported(
        "is JSON lines of profiling.sampling, which have no stacks",
        "record or replay with --gecko, --pstats or --collapsed")),
    (_GRAPH, Unsupported(
        "is a graph for gprof2dot, without lines",
        "convert the recording instead, such as: memray transform speedscope")),
    (re.compile(rb'"dhatFileVersion"'), Unsupported(
        "is a report of Valgrind's dhat", "it has no times; valgrind --tool=callgrind writes a profile")),
    (re.compile(rb'"collective_seq_id"|"pg_config"'), Unsupported(_FLIGHT_RECORDER, _DUMPS)),
    (re.compile(rb'"machine_info"[\s\S]*"benchmarks"|"benchmarks"[\s\S]*"machine_info"'), Unsupported(
        "has results of pytest-benchmark, not a profile", "measure with `profkit measure`")),
    (re.compile(rb'^\s*\{\s*"benchmarks"'), Unsupported(
        "has results of pyperf, not a profile", "measure with `profkit measure`")),
    (re.compile(rb'"snapshot"\s*:\s*\{\s*"meta"'), Unsupported(
        "is a heap snapshot of V8", "record a profile of time: node --cpu-prof")),
    (re.compile(rb'^\s*\{\s*"results"\s*:\s*\[\s*\{\s*"command"'), Unsupported(
        "has results of hyperfine, not a profile", "measure with `profkit measure`")),
    (re.compile(rb'^\s*\{\s*"head"\s*:\s*\{\s*"callFrame"'), Unsupported(
        "is a heap profile of V8", f"{_SPEEDSCOPE}; for time: node --cpu-prof")),
    (re.compile(rb'"linux-perf-json-version"'), Unsupported(
        "is JSON of perf data convert", "convert the recording: perf script -i perf.data > FILE.perf.txt")),
    (re.compile(rb'^\s*\{\s*"total_num_allocations"'), Unsupported(
        "has statistics of memray, not a profile", "convert the recording: memray transform speedscope")),
    (re.compile(rb'^\s*\{\s*"code"\s*:\s*\['), Unsupported("is a log of V8, processed", _NODE)),
    (_FIREFOX_PANEL, Unsupported(
        "is a recording of Firefox's former Performance panel",
        f"record with the Firefox Profiler, or {_SPEEDSCOPE}")),
    (re.compile(rb'^\s*\{\s*"version"\s*:\s*\d+\s*,\s*"recording"\s*:\s*\{'), Unsupported(
        "is a recording of Safari's timelines", _SPEEDSCOPE)),
    (re.compile(rb'"rts_arguments"\s*:'), Unsupported(
        "is a profile of GHC as JSON",
        f"convert it: ghc-prof-aeson-flamegraph < FILE > FILE.collapsed; or {_SPEEDSCOPE}")),
    (re.compile(rb'"gc_samples"\s*:\s*\d+\s*,\s*"missed_samples"\s*:'), Unsupported(
        "is a report of stackprof as JSON",
        f"convert the dump: stackprof --stackcollapse FILE.dump > FILE.collapsed; or {_SPEEDSCOPE}")),
)  # fmt: skip
_TEXTS: tuple[tuple[re.Pattern[bytes], Unsupported], ...] = (
    (re.compile(rb"^[\w \t()]{0,80}\tSymbol Name"), Unsupported(
        "is a copy of a table of Instruments", _SPEEDSCOPE)),
    (re.compile(rb"^\s*Flat profile:|^\s*call graph profile:|^index +% time +self|gprof\.callg"), Unsupported(
        "is a report of gprof, which has no stacks", _NATIVE)),
    (re.compile(rb"^Index +% CPU Time:Total"), Unsupported(
        "is a report of VTune, which has no stacks",
        "write its top-down tree as CSV and convert it: stackcollapse-vtune.pl FILE.csv > FILE.collapsed")),
    (re.compile(rb"^\s*# started on .*|^\s*Performance counter stats for"), Unsupported(
        "has counts of perf stat, not a profile", _NATIVE)),
    (re.compile(rb"^.{1,80} \d{1,10} +\d{1,12}\.\d{1,9}: +\d{1,18} \S{1,80}: +[0-9a-f]{1,16} "), Unsupported(
        "is output of perf script without stacks", "record again with `perf record -g`")),
    (re.compile(rb"^\S.{1,120}\d\.\d{1,9}: *\n\s+[0-9a-f]{1,16} \S"), Unsupported(
        "is output of perf script without events", "write it again: perf script > FILE.perf.txt")),
    (re.compile(rb"^go 1\.\d+ trace\0"), Unsupported(
        "is an execution trace of Go",
        "extract a profile: go tool trace -pprof=sched FILE > FILE.pb.gz; or take one with runtime/pprof")),
    (re.compile(rb"^(?:File: .*\n)?(?:Build ID: .*\n)?Type: \w+\n(?:Time: .*\n)?"), Unsupported(
        "is a report of go tool pprof", "name the profile itself")),
    (re.compile(rb"^\s*_ +\._ +__/__ .*Recorded:"), Unsupported(
        "is a report of pyinstrument as text", "write a session: pyinstrument -o FILE.pyisession")),
    (re.compile(rb"^@ \S+ \[\d+ samples\]"), Unsupported(
        "is a call graph of pmcstat", _COLLAPSE.format("stackcollapse-pmc.pl"))),
    (re.compile(rb"^(?:Stack_|Script_|Obj_)\S+ log opened"), Unsupported("is a log of Papyrus", _SPEEDSCOPE)),
    (re.compile(rb"Time and Allocation Profiling Report"), Unsupported(
        "is a profile of GHC", "convert it: stackcollapse-ghc -p FILE > FILE.collapsed")),
    (re.compile(rb"function calls (?:\(\d+ primitive calls\) )?in \d+\.\d+ (?:CPU )?seconds"), Unsupported(
        "is text that the module pstats printed", "write a file: python -m cProfile -o FILE.prof")),
    (re.compile(rb"^Wrote profile results to|^Timer unit: .* s$", re.MULTILINE), Unsupported(
        "is a report of line_profiler, which has no stacks", _RECORD)),
)  # fmt: skip
_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_MARKED = re.compile(rb"\s*<")


def recognize(data: bytes) -> Unsupported | None:
    """Return what a file is that has no known format, and how to get one that has; None if unknown."""
    head = data[:_HEAD]
    for beginning, known in _BEGINNINGS:
        if head.startswith(beginning):
            return known
    if head.startswith(b"PK\x03\x04"):
        return _SLEEPY if _SLEEPY_PART in data[-_HEAD:] else _ARCHIVE
    if _PICKLE.match(head):
        if b"pg_config" in head or b"collective_seq_id" in head:
            return Unsupported(_FLIGHT_RECORDER, _DUMPS)
        of_lines = b"line_profiler" in head
        return Unsupported(
            "is a pickle, which can run any code when it is read",
            "line_profiler has no stacks; " + _RECORD if of_lines else "export it in another format",
        )
    if _MARKED.match(head):
        lower = data[: 1 << 22].lower()
        return next((known for mark, known in _MARKUP if mark in lower), None)
    # memray compresses its recordings with LZ4, whose frame begins with 04 22 4D 18.
    if head.startswith(b"\x04\x22\x4d\x18"):
        return _MEMRAY if b"memray" in head[:64] else _LZ4
    known_texts = (known for pattern, known in (*_DOCUMENTS, *_TEXTS) if pattern.search(head))
    return next(known_texts, None) or _stacks_without_count(head)


_STACK = re.compile(rb"[^\s;#][^;]*;.*\s\d{1,18}\s*")


def _stacks_without_count(head: bytes) -> Unsupported | None:
    """Return that most lines are collapsed stacks, with the first line that is not; None if they are not."""
    numbered = enumerate(head.splitlines(), 1)
    lines = [(number, line) for number, line in numbered if line.strip() and line[:1] != b"#"]
    others = [(number, line) for number, line in lines if not _STACK.fullmatch(line)]
    if not others or 2 * len(others) > len(lines):
        return None
    number, line = others[0]
    shown = line[:60].decode("utf-8", "replace")
    what = f"has collapsed stacks, but line {number} has no frames with a count: {shown!r}"
    return Unsupported(what, "remove such lines, or write the file again")
