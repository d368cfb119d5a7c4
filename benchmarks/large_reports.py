"""Reports of a run of a million samples, 100,000 distinct stacks and four threads, each 60 frames deep.

Times are of whole commands, alternating: Python's start, the store, the report, and its output.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.pairs import median_figure
from benchmarks.report_commands import Taken, keep_made_run, report

_SAMPLES = 1_000_000
_BYTES = 10**9
_PAGE = Path("report.html")
_ARGUMENTS = {"text": (), "html": ("--html", "-o", str(_PAGE)), "markdown": ("--format", "markdown")}
_BOUNDS_S = {"text": 3.0, "html": 5.0}
_MEGABYTE = 1e6
_PAGE_BOUND = 15.0


def measure(quick: bool) -> list[Figure]:
    """Measure each report's time and peak memory, and the size of the page."""
    run = keep_made_run(_SAMPLES // 100 if quick else _SAMPLES)
    taken: dict[str, list[Taken]] = {name: [] for name in _ARGUMENTS}
    for number in range(2 if quick else 10):
        for name, arguments in _ARGUMENTS.items():
            found = report([run, *arguments])
            if number:  # the first one compiles
                taken[name].append(found)
    figures = [figure for name in _ARGUMENTS for figure in _figures(name, taken[name])]
    size = _PAGE.stat().st_size / _MEGABYTE
    return [*figures, Figure("html: size of the page", size, "MB", _PAGE_BOUND, certain=True)]


def _figures(name: str, taken: Sequence[Taken]) -> list[Figure]:
    seconds, megabytes = [one.wall_s for one in taken], [one.peak_bytes / _MEGABYTE for one in taken]
    runs = f"{len(taken)} runs"
    return [
        median_figure(f"{name}: the whole command", seconds, "s", _BOUNDS_S.get(name), runs),
        median_figure(f"{name}: peak resident memory", megabytes, "MB", _BYTES / _MEGABYTE),
    ]
