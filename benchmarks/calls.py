"""Overhead of profiling per call and per block, in a session that lingers.

Both sides of each pair run under the same sampler, which stays attached between calls.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Any

from benchmarks.attached import check_attached, detach
from benchmarks.figures import Figure
from benchmarks.pairs import difference_figure, interleaved, median_figure, ratio_figure, summed
from benchmarks.work import fixed_work, turns_for
from profkit import profile, profiled
from profkit.measuring.decorated.program import BACKLOG
from profkit.session.manager import MANAGER

_CALLS, _TAKEN_AT_ONCE = 1000, 100
_EMPTY_CALLS = 10_000
_NEW_LABELS = 10
_WORK_S = 0.001


def measure(quick: bool) -> list[Figure]:
    """Measure fixed work of 1 ms, empty functions and blocks, suspensions, and the later cost of counting."""
    series, pairs = (1, 6) if quick else (30, 60)
    figures = [
        _fixed_work_figure(series),
        _empty_call_figure(pairs),
        _measured_call_figure(pairs),
        _suspension_figure(pairs),
        _empty_block_figure(pairs),
        _new_label_figure(pairs),
        _counting_figure(pairs),
    ]
    check_attached()
    detach()
    return figures


def _fixed_work_figure(series: int) -> Figure:
    turns, decorated = turns_for(_WORK_S), profile(label="1 ms")(fixed_work)
    decorated(turns)
    check_attached()
    pairs = interleaved(
        _repeated(partial(decorated, turns), _TAKEN_AT_ONCE),
        _repeated(partial(fixed_work, turns), _TAKEN_AT_ONCE),
        series * _CALLS // _TAKEN_AT_ONCE,
    )
    per_series = summed(pairs, _CALLS // _TAKEN_AT_ONCE)
    return ratio_figure("1,000 decorated calls of 1 ms ÷ undecorated", per_series, 1.05)


def _empty_call_figure(pairs: int) -> Figure:
    def empty() -> None:
        pass

    decorated = profile(label="empty")(empty)
    decorated()
    taken = interleaved(_repeated(decorated, _EMPTY_CALLS), _repeated(empty, _EMPTY_CALLS), pairs)
    return difference_figure("a decorated empty call - an empty call", taken, _EMPTY_CALLS, 2.0)


def _measured_call_figure(pairs: int) -> Figure:
    def empty(number: int) -> None:
        pass

    measured = profile(mode="timer", max_signatures=1)(empty)
    measured(1)
    taken = interleaved(
        _repeated(partial(measured, 1), _EMPTY_CALLS), _repeated(partial(empty, 1), _EMPTY_CALLS), pairs
    )
    BACKLOG.drop()  # otherwise it would be measured during the next benchmark
    return difference_figure("an empty call with mode='timer' - an empty call", taken, _EMPTY_CALLS, 8.0)


def _suspension_figure(pairs: int) -> Figure:
    async def turns() -> None:
        for _ in range(_EMPTY_CALLS):
            await asyncio.sleep(0)

    def stepped(function: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], float]:
        def run() -> float:
            coroutine, start_s = function(), perf_counter()
            with suppress(StopIteration):
                while True:
                    coroutine.send(None)
            return perf_counter() - start_s

        return run

    decorated = profile(label="turns")(turns)
    stepped(decorated)()
    taken = interleaved(stepped(decorated), stepped(turns), pairs)
    what = "a suspension of a decorated coroutine - of another one"
    return difference_figure(what, taken, _EMPTY_CALLS, 2.0)


def _empty_block_figure(pairs: int) -> Figure:
    def blocks() -> float:
        start_s = perf_counter()
        for _ in range(_EMPTY_CALLS):
            with profiled():
                pass
        return perf_counter() - start_s

    def nothing() -> float:
        start_s = perf_counter()
        for _ in range(_EMPTY_CALLS):
            pass
        return perf_counter() - start_s

    blocks()
    taken = interleaved(blocks, nothing, pairs)
    return difference_figure("a `with profiled():` - nothing", taken, _EMPTY_CALLS, 5.0)


def _new_label_figure(pairs: int) -> Figure:
    made = itertools.count()

    def labelled(labels: Iterable[object]) -> float:
        start_s = perf_counter()
        for label in labels:
            with profiled(f"step {label}"):
                pass
        return perf_counter() - start_s

    known = range(-_NEW_LABELS, 0)
    labelled(known)
    taken = interleaved(lambda: labelled(itertools.islice(made, _NEW_LABELS)), lambda: labelled(known), pairs)
    what = "a `with profiled(label):` of a new label - of a known one"
    return difference_figure(what, taken, _NEW_LABELS, 50.0)


def _counting_figure(repetitions: int) -> Figure:
    """Measure the ticker's work: no call waits for it, but it uses the interpreter."""
    decorated = profile(label="counted")(fixed_work)
    decorated(0)
    each_us = [_counting_us(partial(decorated, 0)) for _ in range(repetitions)]
    detail = f"{repetitions} times {_EMPTY_CALLS:,} calls"
    return median_figure("counting a call, once a second in the ticker", each_us, "µs", detail=detail)


def _counting_us(call: Callable[[], object]) -> float:
    with MANAGER.lock:  # otherwise the ticker might run first
        for _ in range(_EMPTY_CALLS):
            call()
        if MANAGER.session is None:
            raise RuntimeError("the session has ended")
        start_s = perf_counter()
        MANAGER.session.drain()
        return (perf_counter() - start_s) / _EMPTY_CALLS * 1e6


def _repeated(call: Callable[[], object], times: int) -> Callable[[], float]:
    def run() -> float:
        start_s = perf_counter()
        for _ in range(times):
            call()
        return perf_counter() - start_s

    return run
