"""A CPU-bound script under profilers of whole programs: slowdown of its work, and what they add to a run.

The script prints the time of its own work, so the slowdown excludes the start and end of each profiler. The
additional time of the whole command includes them. Each command alternates with the plain script, and the
commands with one another. Each profiler has its defaults, except that py-spy and profkit write no
page, and that scalene leaves out memory, with which it takes minutes and gigabytes for this script.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import fsum
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks import work
from benchmarks.children import environment, output_of
from benchmarks.figures import Figure
from benchmarks.pairs import median_figure, ratio_figure

_WORK_S, _ROUNDS = 2.0, 15
_BOUNDED_PAIRS = 3
"""Pairs in each round of a profiler whose slowdown has a bound: a narrow interval needs many."""
_LEAST_HZ = 95.0
_PATH = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
_PYSPY = ("-f", "raw", "-o", "pyspy.txt")
_HAS_TACHYON = sys.version_info >= (3, 15)
_MAIN = """

if __name__ == "__main__":
    import sys

    print(timed_s(pure_python, int(sys.argv[1])))
"""

Taken = tuple[float, float]
"""Time of the work, and of the whole command, in seconds."""


@dataclass(frozen=True, slots=True)
class Profiler:
    """A command that profiles a script."""

    name: str
    prefix: tuple[str, ...]
    """What precedes the script; the first word is a program, or `-m` for a module of Python's."""
    bound: float | None = None


def measure(quick: bool) -> list[Figure]:
    """Measure the slowdown by each profiler, and the additional time of the command."""
    rounds = work.rounds_for(0.05 if quick else _WORK_S)
    Path("script.py").write_text(Path(work.__file__).read_text("utf-8") + _MAIN, "utf-8")
    script = ("script.py", str(rounds))
    profilers = _profilers()
    taken: dict[str, list[tuple[Taken, Taken]]] = {profiler.name: [] for profiler in profilers}
    for number in range(2 if quick else _ROUNDS):
        for profiler in profilers:
            for again in range(1 if profiler.bound is None else _BOUNDED_PAIRS):
                first = bool((number + again) % 2)
                taken[profiler.name].append(_pair(profiler.prefix, script, plain_first=first))
    slowed = [_slowdown(profiler, taken[profiler.name]) for profiler in profilers]
    return slowed + [_added(name, pairs) for name, pairs in taken.items()] + _own_figures()


def _pair(prefix: Sequence[str], script: Sequence[str], *, plain_first: bool) -> tuple[Taken, Taken]:
    """Run the script with and without a profiler."""
    if plain_first:
        plain = _run((), script)
        return _run(prefix, script), plain
    return _run(prefix, script), _run((), script)


def _slowdown(profiler: Profiler, pairs: Sequence[tuple[Taken, Taken]]) -> Figure:
    works = [(profiled[0], plain[0]) for profiled, plain in pairs]
    return ratio_figure(f"{profiler.name} ÷ plain: the work", works, profiler.bound)


def _added(name: str, pairs: Sequence[tuple[Taken, Taken]]) -> Figure:
    """Return what a profiler adds to the whole command besides its slowdown of the work."""
    added_ms = [1e3 * ((profiled[1] - profiled[0]) - (plain[1] - plain[0])) for profiled, plain in pairs]
    return median_figure(f"{name} - plain: start and end", added_ms, "ms")


def _profilers() -> list[Profiler]:
    """Return the profilers that are installed, after the plain script, which shows the machine's noise."""
    found = [
        Profiler("plain script", ()),
        Profiler("profkit run", ("-m", "profkit", "run", "-q"), 1.03 if _HAS_TACHYON else 1.05),
        Profiler("py-spy record, 100 Hz", ("py-spy", "record", *_PYSPY, "--", sys.executable)),
        Profiler("pyinstrument, 1,000 Hz", ("-m", "pyinstrument", "-r", "json", "-o", "pyinstrument.json")),
        Profiler("scalene --cpu-only", ("-m", "scalene", "run", "--cpu-only", "-o", "scalene.json")),
        Profiler("cProfile", ("-m", "cProfile", "-o", "cprofile.pstats")),
    ]
    if _HAS_TACHYON:
        collecting = ("--collapsed", "-o", "tachyon.txt")
        found.append(Profiler("Tachyon, 1,000 Hz", ("-m", "profiling.sampling", "run", *collecting)))
    return [profiler for profiler in found if _is_installed(profiler.prefix)]


def _is_installed(prefix: Sequence[str]) -> bool:
    if not prefix:
        return True
    if prefix[0] == "-m":
        return find_spec(prefix[1].partition(".")[0]) is not None
    return shutil.which(prefix[0], path=_PATH) is not None


def _run(prefix: Sequence[str], script: Sequence[str]) -> Taken:
    start_s = perf_counter()
    command = [*prefix, *script] if prefix and prefix[0] != "-m" else [sys.executable, *prefix, *script]
    environ = environment() | {"PATH": _PATH}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    taken_s = perf_counter() - start_s
    printed = (line for line in done.stdout.splitlines() if line.replace(".", "", 1).isdigit())
    return float(next(printed)), taken_s


def _own_figures() -> list[Figure]:
    """Return the rate that profkit achieved and its share of torn stacks, over all runs."""
    runs = json.loads(output_of(["-m", "profkit", "list", "--json"], environment()))["runs"]
    achieved_hz = median(run["sampler"]["rate_achieved_hz"] for run in runs)
    samples, torn = (fsum(run[name] for run in runs) for name in ("samples", "torn"))
    names = ", ".join(sorted({run["sampler"]["name"] for run in runs}))
    return [
        Figure(f"profkit run ({names}): time between samples", 1e3 / achieved_hz, "ms", 1e3 / _LEAST_HZ,
               certain=True, detail=f"{achieved_hz:.0f} Hz achieved, {len(runs)} runs"),
        Figure("profkit run: torn stacks", 100 * torn / (samples + torn), "%",
               detail=f"{torn:.0f} of {samples + torn:,.0f}"),
    ]  # fmt: skip
