"""Which process of a merged run made the others wait."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.comparing.merged_runs import merge_runs
from profkit.model.run import FunctionPart, Merged, ProcessPart
from profkit.render.options import ReportOptions
from profkit.render.views.processes import of_busiest
from profkit.render.views.sampled import build_report
from profkit.render.views.summary import summary
from tests.support.example_runs import CWD
from tests.support.example_worker_runs import waiting_rank, worker_run

SAMPLES = 400


def merged(*working: int | None, augment: tuple[int, ...] = (), rank: str = "RANK") -> Merged:
    """Processes with so many of 400 samples working, and so many in a function that differs."""
    runs = [worker_run(number, {}) for number in range(len(working))]
    infos = tuple(
        replace(run.info, region=replace(run.info.region, env=((rank, str(number)),)))
        for number, run in enumerate(runs)
    )
    parts = tuple(
        ProcessPart(info.process, 0, 1, 1, SAMPLES, SAMPLES, None, 0, works)
        for info, works in zip(infos, working, strict=True)
    )
    part = FunctionPart("augment", f"{CWD}/train.py", 9, sum(augment), augment, (True,) * len(augment))
    return Merged(infos, parts, (part,) if augment else ())


def said(found: Merged) -> str:
    return " ".join(of_busiest(found, CWD))


def test_the_process_that_waited_least_is_named_with_its_rank_and_function() -> None:
    assert said(merged(80, 90, 320, 85, augment=(1, 2, 260, 1))) == (
        "Process 102 (RANK 2) waited least, 20 % of its time, and spent 65 % in augment (train.py:9); "
        "the others waited 78–80 %."
    )


def test_a_function_in_which_it_spends_less_is_no_cause() -> None:
    assert said(merged(80, 320, augment=(300, 20), rank="HOME")) == (
        "Process 101 waited least, 20 % of its time; the other one waited 80 %."
    )


@pytest.mark.parametrize("working", [(200, 210, 205), (200,), (10, None), (0, 0), (200, 235)])
def test_if_none_surely_waits_less_none_is_named(working: tuple[int | None, ...]) -> None:
    assert not said(merged(*working))


def test_only_ranks_wait_for_one_another() -> None:
    for call, is_named in (("wait@other:4", False), ("all_reduce@ranks:4", True)):
        runs = [waiting_rank(number, works, call) for number, works in enumerate((20, 20, 80))]
        sentences = summary(build_report(merge_runs(runs), ReportOptions()))
        named = [one for one in sentences if one.startswith("Process 102 waited least, 20 % of its time")]
        assert bool(named) is is_named
