"""Overhead of frequent checks of a worker's memory on the times measured in it."""

from __future__ import annotations

import time

from benchmarks.figures import Figure
from benchmarks.pairs import interleaved, ratio_figure
from profkit import isolated

_CLOSE_BYTES = 200 << 20
"""Memory limit near to the worker's usage, at which it is checked twenty times a second."""
_FAR_BYTES = 1 << 50
_HELD_BYTES = 150 << 20


def measure(quick: bool) -> list[Figure]:
    """Compare the fastest and the mean block of a worker with a near limit and of one with a far limit."""
    pairs = 6 if quick else 30
    least = interleaved(lambda: _worked(_CLOSE_BYTES)[0], lambda: _worked(_FAR_BYTES)[0], pairs)
    mean = interleaved(lambda: _worked(_CLOSE_BYTES)[1], lambda: _worked(_FAR_BYTES)[1], pairs)
    return [
        ratio_figure("shortest block of 2 ms, 20 checks a second ÷ one a second", least, 1.01),
        ratio_figure("mean block, 20 checks a second ÷ one a second", mean, 1.02),
    ]


def _worked(limit_bytes: int) -> tuple[float, float]:
    return isolated.call(_blocks, _HELD_BYTES, memory_limit_bytes=limit_bytes)


def _blocks(held_bytes: int) -> tuple[float, float]:
    held, taken = b"x" * held_bytes, []
    for _ in range(250):
        start_s = time.perf_counter()
        for _ in range(40):
            sum(range(2_000))
        taken.append(time.perf_counter() - start_s)
    return min(taken), sum(taken) / len(taken) + 0.0 * len(held)
