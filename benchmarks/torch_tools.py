"""torch's own counting, in a separate process, for comparison with profkit."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.children import environment, output_of

_PROGRAM = """
import json, sys, time
from torch.utils.benchmark import Timer
options, number, repeats = json.loads(sys.argv[1])
timer = Timer(**options)
start_s = time.perf_counter()
found = timer.collect_callgrind(number=number, repeats=repeats)
found = found if isinstance(found, tuple) else (found,)
elapsed_s = time.perf_counter() - start_s
print(json.dumps([elapsed_s, [
    (stats.counts(denoise=False) - stats.baseline_exclusive_stats.sum()) / number for stats in found
]]))
"""


@dataclass(frozen=True, slots=True)
class TorchCount:
    """torch's counts of one execution in each repeat, without its baseline, and the time taken."""

    elapsed_s: float
    counts: tuple[float, ...]


def torch_callgrind(
    stmt: str, setup: str, *, number: int, repeats: int, language: str = "python"
) -> TorchCount:
    """Run `Timer(stmt, setup).collect_callgrind(number, repeats)`; its import of torch is not timed."""
    # It starts `python`, not sys.executable.
    environ = environment()
    environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environ.get("PATH", os.defpath)])
    options = {"stmt": stmt, "setup": setup, "language": language}
    text = output_of(["-c", _PROGRAM, json.dumps([options, number, repeats])], environ)
    elapsed_s, counts = json.loads(text.splitlines()[-1])
    return TorchCount(elapsed_s, tuple(counts))


def cold_worker_s(stmt: str, setup: str) -> float:
    """Return the time of a fresh Python that imports torch, runs a statement once and reports it."""
    program = f"import torch\nfrom torch.utils.benchmark import Timer\nTimer({stmt!r}, {setup!r}).timeit(1)"
    start_s = time.perf_counter()
    output_of(["-c", program], environment())
    return time.perf_counter() - start_s


def relative_range(values: Sequence[float]) -> float:
    """Return the relative difference of the largest and the smallest value."""
    return max(values) / min(values) - 1
