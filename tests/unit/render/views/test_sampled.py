"""What sums up a run: its threads, its scale, its tree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.errors import UsageError
from profkit.model.run import Run
from profkit.render.options import ReportOptions
from profkit.render.views.costs import Scale, scale_of
from profkit.render.views.sampled import Report, build_report
from profkit.render.views.tables import build_tables
from profkit.render.views.threads import ThreadRow
from profkit.units import Unit
from tests.support.example_runs import LOADER, MAIN, made_profile, made_run


def report(**options: object) -> Report:
    return build_report(made_run(), ReportOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("wanted", ["loader-0", "4250"])
def test_one_thread_by_name_or_id(wanted: str) -> None:
    only = report(thread=wanted)
    assert [(call.frame.name, call.total_weight) for call in only.tree.children] == [("train_step", 15)]
    assert only.scale.total == 15
    assert [row.name for row in only.threads] == ["MainThread", "loader-0"]


def test_threads_of_one_id_in_several_processes_are_distinguished_by_name() -> None:
    run = made_run()
    assert run.profile is not None
    same_id = replace(run.profile, threads=(MAIN, LOADER._replace(tid=MAIN.tid)))
    only = build_report(replace(run, profile=same_id), ReportOptions(thread="loader-0"))
    assert only.scale.total == 15


def test_an_unknown_thread_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(UsageError, match=r"'nope'.*MainThread \(4242\), loader-0 \(4250\)"):
        report(thread="nope")


def test_threads_have_their_part() -> None:
    row = ThreadRow("loader-0", 4242, 4250, 15, 15 / 291, pytest.approx(15 / 97.4), working_share=1.0)  # type: ignore[arg-type]
    assert report().threads[1] == row


@pytest.mark.parametrize(
    ("unit", "period_ns", "weight_s"),
    [
        (Unit.SAMPLES, 1e7, 0.01),
        (Unit.SAMPLES, 0.0, None),
        (Unit.NANOSECONDS, 0.0, 1e-9),
        (Unit.INSTRUCTIONS, 0.0, None),
        (Unit.BYTES, 0.0, None),
    ],
)
def test_only_weights_that_stand_for_time_have_seconds(
    unit: Unit, period_ns: float, weight_s: float | None
) -> None:
    profile = replace(made_profile(), unit=unit, period_ns=period_ns)
    assert scale_of(profile) == Scale(unit, 291, weight_s)


def test_a_run_without_samples_has_no_rows() -> None:
    empty = build_report(Run(made_run().info), ReportOptions())
    tables = build_tables(empty)
    assert (tables.functions, tables.lines, empty.threads, empty.tree.children) == ((), (), (), ())
