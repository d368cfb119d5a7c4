"""Which runs of a label are compared with others, and why the rest is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.comparing.measured import compare_measured
from profkit.comparing.selection import MOST_RUNS, select_alike
from profkit.model.measurement import Design, MeasuredInfo
from profkit.model.notes import Finding, FindingCode
from profkit.model.run import RunInfo
from tests.support.example_measured_comparisons import NEW, run
from tests.support.example_measurements import COUNTS
from tests.support.example_runs import PLAN, PROCESS, labelled


def sampled(run_id: str, age_s: float = 0.0, **changes: object) -> RunInfo:
    return labelled(run_id, "step", age_s, **changes).info


def measured(run_id: str, **changes: object) -> MeasuredInfo:
    return run(run_id, **changes).info  # type: ignore[arg-type]


def test_runs_that_differ_in_time_alone_are_taken_oldest_first() -> None:
    selected = select_alike([sampled("c")], [sampled("b", 1), sampled("a", 2)])
    assert [info.id for info in selected.taken] == ["a", "b", "c"]
    assert selected.left_out == ()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"process": replace(PROCESS, git_commit=NEW)}, "commit"),
        ({"process": replace(PROCESS, host="node-08")}, "machine"),
        ({"process": replace(PROCESS, python="3.13.1")}, "python"),
        ({"process": replace(PROCESS, torch="2.1")}, "torch"),
        ({"plan": replace(PLAN, idle=not PLAN.idle)}, "options"),
        ({"plan": replace(PLAN, native=not PLAN.native)}, "options"),
        ({"samples": 0}, "failed"),
    ],
)
def test_sampled_runs_that_cannot_be_compared_are_left_out(changes: dict[str, object], reason: str) -> None:
    selected = select_alike([sampled("b")], [sampled("a", 1, **changes)])
    assert [info.id for info in selected.taken] == ["b"]
    assert selected.left_out == ((reason, 1),)


def test_if_the_newest_run_has_no_samples_the_one_before_decides() -> None:
    elsewhere = replace(PROCESS, git_commit=NEW)
    selected = select_alike([sampled("c", samples=0, process=elsewhere)], [sampled("b", 1), sampled("a", 2)])
    assert [info.id for info in selected.taken] == ["a", "b"]
    assert selected.left_out == (("commit", 1),)


def test_variants_and_modes_of_a_label_are_taken_and_other_statements_are_not() -> None:
    newest = measured("d", day=3)
    other = measured("a", day=0)
    other = replace(other, order=replace(other.order, what="y + x"))
    selected = select_alike(
        [newest],
        [measured("c", base_s=None, counts=COUNTS, day=2), measured("b", num_threads=2, day=1), other],
    )
    assert [info.id for info in selected.taken] == ["b", "c", "d"]
    assert selected.left_out == (("definition", 1),)


def test_sampled_and_measured_runs_do_not_mix() -> None:
    selected = select_alike([measured("b", day=1)], [sampled("a", 1)])
    assert selected.left_out == (("kind", 1),)


def test_there_is_a_limit() -> None:
    earlier = [sampled(f"a{number}", number + 1) for number in range(MOST_RUNS)]
    selected = select_alike([sampled("b")], earlier)
    assert len(selected.taken) == MOST_RUNS
    assert selected.left_out == (("older", 1),)


def test_times_of_one_batch_are_preferred_to_those_of_several() -> None:
    batch = Design.ALTERNATING.batch("0f")
    a = [run("a1", batch="x"), run("a2", batch=batch), run("a3", None, COUNTS, batch="y")]
    b = [run("b2", batch=batch), run("b3", None, COUNTS, batch="z"), run("b4", batch="w", day=1)]
    compared = compare_measured(a, b, ("A", "B"))
    (order,) = compared.orders
    assert [[one.info.id for one in side] for side in (order.a, order.b)] == [["a2", "a3"], ["b2", "b3"]]
    assert order.times is not None
    assert order.times.design is Design.ALTERNATING
    assert compared.notes[:2] == tuple(
        Finding.of(FindingCode.RUNS_LEFT_OUT, side=side, separate=1) for side in "AB"
    )
