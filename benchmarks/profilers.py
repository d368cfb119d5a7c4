"""Overhead of other profilers on the workload of `slowdown`: a statistical, a deterministic, a tracing one.

Starting and stopping them is not timed, as for the sampler there.
"""

from __future__ import annotations

import cProfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from time import perf_counter

from pyinstrument import Profiler

from benchmarks.figures import Figure
from benchmarks.pairs import interleaved, ratio_figure
from benchmarks.slowdown import bare_s
from benchmarks.work import pure_python, rounds_for

_WORK_S = 0.3

Switch = Callable[[], object]


def measure(quick: bool) -> list[Figure]:
    """Measure a ratio for each profiler, with its own defaults."""
    pairs, rounds = (2, rounds_for(0.05)) if quick else (20, rounds_for(_WORK_S))
    figures = []
    for name, begin in _PROFILERS.items():
        taken = interleaved(partial(_profiled_s, begin, rounds), partial(bare_s, rounds), pairs)
        figures.append(ratio_figure(f"{name} ÷ unprofiled", taken))
    return figures


def _profiled_s(begin: Callable[[], Switch], rounds: int) -> float:
    """Time the workload; `begin` starts a profiler and returns the function that stops it."""
    stop = begin()
    start_s = perf_counter()
    pure_python(rounds)
    taken_s = perf_counter() - start_s
    stop()
    return taken_s


def _pyinstrument() -> Switch:
    profiler = Profiler()
    profiler.start()
    return lambda: profiler.stop()


def _cprofile() -> Switch:
    profiler = cProfile.Profile()
    profiler.enable()
    return profiler.disable


def _viztracer() -> Switch:
    from viztracer import VizTracer  # not available for every Python

    tracer = VizTracer(verbose=0)
    tracer.start()
    return lambda: tracer.stop()


_PROFILERS: dict[str, Callable[[], Switch]] = {
    "pyinstrument": _pyinstrument,
    "cProfile": _cprofile,
    **({"viztracer": _viztracer} if find_spec("viztracer") else {}),
}
