"""Time to count instructions: one order, warm and first of all, compared with torch's collect_callgrind."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from benchmarks.children import environment, output_of
from benchmarks.figures import Figure
from benchmarks.pairs import estimate, median_figure
from benchmarks.statements import STATEMENTS
from benchmarks.torch_tools import torch_callgrind
from profkit import WorkOrder, measure_all
from profkit.measuring.orders import work_order

NUMBER, REPEATS = 100, 5
"""Settings of torch's benchmarks/instruction_counts."""
_FIRST = """
import sys, time
from profkit import measure
stmt, setup, number, repeats = sys.argv[1:]
start_s = time.perf_counter()
measure(stmt, setup=setup, mode="callgrind", number=int(number), repeats=int(repeats), keep=False)
print(time.perf_counter() - start_s)
"""


def measure(quick: bool) -> list[Figure]:
    """Count x + y on 64 elements with torch's settings, and a statement without torch with defaults."""
    add, split = STATEMENTS[0], STATEMENTS[2]
    theirs = [
        torch_callgrind(add.stmt, add.setup, number=NUMBER, repeats=REPEATS).elapsed_s
        for _ in range(1 if quick else 3)
    ]
    first = [_first_s(add.stmt, add.setup) for _ in range(1 if quick else 3)]
    same = work_order(add.stmt, setup=add.setup, mode="callgrind", number=NUMBER, repeats=REPEATS)
    plain = work_order(split.stmt, setup=split.setup, mode="callgrind")
    pairs = 6 if quick else 20
    warm, warm_plain = _warm([same] * (pairs + 1)), _warm([plain] * (pairs + 1))
    # An order that was counted before needs no second process.
    warm_new = _warm([replace(plain, setup=f"{plain.setup}  # {number}") for number in range(pairs + 1)])
    by_torch = median(theirs)
    detail = f"torch: {by_torch:.1f} s, {len(theirs)} times"
    first_ratio = estimate([seconds / by_torch for seconds in first])
    return [
        median_figure(
            f"x + y, {NUMBER} × {REPEATS}, warm zygote ÷ torch", [seconds / by_torch for seconds in warm],
            "×", 1 / 300, f"{median(warm) * 1e3:.0f} ms, {pairs} times; {detail}",
        ),
        Figure(
            "x + y, first order of a process ÷ torch", first_ratio.median, "×", 1 / 3,
            certain=max(first) / min(theirs) <= 1 / 3 or min(first) / max(theirs) > 1 / 3,
            spread=first_ratio.spread, detail=f"{median(first):.1f} s, {len(first)} times; {detail}",
        ),
        median_figure(
            "str.split, warm zygote", [seconds * 1e3 for seconds in warm_plain], "ms", 150.0,
            f"the same order, {pairs} times",
        ),
        median_figure(
            "str.split, warm zygote, new orders", [seconds * 1e3 for seconds in warm_new], "ms", 250.0,
            f"counted by two processes, {pairs} times",
        ),
    ]  # fmt: skip


def _warm(orders: Sequence[WorkOrder]) -> list[float]:
    taken = []
    for number, order in enumerate(orders):
        start_s = time.perf_counter()
        (run,) = measure_all([order], keep=False)
        if run.info.error:
            raise RuntimeError(run.info.error)
        if number:  # the first one starts the zygote
            taken.append(time.perf_counter() - start_s)
    return taken


def _first_s(stmt: str, setup: str) -> float:
    return float(output_of(["-c", _FIRST, stmt, setup, str(NUMBER), str(REPEATS)], environment()))
