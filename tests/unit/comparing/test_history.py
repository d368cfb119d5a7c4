"""Histories: which runs make a point, and what it says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.comparing.history import history_of, is_beyond_noise
from profkit.model.histogram import histogram_of
from profkit.model.history import Quantity
from profkit.model.measurement import MeasurementWarning, WarningCode
from profkit.model.notes import Note, NoteCode
from tests.support.example_measured_comparisons import NEW, OLD, run
from tests.support.example_measurements import BUSY, COUNTS, DIFFER, failed
from tests.support.example_runs import PROCESS, STARTED_NS, made_run


def test_runs_of_a_commit_are_one_point_in_order_of_time() -> None:
    runs = [
        run("c", 1.2e-6, commit=NEW, day=2),
        run("a", 1e-6),
        run("b", 1.1e-6, day=1),
        run("d", commit=OLD, day=3),
    ]
    (series,) = history_of("x + y", runs).series
    assert [(point.commit, point.runs) for point in series.points] == [(OLD, ("a", "b", "d")), (NEW, ("c",))]
    assert series.quantity is Quantity.MEDIAN_S
    assert series.changes[0] is None
    assert series.changes[1] == pytest.approx(1.2, rel=0.05)
    assert is_beyond_noise(series, 1)
    low, high = series.points[1].low, series.points[1].high
    assert low is not None
    assert high is not None
    assert low <= series.points[1].value <= high


def test_commits_are_in_the_order_in_which_they_were_made() -> None:
    """Not in that in which they were measured; what git does not know, by when it was."""
    day_s = STARTED_NS // 10**9
    runs = [run("a", commit=NEW, day=4), run("b", commit=OLD, day=5), run("c", commit="0" * 40, day=1)]
    committed_s = {NEW: day_s - 50, OLD: day_s - 100}
    (series,) = history_of("x + y", runs, committed_s).series
    assert [point.runs for point in series.points] == [("b",), ("a",), ("c",)]
    (series,) = history_of("x + y", runs).series
    assert [point.runs for point in series.points] == [("c",), ("a",), ("b",)]


def test_runs_without_a_commit_are_alone() -> None:
    runs = [
        replace(one, info=replace(one.info, process=replace(PROCESS, git_commit=None)))
        for one in (run("a"), run("b"))
    ]
    (series,) = history_of("x + y", runs).series
    assert [(point.commit, point.runs) for point in series.points] == [("", ("a",)), ("", ("b",))]


def test_each_order_and_quantity_has_a_series() -> None:
    runs = [
        run("a", counts=COUNTS),
        run("b", num_threads=2),
        run("c", None, COUNTS, day=1, commit=NEW),
        failed(),
    ]
    found = [(one.name, one.quantity, len(one.points)) for one in history_of("x + y", runs).series]
    assert found == [
        ("x + y (1 thread)", Quantity.MEDIAN_S, 1),
        ("x + y (1 thread)", Quantity.INSTRUCTIONS, 2),
        ("x + y (2 threads)", Quantity.MEDIAN_S, 1),
    ]


def test_sampled_runs_by_the_time_of_a_call() -> None:
    def sampled(run_id: str, call_ms: int, commit: str) -> object:
        durations = histogram_of([call_ms * 10**6] * 10)
        process = replace(PROCESS, git_commit=commit)
        return made_run(id=run_id, durations=durations, process=process, started_ns=STARTED_NS + ord(run_id))

    runs = [sampled("a", 100, OLD), sampled("b", 110, OLD), sampled("c", 200, NEW)]
    (series,) = history_of("train_step", runs).series  # type: ignore[arg-type]
    old, new = series.points
    assert series.quantity is Quantity.PER_CALL_S
    assert old.value == pytest.approx(0.105, rel=0.01)
    assert old.low is not None
    assert old.low < 0.1
    assert (new.value, new.low) == (pytest.approx(0.2), None)
    assert not is_beyond_noise(series, 1), "a single run has no interval"


def test_losses_of_sampled_runs_are_warnings() -> None:
    late = Note.of(NoteCode.SAMPLER_LATE, behind_s=2.5)
    (series,) = history_of("train_step", [made_run(notes=(late, Note(NoteCode.CPU_TIME_ONLY)))]).series
    assert series.points[0].warnings == (late,)


def test_warnings_are_those_about_the_quantity_each_once() -> None:
    spread = MeasurementWarning.of(WarningCode.SPREAD, fastest_s=1e-6, slowest_s=2e-6)
    warned = run("a", counts=COUNTS)
    warned = replace(
        warned,
        info=replace(warned.info, warnings=(BUSY, DIFFER, spread)),
    )
    times, counts = history_of("x + y", [warned, run("b")]).series
    assert times.points[0].warnings == (BUSY,)
    assert counts.points[0].warnings == (DIFFER,)


def test_nothing_but_failures_has_no_series() -> None:
    assert history_of("broken", [failed()]).series == ()
