"""Suspended time of runs, by line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.model.histogram import histogram_of
from profkit.model.notes import Note, NoteCode, is_warning
from profkit.model.region import CALLS_ONLY, RegionKind
from profkit.model.run import Merged, Run
from profkit.model.session import AwaitTime, ChildUsage, ResourcePoint
from profkit.transforms.unsampled_time import (
    MOST_AWAITS,
    AwaitShare,
    Suspended,
    add_awaits,
    await_shares,
    children_note,
    sampled_points,
    suspended,
    unsampled_children,
)
from tests.support.example_runs import INFO

DB, QUEUE = AwaitTime("aw.py", 6, "db", "sleep", 40, 2), AwaitTime("aw.py", 9, "work", "Queue.get", 10, 5)


def test_shares_are_of_the_wall_time() -> None:
    info = replace(INFO, durations=histogram_of([60, 40]), suspended_ns=60, awaits=(DB, QUEUE))
    expected = Suspended(0.6, (AwaitShare(DB, 0.4), AwaitShare(QUEUE, 0.1)), elsewhere_ns=10)
    assert suspended(info) == expected


def test_a_run_without_lines_has_none() -> None:
    assert suspended(replace(INFO, suspended_ns=60)) is None
    assert suspended(replace(INFO, durations=histogram_of([]), awaits=(DB,))) is None


def test_times_of_one_line_add_up() -> None:
    more = replace(QUEUE, suspended_ns=90)
    assert add_awaits([DB, QUEUE, more]) == (replace(QUEUE, suspended_ns=100, times=10), DB)


def test_the_longest_lines_are_kept() -> None:
    many = [replace(DB, line=line, suspended_ns=line) for line in range(1, 100)]
    kept = add_awaits(many)
    assert [one.line for one in kept] == list(range(99, 99 - MOST_AWAITS, -1))


def test_a_program_is_not_suspended_but_its_tasks_are() -> None:
    region = replace(INFO.region, kind=RegionKind.PROGRAM)
    info = replace(INFO, region=region, durations=histogram_of([10]), awaits=(DB,))
    assert suspended(info) is None
    assert await_shares(info) == (AwaitShare(DB, 4.0),)
    ended_early = replace(info, durations=histogram_of([]), session_s=20e-9)
    assert await_shares(ended_early) == (AwaitShare(DB, 2.0),)


PLAN = INFO.plan


def point(at_s: float, cpu_s: float, children: ChildUsage | None = None) -> ResourcePoint:
    return ResourcePoint(round(at_s * 1e9), cpu_s, 2**20, 1, children)


def used(cpu_s: float, unrecorded_s: float | None = None, processes: int = 2) -> ChildUsage:
    return ChildUsage(cpu_s, cpu_s if unrecorded_s is None else unrecorded_s, processes)


def test_children_with_much_cpu_time_are_noted() -> None:
    note = children_note([point(0, 1.0), point(9, 1.5, used(21.0))], PLAN)
    assert note == Note.of(NoteCode.CHILDREN_UNSAMPLED, processes=2, cpu_s=21.0)
    assert is_warning(note)


@pytest.mark.parametrize(
    ("cpu_s", "children", "noted"),
    [
        (0.0, None, False),
        (0.0, used(0.19), False),
        (0.0, used(0.2), True),
        (10.0, used(0.5), False),
        (10.0, used(0.6), True),
        (1.0, used(9.0, 0.1), False),
    ],
)
def test_what_is_worth_a_note(cpu_s: float, children: ChildUsage | None, noted: bool) -> None:
    assert (children_note([point(0, 5.0), point(9, 5.0 + cpu_s, children)], PLAN) is not None) is noted


def test_no_note_if_children_or_nothing_were_sampled() -> None:
    points = [point(0, 0.0), point(9, 1.0, used(21.0))]
    assert children_note(points, replace(PLAN, subprocesses=True)) is None
    assert children_note(points, replace(PLAN, sampler=CALLS_ONLY)) is None
    assert children_note([], PLAN) is None


def test_only_time_between_the_points_counts() -> None:
    note = children_note([point(5, 1.0, used(4.0)), point(9, 1.0, used(6.0))], PLAN)
    assert note == Note.of(NoteCode.CHILDREN_UNSAMPLED, processes=0, cpu_s=2.0)


def noted(session: str, processes: int, cpu_s: float) -> Run:
    note = Note.of(NoteCode.CHILDREN_UNSAMPLED, processes=processes, cpu_s=cpu_s)
    return Run(replace(INFO, session=session, notes=(note,)))


def test_figures_of_unsampled_children() -> None:
    assert unsampled_children(Run(replace(INFO, notes=()))) is None
    assert unsampled_children(noted("a", 2, 21.0)) == (2, 21.0)


def test_figures_of_a_merged_run_are_sums_over_sessions() -> None:
    def merged(*runs: Run) -> Run:
        return replace(runs[0], merged=Merged(tuple(run.info for run in runs), ()))

    one, two = noted("a", 2, 21.0), noted("b", 1, 4.0)
    assert unsampled_children(merged(one, one, two)) == (3, 25.0)
    assert unsampled_children(merged(one, noted("c", 0, 1.0))) == (0, 22.0)


def test_cpu_time_includes_that_of_sampled_children() -> None:
    run = Run(INFO, resources=(point(0, 1.0), point(9, 1.5, used(21.0))))
    assert sampled_points(run) == run.resources
    run = replace(run, info=replace(INFO, plan=replace(PLAN, subprocesses=True)))
    assert [each.cpu_s for each in sampled_points(run)] == [1.0, 22.5]
