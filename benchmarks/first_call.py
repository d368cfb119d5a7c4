"""First isolated call of a program, from the import of the pool to the result."""

from __future__ import annotations

from benchmarks.children import environment, output_of
from benchmarks.figures import Figure
from benchmarks.pairs import interleaved, ratio_figure

_TIMED = "import time; start_s = time.perf_counter()\n{}\nprint(time.perf_counter() - start_s)"
_ISOLATED = """
from profkit import isolated
isolated.call(abs, -1)
"""
_SPAWNED = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
    executor.submit(abs, -1).result()
"""


def measure(quick: bool) -> list[Figure]:
    """Time the first call, each in a fresh process."""
    taken = interleaved(lambda: _once_s(_ISOLATED), lambda: _once_s(_SPAWNED), 6 if quick else 20)
    return [ratio_figure("isolated.call ÷ ProcessPoolExecutor (spawn)", taken)]


def _once_s(program: str) -> float:
    return float(output_of(["-c", _TIMED.format(program)], environment()))
