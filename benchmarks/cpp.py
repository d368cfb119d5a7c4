"""Time to count a compiled C++ statement in a warm zygote, compared with torch's second call."""

from __future__ import annotations

import time
from statistics import median

from benchmarks.figures import Figure
from benchmarks.pairs import median_figure
from benchmarks.torch_tools import torch_callgrind
from profkit import measure_all
from profkit.measuring.orders import work_order

_STMT, _SETUP = "auto z = x + y;", "auto x = at::ones({64}); auto y = at::ones({64});"
_NUMBER, _REPEATS = 100, 2


def measure(quick: bool) -> list[Figure]:
    """Count `x + y` in C++; torch compiles at its first call, so only its second one is timed."""
    order = work_order(
        _STMT, setup=_SETUP, language="c++", mode="callgrind", number=_NUMBER, repeats=_REPEATS
    )  # fmt: skip
    taken = []
    for _ in range(7 if quick else 21):
        start_s = time.perf_counter()
        (run,) = measure_all([order], keep=False)
        taken.append(time.perf_counter() - start_s)
        if run.info.error:
            raise RuntimeError(run.info.error)
    first_s, *warm = taken
    if quick:
        return [Figure("x + y, compiled, warm zygote", median(warm) * 1e3, "ms")]
    first, second = (
        torch_callgrind(_STMT, _SETUP, number=_NUMBER, repeats=_REPEATS, language="cpp") for _ in range(2)
    )
    ours = run.measurement.instructions.net if run.measurement and run.measurement.instructions else 0.0
    return [
        median_figure(
            "x + y, compiled, warm zygote ÷ torch's second time",
            [seconds / second.elapsed_s for seconds in warm], "×", 1 / 50,
            f"{median(warm) * 1e3:.0f} ms ÷ {second.elapsed_s:.1f} s; first: "
            f"{first_s:.1f} s, torch {first.elapsed_s:.1f} s",
        ),
        Figure("instructions of x + y ÷ torch's", ours / min(second.counts), detail=f"{ours:.0f}"),
    ]  # fmt: skip
