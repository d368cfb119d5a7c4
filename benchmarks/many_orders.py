"""300 orders in a row: leaked descriptors and memory, and stability of the count."""

from __future__ import annotations

import os

import psutil

from benchmarks.figures import Figure
from profkit import measure_all
from profkit.measuring.orders import work_order

NAME = "many_orders"


def measure(quick: bool) -> list[Figure]:
    """Measure descriptors, memory and counts after the tenth order and after the last."""
    orders = 20 if quick else 300
    counts, descriptors, memory = [], [], []
    for _ in range(orders):
        (run,) = measure_all([work_order("s.split(',')", setup="s = 'a,b,c'", mode="callgrind")], keep=False)
        if run.measurement is None or run.measurement.instructions is None:
            raise RuntimeError(run.info.error)
        counts.append(run.measurement.instructions.raw)
        descriptors.append(len(os.listdir("/proc/self/fd")))
        memory.append(_tree_bytes())
    return [
        Figure(NAME, "distinct counts", len(set(counts)), "", 1, certain=True,
               detail=f"{orders} orders"),
        Figure(NAME, "descriptors more than after the tenth", descriptors[-1] - descriptors[9], "", 0,
               certain=True),
        Figure(NAME, "memory of all processes ÷ after the tenth", memory[-1] / memory[9], "×", 1.05,
               certain=True, detail=f"{memory[-1] / 2**20:.0f} MiB"),
    ]  # fmt: skip


def _tree_bytes() -> int:
    own = os.path.realpath(f"/proc/{os.getpid()}")
    zygotes = [process for process in psutil.process_iter(["cmdline"]) if _is_ours(process)]
    return sum(
        process.memory_info().rss for process in [psutil.Process(int(os.path.basename(own))), *zygotes]
    )


def _is_ours(process: psutil.Process) -> bool:
    return any("measuring/worker" in word for word in process.info["cmdline"] or [])
