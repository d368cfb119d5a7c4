"""Suspended time of runs, by line."""

from __future__ import annotations

from dataclasses import replace

from profkit.model.region import RegionKind
from profkit.model.session import AwaitTime
from profkit.stats import histogram_of
from profkit.transforms.suspension import (
    MOST_AWAITS,
    AwaitShare,
    Suspended,
    add_awaits,
    await_shares,
    suspended,
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
