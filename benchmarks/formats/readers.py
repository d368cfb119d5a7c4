"""Independent readers of profiles: the tools themselves, gprof2dot and speedscope.

gprof2dot is imported if it is installed; the others are programs on PATH.
"""

from __future__ import annotations

import importlib
import io
import marshal
import os
import pstats
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path

from benchmarks.formats.costs import Costs
from profkit.model.profile import Profile
from profkit.units import Unit

_TIMEOUT_S = 300
_BUILT_IN = "~"
"""File of built-in functions in the statistics of cProfile."""


def read_pstats(file: Path, profile: Profile) -> Costs:
    """Return what the module `pstats` reports; recursive calls are counted once in its cumulative times."""
    stats = marshal.loads(file.read_bytes())
    # profiling.sampling adds a marker, which only its own reader knows.
    if stats.pop(("__sampled__",), None) is None:
        stats = vars(pstats.Stats(str(file)))["stats"]
    # Sampled statistics have whole samples, whose period profkit knows.
    second = 1e9 / profile.period_ns if profile.unit is Unit.SAMPLES and profile.period_ns else 1e9
    keys = Counter(_key(path, name) for path, _, name in stats)
    functions = {
        _key(path, name): (own_s * second, total_s * second)
        for (path, _, name), (_, _, own_s, total_s, _) in stats.items()
        if keys[_key(path, name)] == 1  # of profkit's rows, one may be several of these
    }
    total_s = sum(values[2] for values in stats.values())
    return Costs("pstats", total_s * second, functions, _with_file, least=len(stats))


def _key(path: str, name: str) -> str:
    return name if path == _BUILT_IN else f"{name} {path}"


def _with_file(name: str, file: str) -> str:
    return f"{name} {file}".strip()


_NO_FILE = "???"


def _place(name: str, file: str) -> str:
    return f"{file or _NO_FILE}:{name}"


_ROW = re.compile(r"^ *([\d,]+)  (.*?)(?: \[([^\]]*)\])?$")


def read_callgrind(file: Path, profile: Profile) -> Costs | None:
    """Return what `callgrind_annotate` prints for the event that profkit imports; None if it cannot."""
    event = _event(file)
    annotate = ["callgrind_annotate", "--threshold=100", "--auto=no", "--show-percs=no", f"--show={event}"]
    own, total = (_annotated([*annotate, f"--sort={event}", option, str(file.resolve())])
                  for option in ("--inclusive=no", "--inclusive=yes"))  # fmt: skip
    if "PROGRAM TOTALS" not in total:
        return None
    program = total.pop("PROGRAM TOTALS")
    functions = {name: (own.get(name, 0), count) for name, count in total.items()}
    return Costs("callgrind_annotate", program, functions, _place)


def _event(file: Path) -> str:
    """Return the name of the event that is imported by default."""
    selected = re.search(r"^events: *(.*)$", file.read_text("utf-8", "replace"), re.MULTILINE)
    events = selected[1].split() if selected else []
    return "Ir" if "Ir" in events else next(iter(events), "Ir")


def _annotated(command: list[str]) -> dict[str, float]:
    done = subprocess.run(
        command,
        cwd="/",
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    counts: dict[str, float] = {}
    for line in done.stdout.decode("utf-8", "surrogateescape").splitlines():
        if match := _ROW.fullmatch(line):
            # profkit shows the shared object of functions without a file.
            known = match[2].removeprefix(f"{_NO_FILE}:")
            name = f"{match[3]}:{known}" if known != match[2] and match[3] else match[2]
            counts[name] = counts.get(name, 0) + int(match[1].replace(",", ""))
    return counts


_ADDRESS = re.compile(r"[0-9a-f]{6,16}")
"""Name of gprof2dot for what has no symbol, which profkit calls `[unknown]`."""
_GPROF2DOT = {"perf-script": "PerfParser", "callgrind": "CallgrindParser", "collapsed": "CollapseParser"}


def read_gprof2dot(file: Path, profile: Profile, format: str) -> Costs | None:
    """Return what gprof2dot reads; None if it is not installed, or cannot read the file."""
    try:
        reader = importlib.import_module("gprof2dot")
    except ImportError:
        return None
    vars(reader)["totalMethod"] = "callstacks"
    vars(reader).setdefault("compat_itervalues", dict.values)  # which its reader of collapsed stacks lacks
    content = file.read_text("utf-8", "surrogateescape")
    text = io.StringIO(_of_first_event(content) if format == "perf-script" else content)
    with redirect_stderr(io.StringIO()):
        try:
            parsed = getattr(reader, _GPROF2DOT[format])(text).parse()
        except (AssertionError, AttributeError, LookupError, TypeError, ValueError, SystemExit):
            return None
    samples, total = reader.SAMPLES, reader.TOTAL_SAMPLES
    functions = {
        function.name: (
            float(function.events.get(samples, 0)),
            # Of call graphs, it computes totals from proportions.
            None if format == "callgrind" else float(function.events.get(total, 0)),
        )
        for function in parsed.functions.values()
        if not _ADDRESS.fullmatch(function.name)
    }
    return Costs("gprof2dot", float(parsed.events.get(samples, 0)), functions)


_UNITS = {Unit.NANOSECONDS: "ns", Unit.BYTES: "B"}
_EVENT = re.compile(r"(\S+?): *$", re.MULTILINE)


def _of_first_event(text: str) -> str:
    """Return the samples of the first event, since gprof2dot adds all up."""
    lines = (line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    samples = [sample for sample in "".join(lines).split("\n\n") if sample.strip()]
    events = [match[1] if (match := _EVENT.search(sample)) else "" for sample in samples]
    return "".join(
        f"{sample}\n\n" for sample, event in zip(samples, events, strict=True) if event == events[0]
    )


_FLAT = re.compile(
    r"^ *([\d.]+)([a-zµ]*) +[\d.]+% +[\d.]+% +([\d.]+)([a-zµ]*) +[\d.]+%  (.+?)(?: \([a-z-]*inline\))?$",
    re.IGNORECASE,
)


def read_pprof(file: Path, profile: Profile) -> Costs | None:
    """Return what `go tool pprof -top` prints, in units that it does not round; None if it cannot."""
    unit = _UNITS.get(profile.unit, "ns" if profile.period_ns else "count")
    command = [
        "go",
        "tool",
        "pprof",
        "-top",
        "-nodecount=100000",
        "-nodefraction=0",
        f"-unit={unit}",
    ]
    done = subprocess.run(
        [*command, str(file)], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    total = re.search(r"Total samples = ?([\d.]+)|accounting for .* of ([\d.]+)", done.stdout)
    if done.returncode or total is None:
        return None
    factor = 1 / profile.period_ns if profile.period_ns else 1.0
    functions = dict(_flat_rows(done.stdout, factor))
    return Costs("go tool pprof", float(total[1] or total[2]) * factor, functions, tolerance=1e-6)


def _flat_rows(text: str, factor: float) -> Iterator[tuple[str, tuple[float, float | None]]]:
    for line in text.splitlines():
        if match := _FLAT.fullmatch(line):
            yield match[5], (float(match[1]) * factor, float(match[3]) * factor)


_MILLISECONDS = re.compile(r".*\(ms\)")
_NAMED = re.compile(r"(\(\d+\))(?: (.*))?")


def read_dump(file: Path, profile: Profile) -> Costs | None:
    """Return the own costs of functions by name, of the first event; None for an event in another unit."""
    own: defaultdict[str, float] = defaultdict(float)
    names: dict[str, str] = {}
    positions, event, function, skipped = 1, "", "", False
    for line in file.read_text("utf-8", "surrogateescape").splitlines():
        key, _, value = line.partition("=")
        if line.startswith("positions:"):
            positions = len(line.split()) - 1
        elif line.startswith("events:"):
            event = line.split()[1]
        elif key in ("fn", "cfn"):
            if (match := _NAMED.fullmatch(value)) is not None:
                value = names.setdefault(match[1], match[2] or "")
            function = value if key == "fn" else function
        elif key == "calls":
            skipped = True
        elif line[:1] and line[0] in "+-*0123456789":
            costs = line.split()[positions:]  # costs of 0 may be missing at the end
            own[function] += float(costs[0]) if costs and not skipped else 0
            skipped = False
    if profile.unit is Unit.NANOSECONDS and not _MILLISECONDS.fullmatch(event):
        return None
    factor = 1e6 if profile.unit is Unit.NANOSECONDS else 1.0
    functions = {name: (cost * factor, None) for name, cost in own.items()}
    return Costs("sums of lines", sum(own.values()) * factor, functions)
