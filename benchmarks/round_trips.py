"""Time from submitting an order to its result, without the measuring itself."""

from __future__ import annotations

import time

from benchmarks.figures import Figure
from benchmarks.pairs import estimate, interleaved
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
    taken = interleaved(
        lambda: _least_s(with_torch), lambda: cold_worker_s("pass", _SETUP), pairs
    )  # fmt: skip
    ratio = estimate([warm / cold for warm, cold in taken])
    warm_ms, cold_s = estimate([warm * 1e3 for warm, _ in taken]), estimate([cold for _, cold in taken])
    plain_ms = estimate([_once_s(without) * 1e3 for _ in range(pairs)])
    return [
        Figure(
            "a process of a warm torch zygote ÷ a cold worker", ratio.median, "×", 1 / 100,
            interval=ratio.interval, spread=ratio.spread,
            detail=f"{warm_ms.median:.1f} ms ÷ {cold_s.median:.2f} s, {pairs} pairs",
        ),
        Figure(
            "a process of a warm zygote without torch", plain_ms.median, "ms",
            interval=plain_ms.interval, spread=plain_ms.spread, detail=f"{pairs} times",
        ),
    ]  # fmt: skip


def _once_s(order: WorkOrder) -> float:
    start_s = time.perf_counter()
    (run,) = measure_all([order], keep=False)
    elapsed_s = time.perf_counter() - start_s
    if run.info.error:
        raise RuntimeError(run.info.error)
    return elapsed_s


def _least_s(order: WorkOrder) -> float:
    """Return the median of three: the cold worker before has emptied the caches."""
    return estimate([_once_s(order) for _ in range(3)]).median
