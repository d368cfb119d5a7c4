"""Many small calls, two at a time: isolated ones, spawned workers, torch's SubprocPool."""

from __future__ import annotations

import multiprocessing
import operator
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import ExitStack
from statistics import median

from torch._inductor.compile_worker.subproc_pool import SubprocPool

from benchmarks.figures import Figure
from benchmarks.pairs import Pair, median_figure, ratio_figure
from profkit import isolated

_WORKERS = 2
_MAX_MS = 60_000 / 2_000
"""Bound: two thousand calls a minute."""

Submit = Callable[..., Future[int]]


def measure(quick: bool) -> list[Figure]:
    """Time batches of `operator.add`, one pool after the other, in an order that rotates every round."""
    rounds, calls, cold = (6, 60, 6) if quick else (20, 400, 20)
    taken: dict[str, list[float]] = {name: [] for name in ("isolated", "spawned", "fresh", "torch")}
    with ExitStack() as stack:
        pools = _pools(stack)
        for name, submit in pools.items():
            _batch_s(submit, _WORKERS * 4 if name != "fresh" else _WORKERS)
        for number in range(rounds):
            names = list(pools)
            turned = names[number % len(names) :] + names[: number % len(names)]
            for name in turned:
                count = cold if name == "fresh" else calls
                taken[name].append(_batch_s(pools[name], count) / count)
    each_ms = [call_s * 1e3 for call_s in taken["isolated"]]
    detail = f"{60_000 / median(each_ms):,.0f} a minute; {rounds} batches of {calls}"
    return [
        median_figure("an isolated call, two at a time", each_ms, "ms", _MAX_MS, detail),
        _ratio(taken, "spawned", "a call of ProcessPoolExecutor (spawn)"),
        _ratio(taken, "fresh", "a call of one with a new process for each (max_tasks_per_child=1)"),
        _ratio(taken, "torch", "a call of torch's SubprocPool"),
    ]


def _pools(stack: ExitStack) -> dict[str, Submit]:
    spawn = multiprocessing.get_context("spawn")
    own = stack.enter_context(isolated.Executor(_WORKERS))
    spawned = stack.enter_context(ProcessPoolExecutor(_WORKERS, spawn))
    fresh = stack.enter_context(ProcessPoolExecutor(_WORKERS, spawn, max_tasks_per_child=1))
    torch = SubprocPool(_WORKERS)
    stack.callback(torch.shutdown)
    return {"isolated": own.submit, "spawned": spawned.submit, "fresh": fresh.submit, "torch": torch.submit}


def _batch_s(submit: Submit, calls: int) -> float:
    start_s = time.perf_counter()
    futures = [submit(operator.add, number, 1) for number in range(calls)]
    wait(futures)
    elapsed_s = time.perf_counter() - start_s
    if [future.result() for future in futures] != list(range(1, calls + 1)):
        raise RuntimeError("a pool does not add")
    return elapsed_s


def _ratio(taken: dict[str, list[float]], other: str, what: str) -> Figure:
    pairs: list[Pair] = list(zip(taken["isolated"], taken[other], strict=True))
    return ratio_figure(f"an isolated call ÷ {what}", pairs)
