from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Callable
from functools import partial

import pytest

from profkit.measuring.transfer.payload import pack
from profkit.measuring.worker.cases import own_main
from profkit.measuring.worker.child import perform
from profkit.measuring.worker.fresh import States, prepare_code
from profkit.measuring.worker.protocol import UNDECIDED, Fresh, Message
from profkit.measuring.worker.runnable import Runnable, calls, statement
from profkit.measuring.worker.state_policy import Effort, StatePolicy, find_policy
from profkit.measuring.worker.unpack import unpack
from tests.support.worker_jobs import case, timer_job

LENGTHS = os.memfd_create("lengths")
QUEUE = [1, 2, 3]
WORK = 0
"""Steps of work so far; a number, so that it is no state."""


def drain(values: list[int]) -> None:
    os.write(LENGTHS, bytes([len(values)]))
    values.clear()


def drain_queue() -> None:
    os.write(LENGTHS, bytes([len(QUEUE)]))
    QUEUE.clear()


async def drain_later(values: list[int]) -> None:
    drain(values)


class Stock:
    def __init__(self) -> None:
        self.values = [1, 2, 3]

    def take(self, much: list[int]) -> None:
        drain(self.values)


class Kept:
    values: list[int] = []  # noqa: RUF012


def keep() -> None:
    Kept.values.append(1)


def work(values: list[int]) -> None:
    """Each execution is a step for each value."""
    global WORK
    WORK += len(values)


def steps(measured: Runnable, number: int) -> float:
    before, after = measured.run(number, lambda: WORK)
    return after - before


EFFORT = Effort(block=10, long=1000)


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    os.ftruncate(LENGTHS, 0)
    os.lseek(LENGTHS, 0, os.SEEK_SET)
    QUEUE[:] = [1, 2, 3]


def seen() -> set[int]:
    """How many values executions have found."""
    return set(os.pread(LENGTHS, 1 << 20, 0))


def timed(function: Callable[..., object], *args: object, fresh: Fresh = UNDECIDED) -> Message:
    payload = pack(function, args)
    answer = perform(timer_job(case(None, payload=True, fresh=fresh)), payload.fd)
    found: Message = answer["cases"][0]
    return found


def text(stmt: str, setup: str, global_setup: str = "") -> Runnable:
    namespace: dict[str, object] = {"work": work, "__name__": "__main__"}
    exec(global_setup, namespace)
    return statement(stmt, setup, namespace, "function")


def policy(
    stmt: str, setup: str, cost: Callable[[Runnable, int], float] = steps, **changes: object
) -> StatePolicy:
    fresh: Fresh = {**UNDECIDED, **changes}  # type: ignore[typeddict-item]
    return find_policy(text(stmt, setup), fresh, cost, EFFORT)


@pytest.mark.parametrize("function", [drain, drain_later, list.clear])
def test_each_call_has_arguments_of_its_own(function: Callable[[list[int]], object]) -> None:
    found = timed(function, [1, 2, 3, 4])
    assert found["fresh"]["decided"] is True
    assert len(found["times_s"]) == 3
    assert found["loop_s"] > 0
    if function is not list.clear:
        assert found["fresh"]["changes"] == ["argument 'values'"]
        assert seen() == {4}


def test_each_call_of_a_method_has_an_object_of_its_own() -> None:
    assert timed(Stock().take, [])["fresh"]["changes"] == ["argument 'self'"]
    assert seen() == {3}


def test_a_function_that_travels_by_value_has_its_closure_anew() -> None:
    values = [1, 2, 3, 4, 5]

    def local() -> None:
        drain(values)

    assert timed(local)["fresh"]["changes"] == ["the function"]
    assert seen() == {5}


def test_globals_are_copied_by_the_process_that_is_reported_of_them() -> None:
    words = f"QUEUE of module {__name__}"
    (told,) = [timed(drain_queue)]
    assert told == {"fresh": {**UNDECIDED, "changes": [words], "globals": [[__name__, "QUEUE"]]}}
    QUEUE[:] = [1, 2, 3]
    os.ftruncate(LENGTHS, 0)
    os.lseek(LENGTHS, 0, os.SEEK_SET)
    found = timed(drain_queue, fresh=told["fresh"])
    assert found["fresh"]["decided"] is True
    assert seen() == {3}


def test_a_statement_of_a_module_has_setups_of_its_own() -> None:
    with own_main() as namespace:
        namespace["work"] = work
        measured = statement("work(alias); alias.clear()", "values = alias = [1] * 9", namespace, "module")
        told = find_policy(measured, UNDECIDED, steps, EFFORT)
        assert told.starts_over
        assert told.fresh["changes"] == ["alias"]
        found = find_policy(measured, told.fresh, steps, EFFORT).prepared
        assert found is not None
        assert [steps(found.full, number) for number in (1, 5)] == [9, 45]
        assert steps(found.empty, 5) == 0
        assert namespace["values"] is namespace["alias"]


def test_a_statement_of_a_module_may_share_what_it_changes_at_no_cost() -> None:
    one = case("values[0] += 1", "values = [1] * 9; del values[3]", level="module", fresh=UNDECIDED)
    told = perform(timer_job(one))["cases"][0]["fresh"]
    assert told["changes"] == ["values"]
    found = [perform(timer_job({**one, "fresh": told}))["cases"][0]["fresh"]["decided"] for _ in range(5)]
    assert found.count(False) >= 3  # costs are times here, which a busy machine may make longer


@pytest.mark.parametrize(
    ("function", "args"), [(sorted, ([3, 1, 2],)), (len, ("text",)), (work, ([1],)), (sum, (range(9),))]
)
def test_what_changes_nothing_is_executed_as_ever(
    function: Callable[..., object], args: tuple[object]
) -> None:
    found = timed(function, *args)
    assert found["fresh"] == {**UNDECIDED, "decided": False}
    assert found["loop_s"] == 0


def test_what_cannot_be_made_anew_is_named() -> None:
    found = timed(keep)["fresh"]
    assert (found["decided"], found["changes"]) == (False, ["values of class Kept"])
    assert found["why_not"]


def test_a_statement_that_costs_less_the_second_time_has_setups_of_its_own() -> None:
    found = policy("work(values); values.clear()", "values = [1] * 9")
    assert found.fresh["changes"] == ["values"]
    assert found.prepared is not None
    assert [steps(found.prepared.full, number) for number in (1, 5)] == [9, 45]
    assert steps(found.prepared.empty, 5) == 0


@pytest.mark.parametrize(
    ("stmt", "setup", "changes", "decided"),
    [
        pytest.param("work(values); values.reverse()", "values = [1, 2, 3]", [], False, id="costs the same"),
        pytest.param("work(values); values.remove(1)", "values = [1, 2]", ["values"], True, id="fails"),
        pytest.param("n += 1; m = [n]; work(m)", "n = 1", [], False, id="numbers and new names"),
        pytest.param(
            "work(values); values.clear(); made = 1", "values = [1] * 9", ["values"], True, id="makes names"
        ),
    ],
)
def test_a_statement_has_setups_of_its_own_if_it_costs_less_or_fails_the_next_time(
    stmt: str, setup: str, changes: list[str], decided: bool
) -> None:
    found = policy(stmt, setup)
    assert (found.fresh["changes"], found.fresh["decided"]) == (changes, decided)
    assert found.fresh["why_not"] == ""
    assert (found.prepared is not None) is decided


def test_long_executions_are_not_repeated_to_make_sure() -> None:
    executed = []

    def cost(measured: Runnable, number: int) -> float:
        executed.append(number)
        return 1000 * steps(measured, number)

    assert policy("work(values); values.clear()", "values = [1] * 9", cost).fresh["decided"]
    assert executed == [1] * 5


def test_what_fails_after_some_time_is_timed_with_setups_of_its_own() -> None:
    (found,) = perform(timer_job(case("v.pop()", "v = [1, 2, 3]", fresh=UNDECIDED)))["cases"]
    assert found["fresh"]["decided"] is True


def test_what_always_fails_fails_as_ever() -> None:
    with pytest.raises(ZeroDivisionError):
        perform(timer_job(case("v.clear(); 1 / 0", "v = [1, 2, 3]", fresh=UNDECIDED)))


def test_names_that_functions_of_the_setup_use_cannot_be_assigned_anew() -> None:
    closed = "values = [1]\ndef total(): return sum(values)"
    found = policy("work(values); values.clear(); values = [2]; total()", closed).fresh
    assert (found["decided"], found["changes"]) == (False, ["values"])
    assert "functions of its setup use" in found["why_not"]


def test_global_declarations_of_a_setup_hold_for_the_statement() -> None:
    found = policy("work(values); count = len(values); values.clear()", "global count\nvalues = [1] * 5")
    assert found.prepared is not None
    assert steps(found.prepared.full, 2) == 10


def test_copies_of_a_function_share_its_code() -> None:
    """Else each would be executed as if for the first time, without what the interpreter has specialised."""

    def helper(values: list[int]) -> None:
        values.clear()

    def outer(values: list[int]) -> None:
        helper(values)

    outer.__module__ = helper.__module__ = "__main__"
    payload = pack(outer, ([1],))
    call = unpack(payload.fd)
    measured = calls(*call, again=partial(unpack, payload.fd, read=True))
    states = prepare_code(measured, {**UNDECIDED, "function": True}).states.of(2)
    functions = [state[0] for state in states]
    assert len({id(function) for function in (*functions, call[0])}) == 3
    assert {function.__code__ for function in functions} == {call[0].__code__}  # type: ignore[attr-defined]
    helpers = [function.__closure__[0].cell_contents for function in (*functions, call[0])]  # type: ignore[attr-defined]
    assert len({id(one.__code__) for one in helpers}) == 1


def test_states_are_as_many_as_memory_and_time_allow() -> None:
    found = policy("work(values); values.clear()", "values = [1] * 9")
    assert found.prepared is not None
    states = found.prepared.states
    now = iter(range(10_000))
    states.limit(clock=lambda: float(next(now)))
    assert states.most == 1
    states.limit(clock=lambda: 0.0)
    assert states.most > 100
    states.limit(memory_bytes=1, clock=lambda: 0.0)
    assert states.most == 1
    states.limit(clock=lambda: 0.0)
    first = states.of(3)
    assert states.of(3) is first
    states.use()
    assert states.of(3) is not first


def test_arms_that_are_compared_are_executed_alike() -> None:
    cases = [case(stmt, "v = [3, 1, 2] * 99", fresh=UNDECIDED) for stmt in ("len(v)", "drain(v)")]
    for one in cases:
        one["global_setup"] = "def drain(values):\n    while values: values.pop()"
    found = perform(timer_job(*cases))["cases"]
    assert [one["fresh"]["decided"] for one in found] == [True, True]
    assert [one["fresh"]["changes"] for one in found] == [[], ["v"]]


def test_a_block_of_fresh_states_follows_some_executions() -> None:
    found = policy("work(values); values.clear()", "values = [1] * 9")
    assert found.prepared is not None
    states = found.prepared.states
    states.warms = True
    assert len(states.of(40)) == 40
    assert len(states.spare()) == 10
    assert states.spare() == []
    assert len(states.of(3)) == 3
    assert states.spare() == []


def test_states_that_are_cycles_are_gone_before_the_next_are_made() -> None:
    class Cycle:
        def __init__(self) -> None:
            self.own = self

    made: list[weakref.ref[Cycle]] = []
    alive, generations = [], []

    def make() -> tuple[Cycle]:
        alive.append(sum(one() is not None for one in made))
        state = Cycle()
        made.append(weakref.ref(state))
        return (state,)

    def note(phase: str, about: dict[str, int]) -> None:
        generations.append(about["generation"])

    states = States(make)
    gc.collect()
    gc.disable()
    gc.callbacks.append(note)
    try:
        for _ in range(3):
            states.of(5)
            states.use()
    finally:
        gc.callbacks.remove(note)
        gc.enable()
    assert alive == [0, 1, 2, 3, 4] * 3
    assert set(generations) == {0}, "what a large program has in memory is not looked through"
