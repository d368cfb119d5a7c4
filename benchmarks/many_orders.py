"""300 orders in a row: leaked descriptors and memory, and stability of the count."""

from __future__ import annotations

import os
import uuid

import psutil

from benchmarks.figures import Figure
from profkit import measure_all
from profkit.measuring.orders import work_order

_MARK = "OMP_PROFKIT_BENCHMARK"
"""Environment variable that identifies the processes of this measurement: zygotes inherit OpenMP's."""


def measure(quick: bool) -> list[Figure]:
    """Measure descriptors, memory and counts after the tenth order and after the last."""
    orders = 20 if quick else 300
    counts, descriptors, memory = [], [], []
    os.environ[_MARK] = mark = uuid.uuid4().hex
    for _ in range(orders):
        (run,) = measure_all([work_order("s.split(',')", setup="s = 'a,b,c'", mode="callgrind")], keep=False)
        if run.measurement is None or run.measurement.instructions is None:
            raise RuntimeError(run.info.error)
        counts.append(run.measurement.instructions.raw)
        descriptors.append(len(os.listdir("/proc/self/fd")))
        memory.append(_tree_bytes(mark))
    return [
        Figure("distinct counts", len(set(counts)), "", 1, certain=True,
               detail=f"{orders} orders"),
        Figure("descriptors more than after the tenth", descriptors[-1] - descriptors[9], "", 0,
               certain=True),
        Figure("memory of all processes ÷ after the tenth", memory[-1] / memory[9], "×", 1.05,
               certain=True, detail=f"{memory[-1] / 2**20:.0f} MiB"),
    ]  # fmt: skip


def _tree_bytes(mark: str) -> int:
    """Return the memory of this process, and of all that its measuring started."""
    running = [process.info for process in psutil.process_iter(["environ", "memory_info"])]
    started = [info for info in running if (info["environ"] or {}).get(_MARK) == mark]
    return sum(
        memory.rss for memory in [psutil.Process().memory_info(), *(info["memory_info"] for info in started)]
    )
