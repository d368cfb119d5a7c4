"""How often measuring will execute an order: compared with what a worker does."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.measuring.orders import work_order
from profkit.measuring.runner.jobs import (
    HAS_TRAMPOLINE,
    counted_runs,
    expected_executions,
    processes_of,
    timed_runs,
)
from tests.unit.measuring.worker.test_timing import Scripted, measured, wanted


@given(st.floats(1e-7, 5.0), st.booleans(), st.sampled_from([0.02, 0.2, 2.0]))
def test_it_is_what_workers_do(call_s: float, quick: bool, min_run_time_s: float) -> None:
    order = work_order("1", quick=quick, min_run_time_s=min_run_time_s)
    scripted = Scripted(lambda _: call_s)
    measured(scripted, wanted(min_run_time_s / processes_of(order)))
    executed = processes_of(order) * sum(scripted.runs)
    assert executed / 2 <= expected_executions(order, call_s) <= executed * 2


@pytest.mark.parametrize(("mode", "executions"), [("timer", 50), ("callgrind", 8), ("timer+callgrind", 58)])
def test_modes_add_up(mode: str, executions: int) -> None:
    order = work_order("1", mode=mode, quick=False, python_functions=False)
    assert expected_executions(order, 0.12) == executions
    by_function = 3 if order.mode.counts and sys.version_info >= HAS_TRAMPOLINE else 0
    assert expected_executions(replace(order, python_functions=True), 0.12) == executions + by_function


@pytest.mark.parametrize(
    ("mode", "runs", "timed", "counted"),
    [("timer", 7, 7, 7), ("callgrind", 7, 7, 7), ("timer+callgrind", 7, 4, 3), ("timer+callgrind", 2, 1, 1)],
)
def test_both_modes_share_a_limit(mode: str, runs: int, timed: int, counted: int) -> None:
    order = work_order("1", mode=mode, runs=runs)
    assert (timed_runs(order), counted_runs(order)) == (timed, counted)


def test_without_a_limit_there_is_none() -> None:
    order = work_order("1", mode="timer+callgrind")
    assert (timed_runs(order), counted_runs(order), order.retries) == (None, None, 2)


def test_what_must_not_be_done_often_is_not_tried_again() -> None:
    assert work_order("1", runs=3).retries == 0
    assert work_order("1", runs=3, retries=1).retries == 1
