"""How often measuring will execute an order, and how executions get their state."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.errors import BadReply
from profkit.measuring.orders import work_order
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.jobs import Job
from profkit.measuring.runner.jobs import (
    HAS_TRAMPOLINE,
    counted_runs,
    expected_executions,
    first_fresh,
    processes_of,
    timed_runs,
)
from profkit.measuring.worker.protocol import SHARED, UNDECIDED, Fresh
from profkit.model.measurement import Design, Freshness
from profkit.model.workorder import WorkOrder
from tests.unit.measuring.runner.test_run import TIMED, jobs, run, times, timing_in
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


FOUND: Fresh = {**UNDECIDED, "changes": ["QUEUE of module jobs"], "globals": [["jobs", "QUEUE"]]}
DECIDED: Fresh = {**FOUND, "decided": True}


def only_case(job: Job) -> Any:
    (case,) = job.message["cases"]  # type: ignore[misc]
    return case


def finds_out(kind: ZygoteKind, job: Job) -> Mapping[str, object]:
    """As a worker whose statement changes a global."""
    if job.message["mode"] == "canary":
        return times(kind, job)
    if only_case(job)["fresh"] == UNDECIDED:
        return {"ok": True, "cases": [{"fresh": FOUND}]}
    return {"ok": True, "cases": [{**TIMED, "fresh": DECIDED}]}


@pytest.mark.parametrize("design", [Design.SEPARATE, Design.INTERLEAVED, Design.ALTERNATING])
def test_what_the_first_process_finds_the_others_are_reported(design: Design) -> None:
    (outcome,), pool = run([work_order("work()", processes=3, quick=True)], finds_out, design)
    assert [only_case(job)["fresh"] for job in jobs(pool)] == [UNDECIDED, FOUND, DECIDED, DECIDED]
    found = timing_in(outcome.run)
    assert found.freshness == Freshness(fresh=True, changes=("QUEUE of module jobs",))
    assert len(found.processes) == 3


def test_sides_that_take_turns_are_alike() -> None:
    """States of their own lie elsewhere in memory: both sides have them, or none."""

    def one_changes(kind: ZygoteKind, job: Job) -> Mapping[str, object]:
        if job.message["mode"] == "canary":
            return times(kind, job)
        case = only_case(job)
        fresh = case["fresh"]
        if fresh["decided"] is None:
            fresh = {**fresh, "decided": case["stmt"] == "changes()"}
        return {"ok": True, "cases": [{**TIMED, "fresh": fresh}]}

    orders = [work_order(stmt, processes=3, quick=True) for stmt in ("reads()", "changes()")]
    outcomes, pool = run(orders, one_changes, Design.ALTERNATING)
    for timing in (timing_in(outcome.run) for outcome in outcomes):
        assert timing.freshness.fresh
        assert len(timing.processes) == 3
    assert len(jobs(pool)) == 2 * 3 + 1


def test_a_worker_that_never_finds_out_is_refused() -> None:
    def never(_kind: ZygoteKind, job: Job) -> Mapping[str, object]:
        return {"ok": True, "cases": [{"fresh": FOUND}], "versions": {}}

    (outcome,), _ = run([work_order("work()", quick=True)], never)
    assert isinstance(outcome.error, BadReply)


@pytest.mark.parametrize(
    ("order", "told"),
    [
        (work_order("x"), UNDECIDED),
        (work_order(len), UNDECIDED),
        (work_order("x", fresh=False), SHARED),
        (work_order(len, fresh=True), {**SHARED, "decided": True}),
        (work_order("x", language="c++"), SHARED),
        (work_order("x", runs=3), SHARED),
        (work_order(len, runs=3), {**SHARED, "decided": True}),
    ],
)
def test_what_needs_no_execution_to_be_known(order: WorkOrder, told: Fresh) -> None:
    assert first_fresh(order) == told
