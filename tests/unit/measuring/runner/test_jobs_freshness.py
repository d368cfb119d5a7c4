from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from profkit.errors import BadReply
from profkit.measuring.orders import work_order
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.jobs import Job
from profkit.measuring.runner.jobs import first_fresh
from profkit.measuring.worker.protocol import SHARED, UNDECIDED, Fresh
from profkit.model.measurement import Design, Freshness
from profkit.model.workorder import WorkOrder
from tests.unit.measuring.runner.test_run import TIMED, run, times

FOUND: Fresh = {**UNDECIDED, "changes": ["QUEUE of module jobs"], "globals": [["jobs", "QUEUE"]]}
DECIDED: Fresh = {**FOUND, "decided": True}


def states(jobs: Sequence[Job]) -> list[object]:
    """What each process was told about its only statement."""
    return [job.message["cases"][0]["fresh"] for job in jobs]  # type: ignore[index]


def finds_out(_kind: ZygoteKind, job: Job) -> Mapping[str, object]:
    """As a worker whose statement changes a global."""
    if job.message["mode"] == "canary":
        return times(_kind, job)
    told = job.message["cases"][0]["fresh"]  # type: ignore[index]
    if told == UNDECIDED:
        return {"ok": True, "cases": [{"fresh": FOUND}]}
    return {"ok": True, "cases": [{**TIMED, "fresh": DECIDED}]}


@pytest.mark.parametrize("design", [Design.SEPARATE, Design.INTERLEAVED, Design.ALTERNATING])
def test_what_the_first_process_finds_the_others_are_reported(design: Design) -> None:
    (outcome,), pool = run([work_order("work()", processes=3, quick=True)], finds_out, design)
    timed = [job for _, job in pool.asked if job.message["mode"] == "timer"]
    assert states(timed) == [UNDECIDED, FOUND, DECIDED, DECIDED]
    assert outcome.run.measurement is not None
    assert outcome.run.measurement.timing is not None
    found = outcome.run.measurement.timing
    assert found.freshness == Freshness(fresh=True, changes=("QUEUE of module jobs",))
    assert len(found.processes) == 3


def test_sides_that_take_turns_are_alike() -> None:
    """States of their own lie elsewhere in memory: both sides have them, or none."""

    def one_changes(_kind: ZygoteKind, job: Job) -> Mapping[str, object]:
        if job.message["mode"] == "canary":
            return times(_kind, job)
        (case,) = job.message["cases"]  # type: ignore[misc]
        fresh = case["fresh"]
        if fresh["decided"] is None:
            fresh = {**fresh, "decided": case["stmt"] == "changes()"}
        return {"ok": True, "cases": [{**TIMED, "fresh": fresh}]}

    orders = [work_order(stmt, processes=3, quick=True) for stmt in ("reads()", "changes()")]
    outcomes, pool = run(orders, one_changes, Design.ALTERNATING)
    for outcome in outcomes:
        assert outcome.run.measurement is not None
        timing = outcome.run.measurement.timing
        assert timing is not None
        assert timing.freshness.fresh
        assert len(timing.processes) == 3
    timed = [job for _, job in pool.asked if job.message["mode"] == "timer"]
    assert len(timed) == 2 * 3 + 1


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
