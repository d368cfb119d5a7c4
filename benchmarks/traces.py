"""Cost of mode="trace": a traced call, compared with one that torch.profiler alone records and writes.

Both sides run in one process, in turn, after torch.profiler has prepared itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import nn

from benchmarks.figures import Figure
from benchmarks.pairs import interleaved, ratio_figure
from profkit import profile

_BOUND = 1.25
_MANY = 10**6
_STEPS = 20


def measure(quick: bool) -> list[Figure]:
    """Compare traced calls to those that torch.profiler records."""
    pairs = 3 if quick else 30
    model, batch = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)), torch.ones(32, 64)

    def work() -> None:
        for _ in range(_STEPS):
            model(batch).sum().backward()

    traced = profile(work, mode="trace", trace_calls=_MANY)

    def by_torch() -> None:
        with torch.profiler.profile(record_shapes=True) as profiler:
            work()
        profiler.export_chrome_trace("torch.json")

    traced()
    by_torch()
    taken = interleaved(lambda: _seconds(traced), lambda: _seconds(by_torch), pairs)
    what = f"{_STEPS} training steps: mode='trace' ÷ torch.profiler alone, both with their files"
    return [ratio_figure(what, taken, _BOUND)]


def _seconds(call: Callable[[], object]) -> float:
    start_s = time.perf_counter()
    call()
    return time.perf_counter() - start_s
