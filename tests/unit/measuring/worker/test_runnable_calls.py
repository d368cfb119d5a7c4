from __future__ import annotations

import asyncio
import functools
import gc
import itertools
import sys
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from profkit.measuring.worker.child import perform
from profkit.measuring.worker.runnable import calls, nothing
from tests.support.worker_jobs import case, timer_job


def ticks() -> Callable[[], int]:
    return functools.partial(next, itertools.count())


names = st.text(min_size=1, max_size=6)


@given(
    st.lists(st.integers(), max_size=4), st.dictionaries(names, st.integers(), max_size=4), st.integers(0, 3)
)
@example([], {"ﬁ": 1, "class": 2, "a b": 3, "x": 4}, 1)
def test_a_callable_gets_its_arguments_as_often_as_asked(
    args: list[int], kwargs: dict[str, int], number: int
) -> None:
    seen: list[object] = []
    measured = calls(lambda *a, **k: seen.append((a, k)), tuple(args), kwargs)
    assert measured.run(number, ticks()) == (0, 1)
    assert seen == [(tuple(args), kwargs)] * number


def test_a_coroutine_function_runs_in_a_fresh_loop_for_each_block() -> None:
    loops: list[object] = []

    async def f(x: int, *, y: int) -> None:
        await asyncio.sleep(0)
        loops.append((asyncio.get_running_loop(), x + y))

    class Calls:
        async def __call__(self, x: int, y: int) -> None:
            await f(x, y=y)

    for function in (f, functools.partial(f, y=2), Calls()):
        loops.clear()
        measured = calls(function, (1,), {"y": 2})
        inside = {*measured.run(2, asyncio.get_running_loop), *measured.run(1, asyncio.get_running_loop)}
        assert inside == {loop for loop, _ in loops}
        first, second, third = (loop for loop, _ in loops)
        assert first is second is not third
        assert {value for _, value in loops} == {3}


def test_what_a_callable_raises_comes_out() -> None:
    def fail() -> None:
        raise LookupError("mine")

    async def also() -> None:
        fail()

    for function in (fail, also):
        with pytest.raises(LookupError, match="mine"):
            calls(function, (), {}).run(1, ticks())


@pytest.mark.parametrize("level", ["function", "module"])
def test_nothing_takes_two_probes(level: str) -> None:
    assert nothing({}, level).run(1000, ticks()) == (0, 1)


def test_the_collector_is_off_unless_the_setup_wants_it_and_as_before_afterwards() -> None:
    from profkit.measuring.worker import child

    seen: list[bool] = []
    child.seen_by_test = seen  # type: ignore[attr-defined]
    setup = "import gc\nfrom profkit.measuring.worker.child import seen_by_test as seen\n"
    assert gc.isenabled()
    perform(timer_job(case("seen.append(gc.isenabled())", setup), runs=1))
    perform(timer_job(case("seen.append(gc.isenabled())", setup + "gc.enable()"), runs=1))
    assert seen == [False, True]
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        perform(timer_job(case("1/0")))
    assert gc.isenabled()
    del child.seen_by_test  # type: ignore[attr-defined]


def test_classes_of_a_global_setup_can_be_pickled_and_main_is_given_back() -> None:
    main = sys.modules["__main__"]
    text = "import pickle\nclass C: pass"
    perform(timer_job(case("assert type(pickle.loads(pickle.dumps(C()))) is C", "", text), runs=1))
    assert sys.modules["__main__"] is main


def test_a_canary_shows_versions() -> None:
    answer = perform({"mode": "canary", "imports": ["hypothesis", "json"]})
    assert answer["ok"]
    assert set(answer["versions"]) == {"hypothesis", "json"}
    assert answer["versions"]["hypothesis"].count(".") >= 1
    with pytest.raises(ModuleNotFoundError, match="no_such_module_of_mine"):
        perform({"mode": "canary", "imports": ["no_such_module_of_mine"]})


def test_real_blocks_show_a_statement_from_one_twice_as_long() -> None:
    cases = [case("sum(numbers)", f"numbers = range({length})") for length in (2_000, 20_000)]
    short, long = perform(timer_job(*cases, blocks=10, block_s=0.001))["cases"]
    assert 5 < min(long["times_s"]) / min(short["times_s"]) < 20
    assert short["number"] > long["number"]
    assert short["wall_s"] >= sum(short["times_s"]) * short["number"]
