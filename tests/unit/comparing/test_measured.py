"""Which orders are compared, and by which rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.comparing.gate import check_measured
from profkit.comparing.measured import compare_measured, match_orders
from profkit.errors import UsageError
from profkit.model.comparison import Outcome, Verdict
from profkit.model.measurement import ControlCount, Design, MeasuredRun
from profkit.model.notes import Finding, FindingCode
from profkit.model.workorder import Mode
from profkit.render.options import ReportOptions, Terminal
from profkit.render.registry import MEASURED_COMPARISON
from profkit.render.views.findings import finding_text
from tests.support.example_measured_comparisons import NEW, one_order, run, two_batches
from tests.support.example_measured_runs import measured_on
from tests.support.example_measurements import COUNTS, failed


def test_orders_are_matched_by_what_distinguishes_them() -> None:
    matched = match_orders(*two_batches())
    assert [pair.name for pair in matched.pairs] == [
        "add (1 thread)", "add (1 thread, c++)", "add (2 threads)",
        "linear (1 thread)", "linear (1 thread, c++)", "linear (2 threads)",
    ]  # fmt: skip
    assert (matched.only_a, matched.only_b) == (("relu (1 thread)",), ("gelu (1 thread)",))
    for pair in matched.pairs:
        assert pair.a[0].info.id[1:] == pair.b[0].info.id[1:]


def test_several_runs_of_an_order_are_one_side() -> None:
    matched = match_orders([run("a1"), run("a2")], [run("b1"), run("b2"), run("b3")])
    assert [(len(pair.a), len(pair.b)) for pair in matched.pairs] == [(2, 3)]


def test_another_label_matches_where_each_side_has_one() -> None:
    a = [run("a1", label="old"), run("a2", label="old", num_threads=2)]
    b = [run("b2", label="new", num_threads=2), run("b1", label="new")]
    assert [(p.a[0].info.id, p.b[0].info.id) for p in match_orders(a, b).pairs] == [
        ("a1", "b1"),
        ("a2", "b2"),
    ]
    assert match_orders(a, [*b, run("b3", label="other")]).pairs == ()
    assert len(match_orders([run("a1", num_threads=4)], [run("b1", label="new")]).pairs) == 1


def test_what_both_modes_have_is_compared() -> None:
    (order,) = compare_measured([run("a1", counts=COUNTS)], [run("b1")], ("A", "B")).orders
    assert order.times is not None
    assert order.counts is None
    (order,) = compare_measured([run("a1", None, COUNTS)], [run("b1")], ("A", "B")).orders
    assert order.obstacle == Finding.of(FindingCode.MODES_DIFFER)


def test_the_rule_goes_by_how_the_batch_was_timed() -> None:
    def design(batch: str, other: str) -> Design:
        compared = compare_measured([run("a1", batch=batch)], [run("b1", batch=other)], ("A", "B"))
        assert compared.orders[0].times is not None
        return compared.orders[0].times.design

    for how in Design:
        assert design(how.batch("0f"), how.batch("0f")) is how
        assert design(how.batch("0f"), how.batch("1f")) is Design.SEPARATE


def test_an_order_that_differs_in_its_environment_had_other_processes() -> None:
    a, b = one_order()
    changed = replace(b[0], info=replace(b[0].info, order=replace(b[0].info.order, env=(("A", "1"),))))
    (order,) = compare_measured(a, [changed], ("A", "B")).orders
    assert order.times is not None
    assert order.times.design is Design.SEPARATE


def test_five_per_cent_and_a_function_more() -> None:
    (order,) = compare_measured(*one_order(), ("x + y", "x.add(y)")).orders
    assert order.times is not None
    assert order.counts is not None
    assert (order.times.verdict, order.counts.verdict) == (Verdict.SLOWER, Verdict.SLOWER)
    assert [row.delta for row in order.counts.functions] == [250]


def test_what_failed_is_an_obstacle_and_not_the_end() -> None:
    broken = failed()
    alike = replace(
        run("b1", label="broken"), info=replace(run("b1", label="broken").info, order=broken.info.order)
    )
    compared = compare_measured([broken, run("a2")], [alike, run("b2")], ("A", "B"))
    first, second = (order.obstacle for order in compared.orders)
    assert first is not None
    assert finding_text(first).startswith("'broken' raised ")
    assert second is None
    assert compared.orders[1].times is not None


def test_nothing_in_common_is_an_error() -> None:
    a = [run("a1", label="add"), run("a2", label="mul")]
    with pytest.raises(UsageError, match="'add', 'mul' and 'sub' have no statement in common"):
        compare_measured(a, [run("b1", label="sub")], ("A", "B"))


def test_other_machines_and_environments_are_reported() -> None:
    there = run("b1", commit=NEW)
    assert there.measurement is not None
    assert there.measurement.timing is not None
    timing = replace(
        there.measurement.timing, measured_in=replace(there.measurement.timing.measured_in, python="3.13")
    )
    there = MeasuredRun(
        replace(there.info, process=replace(there.info.process, host="node-08")),
        replace(there.measurement, timing=timing),
    )
    notes = compare_measured([run("a1")], [there], ("A", "B")).notes
    assert [finding_text(note) for note in notes] == [
        "environments differ: A Python 3.11.2, torch 2.13.0+cpu; B Python 3.13, torch 2.13.0+cpu",
        "measured on different machines (node-07, node-08), which alone changes times",
    ]


def test_orders_that_changed_machines_are_reported_although_both_sides_have_the_same_ones() -> None:
    a = [
        measured_on("node-1", "EPYC × 8", run("a1")),
        measured_on("node-2", "Xeon × 4", run("a2", label="other")),
    ]
    b = [
        measured_on("node-2", "Xeon × 4", run("b1")),
        measured_on("node-1", "EPYC × 8", run("b2", label="other")),
    ]
    (note,) = compare_measured(a, b, ("A", "B")).notes
    assert finding_text(note) == (
        "measured on different machines (node-1 (EPYC × 8), node-2 (Xeon × 4)), which alone changes times"
    )
    assert (
        compare_measured(a, [measured_on("node-1", "EPYC × 8", run("b1")), a[1]][:1], ("A", "B")).notes == ()
    )


def counted_in(run_id: str, python: str, *instructions: float) -> MeasuredRun:
    """A run in the environment of an interpreter, with so many controls."""
    names = ("arithmetic", "copying", "sorting")
    controls = tuple(ControlCount(*one) for one in zip(names, instructions, strict=False))
    return run(run_id, None, replace(COUNTS, controls=controls), python=python)


@pytest.mark.parametrize(
    ("counts", "note"),
    [
        ((5003.7, 516.4, 17411.9), FindingCode.CONTROLS_AGREE),
        ((), FindingCode.CONTROLS_MISSING),
    ],
)
def test_controls_say_whether_environments_compare(counts: tuple[float, ...], note: FindingCode) -> None:
    a = counted_in("a1", "/one/bin/python", 5003.7, 516.4, 17411.9)
    compared = compare_measured([a], [counted_in("b1", "/other/bin/python", *counts)], ("A", "B"))
    assert [found.code for found in compared.notes] == [FindingCode.INTERPRETERS_DIFFER, note]
    assert finding_text(compared.notes[0]) == (
        "interpreters differ: A has /one/bin/python; B has /other/bin/python"
    )
    assert compared.orders[0].counts is not None
    assert compared.orders[0].counts.obstacle is None
    assert compared.orders[0].counts.standardized


def test_controls_that_differ_leave_nothing_to_compare() -> None:
    a, b = (
        counted_in(f"{side}1", f"/{side}/python", 5003.7, 516.4 + extra, 17411.9)
        for side, extra in (("a", 0.0), ("b", 12.0))
    )
    compared = compare_measured([a], [b], ("A", "B"))
    (counts,) = (order.counts for order in compared.orders)
    assert counts is not None
    assert counts.obstacle is not None
    assert counts.obstacle.code is FindingCode.CONTROLS_DIFFER
    why = finding_text(counts.obstacle)
    assert "(copying: 516.4 and 528.4)" in why
    assert len(compared.notes) == 1
    (check,) = check_measured(compared, 0.03)
    assert (check.outcome, check.reasons) == (Outcome.INCONCLUSIVE, (counts.obstacle,))
    assert why in MEASURED_COMPARISON.text(compared, ReportOptions(), Terminal())
    assert compare_measured([b], [replace(b, info=replace(b.info, id="c1"))], ("A", "B")).notes == ()


def test_runs_of_all_modes_are_one_order() -> None:
    both, counted = run("a1", counts=COUNTS), run("a2", None, COUNTS)
    assert (both.info.order.mode, counted.info.order.mode) == (Mode.BOTH, Mode.CALLGRIND)
    (pair,) = match_orders([both, counted], [counted, both]).pairs
    assert (pair.a, pair.b) == ((both, counted), (counted, both))


def test_a_count_and_a_time_of_each_side_are_both_compared() -> None:
    timed, counted = run("a1"), run("a2", None, COUNTS)
    after = [run("b1"), run("b2", None, COUNTS)]
    (order,) = compare_measured([timed, counted], after, ("A", "B")).orders
    assert order.times is not None
    assert order.counts is not None
    assert order.obstacle is None


def test_a_count_of_another_batch_leaves_times_interleaved() -> None:
    batch = Design.INTERLEAVED.batch("0f")
    a = [run("a1", batch=batch), run("a2", None, COUNTS)]
    (order,) = compare_measured(a, [run("b1", batch=batch), run("b2", None, COUNTS)], ("A", "B")).orders
    assert order.times is not None
    assert order.times.design is Design.INTERLEAVED


def test_a_pair_of_two_labels_does_not_have_the_name_of_one() -> None:
    assert [pair.name for pair in match_orders([run("a1", label="old")], [run("b1", label="new")]).pairs] == [
        "old → new"
    ]
    a = [run("a1", label="old"), run("a2", label="old", num_threads=2)]
    b = [run("b1", label="new"), run("b2", label="new", num_threads=2)]
    assert [pair.name for pair in match_orders(a, b).pairs] == ["1 thread", "2 threads"]
