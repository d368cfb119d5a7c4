"""Time from submitting an order to its result, without the measuring itself."""

from __future__ import annotations

import time
from statistics import median

from benchmarks.figures import Figure
from benchmarks.pairs import interleaved, median_figure, ratio_figure
from benchmarks.torch_tools import cold_worker_s
from profkit import measure_all
from profkit.measuring.orders import work_order
from profkit.model.workorder import WorkOrder

_SETUP = "import torch"


def measure(quick: bool) -> list[Figure]:
    """Compare one process that executes `pass` once, from a warm zygote, with a cold worker."""
    pairs = 6 if quick else 20
    with_torch = work_order("pass", setup=_SETUP, quick=True, runs=1)
    without = work_order("pass", quick=True, runs=1)
    _once_s(with_torch), _once_s(without)
    taken = interleaved(lambda: _least_s(with_torch), lambda: cold_worker_s("pass", _SETUP), pairs)
    plain_ms = [_once_s(without) * 1e3 for _ in range(pairs)]
    return [
        ratio_figure("a process of a warm torch zygote ÷ a cold worker", taken, 1 / 100),
        median_figure("a process of a warm zygote without torch", plain_ms, "ms", detail=f"{pairs} times"),
    ]


def _once_s(order: WorkOrder) -> float:
    start_s = time.perf_counter()
    (run,) = measure_all([order], keep=False)
    elapsed_s = time.perf_counter() - start_s
    if run.info.error:
        raise RuntimeError(run.info.error)
    return elapsed_s


def _least_s(order: WorkOrder) -> float:
    """Return the median of three: the cold worker before has emptied the caches."""
    return median(_once_s(order) for _ in range(3))
