"""Commands on the largest runs: reports of two million lines, JSON, comparisons and imports.

Times are processor times of whole commands: Python's start, the store, the result, and its output. Those on
a profile of a million samples are also compared with `go tool pprof -top` on the same profile.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from benchmarks.children import environment, output_of
from benchmarks.figures import Figure
from benchmarks.made_profiles import made_profile, made_profile_of_lines, run_of
from benchmarks.pairs import median_figure
from benchmarks.report_commands import DEPTH, STACKS_PART, run_command, taken_by
from profkit.config import CONFIG
from profkit.model.run import Run
from profkit.store.files import make_folder
from profkit.store.runs import open_store

_SAMPLES = 1_000_000
_FILE_BYTES = 300_000_000
_FILE = Path("large.speedscope.json")
_FRAMES, _STACKS = 200_000, 100_000
_MEGABYTE = 1e6
_COMMANDS: Mapping[str, tuple[tuple[str, ...], float | None, float | None]] = {
    "two million lines, text": (("report", "lines"), 6.0, 600.0),
    "two million lines, html": (("report", "lines", "--html", "-o", "report.html"), 8.0, 600.0),
    "JSON": (("report", "a", "--json"), 10.0, 500.0),
    "JSON, --limit 20 --depth 30": (("report", "a", "--json", "--limit", "20", "--depth", "30"), 10.0, 500.0),
    "comparison": (("compare", "a", "b"), 15.0, None),
    # Only the first command stores the file; that takes little of the memory.
    "import of 300 MB": (("import", str(_FILE)), None, 1500.0),
}
"""Arguments, and bounds of seconds and megabytes."""
_EXPORTED = Path("a.pb.gz")
_RATIOS: Mapping[str, tuple[tuple[str, ...], float]] = {
    "text": (("report", "a"), 0.15),
    "page": (("report", "a", "--html", "-o", "a.html"), 0.2),
    "JSON": (("report", "a", "--json"), 0.4),
    "comparison": (("compare", "a", "b"), 0.4),
    "import": (("import", str(_EXPORTED)), 0.2),
}
"""Arguments, and bounds of the processor time as a part of that of `go tool pprof -top`."""


def measure(quick: bool) -> list[Figure]:
    """Measure each command's processor time and peak memory."""
    part = 100 if quick else 1
    # In a separate process: this process's peak memory would count for its children, too.
    output_of(["-m", "benchmarks.large_runs", str(part)], environment())
    figures = [figure for name in _COMMANDS for figure in _figures(name, quick)]
    return figures if shutil.which("go") is None else [*figures, *_beside_pprof(quick)]


def _beside_pprof(quick: bool) -> Iterator[Figure]:
    """Yield processor times as parts of that of pprof; both take turns, since the machine may be busy."""
    run_command(["export", "a", "-o", str(_EXPORTED)])
    ratios: dict[str, list[float]] = {name: [] for name in _RATIOS}
    for _ in range(2 if quick else 6):
        pprof_s = taken_by(["go", "tool", "pprof", "-top", str(_EXPORTED)], environment()).cpu_s
        for name, (arguments, _) in _RATIOS.items():
            ratios[name].append(run_command(arguments).cpu_s / pprof_s)
    for name, (_, bound) in _RATIOS.items():
        what = f"{name}: processor time, part of pprof's"
        yield median_figure(what, ratios[name], "×", bound, f"{len(ratios[name])} times")


def _figures(name: str, quick: bool) -> Iterator[Figure]:
    arguments, seconds, megabytes = _COMMANDS[name]
    taken = [run_command(arguments) for _ in range(2 if quick else 6)]
    detail = f"{len(taken)} runs"
    yield median_figure(f"{name}: processor time", [one.cpu_s for one in taken], "s", seconds, detail)
    memory = [one.peak_bytes / _MEGABYTE for one in taken]
    yield median_figure(f"{name}: peak resident memory", memory, "MB", megabytes, detail)


def _keep_runs(part: int) -> None:
    samples = _SAMPLES // part
    stacks = samples // STACKS_PART
    runs: Sequence[Callable[[], Run]] = (
        lambda: run_of(made_profile_of_lines(samples, stacks), "lines"),
        lambda: run_of(made_profile(samples, stacks, DEPTH), "a"),
        lambda: run_of(made_profile(samples, stacks, DEPTH, seed=2), "b"),
    )
    make_folder(CONFIG.spool)
    with open_store(CONFIG.store_url) as store:
        for made in runs:
            store.add([made()])


def _write_speedscope(size: int) -> None:
    """Write a file of about this size, in which most samples have one of 100,000 stacks."""
    random = Random(1)
    frames = [
        {"name": f"method_{n % 20_000}", "file": f"/srv/shop/module_{n % 200}.py", "line": n // 20_000 + 3}
        for n in range(_FRAMES)
    ]
    samples = 0
    with _FILE.open("w") as file:
        file.write('{"$schema": "https://www.speedscope.app/file-format-schema.json", ')
        file.write(f'"shared": {{"frames": {json.dumps(frames)}}}, "profiles": [{{"type": "sampled", ')
        file.write('"name": "MainThread", "unit": "seconds", "startValue": 0, "endValue": 1, "samples": [')
        for stack in _listed_stacks(random, size):
            file.write(f",{stack}" if samples else stack)
            samples += 1
        file.write(f'], "weights": {json.dumps([0.01] * samples)}}}]}}')


def _listed_stacks(random: Random, size: int) -> Iterator[str]:
    """Yield stacks as JSON until they have this size."""
    stack: list[int] = []
    known: list[str] = []
    while size > 0:
        if len(known) < _STACKS or random.random() < 0.05:
            del stack[int(len(stack) * random.random() ** 0.5) :]
            stack += [random.randrange(_FRAMES) for _ in range(DEPTH - len(stack))]
            known.append(json.dumps(stack))
            text = known[-1]
        else:
            text = random.choice(known)
        size -= len(text)
        yield text


if __name__ == "__main__":
    _keep_runs(int(sys.argv[1]))
    _write_speedscope(_FILE_BYTES // int(sys.argv[1]))
