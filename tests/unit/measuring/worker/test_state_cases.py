from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Callable

import pytest

from benchmarks.programs import changing_functions, pure_functions
from benchmarks.programs.changing_functions import Call
from profkit.measuring.worker.fresh import state_in
from profkit.measuring.worker.runnable import calls

NO_STATE = {"issue_tickets", "roll"}
"""They advance a counter, and a random number generator."""
Case = tuple[Callable[..., object], Callable[[], Call]]


def changes(case: Case) -> tuple[str, ...]:
    """What is found to differ after a call."""
    function, make = case
    args, kwargs = make()
    measured = calls(function, args, kwargs)
    before = state_in(measured, 100_000)
    assert before.whole
    function(*args, **kwargs)
    return before.changes(state_in(measured, 100_000))


@pytest.mark.parametrize("case", changing_functions.CASES, ids=lambda case: case[0].__qualname__)
def test_functions_that_change_something_are_recognised(case: Case) -> None:
    assert bool(changes(case)) is (case[0].__name__ not in NO_STATE)


@pytest.mark.parametrize("case", pure_functions.CASES, ids=lambda case: case[0].__qualname__)
def test_functions_that_change_nothing_are_left_alone(case: Case) -> None:
    assert changes(case) == ()


def test_all_of_them_can_be_sent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # iterators of itertools
        refused = {
            function.__name__
            for function, make in (*changing_functions.CASES, *pure_functions.CASES)
            if not can_be_sent(make())
        }
    assert refused == ({"label_batch"} if sys.version_info >= (3, 14) else set()), "itertools.count"


def can_be_sent(call: Call) -> bool:
    try:
        pickle.dumps(call)
    except TypeError:
        return False
    return True
