"""What a profiled call executes, counted: times depend on the machine, the number of steps does not."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Generator
from types import FrameType
from typing import Any

import pytest

from profkit import FunctionProfiler, decorators, profile, profiled
from profkit.session.counters import Counters
from tests.support.live_functions import live

TIMES = 10


class LiveProfiler(FunctionProfiler):
    """Its blocks are counted, with no sampler behind them."""

    def block_counters(self, *arguments: Any) -> Counters:
        counters = super().block_counters(*arguments)
        counters.live = True
        return counters


@pytest.fixture(autouse=True)
def live_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(decorators._PROFILERS, (("label", "hot"),), LiveProfiler(label="hot"))


def steps(run: Callable[[], object]) -> tuple[int, int]:
    """Calls of Python functions, resumptions among them, and of C functions."""
    run()  # what is learnt at the first time is no part of it
    seen: Counter[str] = Counter()

    def note(frame: FrameType, event: str, argument: object) -> None:
        seen[event] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return seen["call"], seen["c_call"]


def added(profiled_run: Callable[[], object], bare_run: Callable[[], object]) -> tuple[float, float]:
    """What one of `TIMES` profiled repetitions executes more than a bare one."""
    (calls, c_calls), (bare_calls, bare_c_calls) = steps(profiled_run), steps(bare_run)
    return (calls - bare_calls) / TIMES, (c_calls - bare_c_calls) / TIMES


def empty() -> None:
    pass


def repeated(function: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(TIMES):
            function()

    return run


def test_a_function() -> None:
    calls, c_calls = added(repeated(live(empty)), repeated(empty))
    assert calls == 1  # the marker
    assert c_calls <= 4  # two clocks, the caller's identity, the duration


def test_a_method_costs_what_a_function_does_and_its_binding() -> None:
    class Owner:
        plain = empty_method = lambda self: None
        decorated = live(empty_method)

    owner = Owner()
    calls, c_calls = added(repeated(lambda: owner.decorated()), repeated(lambda: owner.plain()))
    assert calls == 2
    assert c_calls <= 4


def test_a_skipped_call() -> None:
    third = profile(every=1_000_000)(empty)
    third._self_counters.live = True  # type: ignore[attr-defined]
    calls, c_calls = added(repeated(third), repeated(empty))
    assert calls == 1
    assert c_calls <= 2


def test_a_block() -> None:
    def blocks() -> None:
        for _ in range(TIMES):
            with profiled("hot"):
                pass

    def nothing() -> None:
        for _ in range(TIMES):
            pass

    calls, c_calls = added(blocks, nothing)
    assert calls <= 11
    assert c_calls <= 18


def numbers() -> Generator[int, None, None]:
    yield from range(TIMES)


def test_a_step_of_a_generator() -> None:
    decorated = live(numbers)
    calls, c_calls = added(lambda: list(decorated()), lambda: list(numbers()))
    started = 10  # for the whole generator, spread over its steps
    assert calls <= 3 + started / TIMES
    assert c_calls <= 3 + started / TIMES


async def turns() -> None:
    for _ in range(TIMES):
        await asyncio.sleep(0)


def drive(make: Callable[[], Coroutine[Any, Any, None]]) -> None:
    coroutine = make()
    while True:
        try:
            coroutine.send(None)
        except StopIteration:
            return


def test_a_step_of_a_coroutine() -> None:
    decorated = live(turns)
    decorated._self_counters.looks.threshold_ns = 10**15  # as if very many suspensions had been looked at
    calls, c_calls = added(lambda: drive(decorated), lambda: drive(turns))
    started = 12
    assert calls <= 4 + started / TIMES
    assert c_calls <= 4 + started / TIMES


def test_calls_leave_nothing_but_their_duration() -> None:
    decorated = live(empty)
    counters = decorated._self_counters
    repeated(decorated)()
    kept = {name: len(getattr(counters, name)) for name in ("raised", "skipped", "suspended", "traced")}
    assert len(counters.durations) == TIMES
    assert set(kept.values()) == {0}
