"""Slowdown by sampler and rate, the samplers' own CPU time, and how long they take to start.

The last rows compare Tachyon, the sampling profiler in CPython 3.15's standard library, on the same workload.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from math import fsum
from pathlib import Path

import psutil

from benchmarks.figures import Figure
from benchmarks.pairs import interleaved, median_figure, ratio_figure
from benchmarks.sampled_child import HAS_READER, running, sampled
from benchmarks.slowdown import Case, bare_s, case_figures
from benchmarks.work import rounds_for
from profkit.clock import SYSTEM_CLOCK
from profkit.samplers.options import SamplerOptions

_HAS_TACHYON = sys.version_info >= (3, 15)
_FASTEST_HZ = 5000 if _HAS_TACHYON else 3000
_WORK_S = 0.3
_TACHYON_STARTS_S = 1.0
"""It does not say when it samples; its imports take a fifth of this."""
_IDLE = """
import time
print("begun", flush=True)
time.sleep(600)
"""


def measure(quick: bool) -> list[Figure]:
    """Measure a ratio for each sampler and rate."""
    pairs, rounds = (2, rounds_for(0.05)) if quick else (60, rounds_for(_WORK_S))
    unsampled = interleaved(partial(bare_s, rounds), partial(bare_s, rounds), pairs)
    figures = [ratio_figure("nothing ÷ nothing (this machine's noise)", unsampled)]
    for case in _cases():
        figures += case_figures(case, rounds, pairs)
    if _HAS_TACHYON:
        figures += _tachyon_figures(rounds, pairs)
    return figures + _start_figures(3 if quick else 30)


def _cases() -> Iterator[Case]:
    for blocking, word in ((True, "blocking"), (False, "nonblocking")):
        for rate_hz in (100, 1000):
            yield Case(f"py-spy, {word}, {rate_hz} Hz", None,
                       {"sampler": "pyspy", "blocking": blocking, "rate": rate_hz})  # fmt: skip
    if HAS_READER:
        for rate_hz in (100, 1000, _FASTEST_HZ):
            bound = 1.02 if rate_hz <= 1000 else None
            yield Case(f"cpython, {rate_hz} Hz", bound, {"sampler": "cpython", "rate": rate_hz})


def _tachyon_figures(rounds: int, pairs: int) -> list[Figure]:
    cpu_s: list[float] = []

    def sampled_s() -> float:
        with _tachyon() as process:
            before_s = _cpu_s(process)
            taken_s = bare_s(rounds)
            cpu_s.append(_cpu_s(process) - before_s)
        return taken_s

    taken = interleaved(sampled_s, partial(bare_s, rounds), pairs)
    share = fsum(cpu_s) / fsum(one for one, _ in taken)
    return [
        ratio_figure("Tachyon's command line, 1000 Hz ÷ unsampled", taken),
        Figure("Tachyon's command line, 1000 Hz: its own CPU", share * 100, "% of a core"),
    ]


@contextmanager
def _tachyon() -> Iterator[psutil.Process]:
    """Sample this process with Tachyon's command line at 1,000 Hz."""
    with tempfile.TemporaryDirectory(prefix="profkit-benchmark-") as folder:
        output = Path(folder) / "collapsed.txt"
        options = ["-r", "1000", "-d", "60", "--collapsed", "-o", str(output)]
        command = [sys.executable, "-m", "profiling.sampling", "attach", *options, str(psutil.Process().pid)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            SYSTEM_CLOCK.sleep(_TACHYON_STARTS_S)
            yield psutil.Process(process.pid)
            process.send_signal(signal.SIGINT)
        if not output.exists():
            raise RuntimeError("Tachyon's command line has sampled nothing")


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _start_figures(times: int) -> list[Figure]:
    """Return the time from the start of each sampler until it is RUNNING, on a process that sleeps."""
    names = ["pyspy", "cpython"] if HAS_READER else ["pyspy"]
    taken_s: dict[str, list[float]] = {name: [] for name in names}
    with running(_IDLE) as process:
        for _ in range(times):
            for name in names:
                taken_s[name].append(sampled(process.pid, SamplerOptions(name), 0.1).start_s)
    return [
        median_figure(f"{name}: start to RUNNING", [one_s * 1e3 for one_s in values], "ms")
        for name, values in taken_s.items()
    ]
