"""Summaries of runs: they name the bottleneck, working and waiting, and what was not seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.model.profile import ProfileBuilder, Thread
from profkit.model.run import Run
from profkit.model.session import ResourcePoint
from profkit.render.options import Activity, ReportOptions
from profkit.render.views.sampled import build_report
from profkit.render.views.summary import summary
from profkit.stats import histogram_of
from profkit.units import Unit
from tests.support.example_runs import made_run
from tests.support.profile_strategies import frame_of

WAIT = "wait@other:4"
"""In threading.py, where functions of this name wait."""


def summary_of(
    *stacks: tuple[str, int, int],
    activity: Activity = Activity.ALL,
    resources: tuple[ResourcePoint, ...] = (),
    **changes: object,
) -> list[str]:
    """Summarize `("f:1 g:2", weight, thread)` stacks."""
    builder = ProfileBuilder()
    for text, weight, thread in stacks:
        builder.add(tuple(map(frame_of, text.split())), Thread(7, thread, f"t{thread}"), weight)
    run = made_run(torn=0, **changes)
    profile = builder.build(period_ns=1e7)
    return list(summary(build_report(Run(run.info, profile, resources), ReportOptions(activity=activity))))


def test_the_function_with_most_time_and_its_library_call_are_named() -> None:
    first, second, third = summary_of(("f:1 dump@lib:3", 60, 1), ("f:2 g:7", 40, 1))
    assert first == "f (/home/ann/app.py:1) takes 60 % ±9 of the time, mostly in dump [json]."
    assert second == "No waiting was recognized."
    assert third == "Nothing is known to be missing."


def test_a_library_is_named_if_the_time_is_spread_over_its_functions() -> None:
    first, *_ = summary_of(("f:1 dump@lib:3", 40, 1), ("f:1 dump@lib:3 walk@lib:9", 40, 1), ("f:2", 20, 1))
    assert first == "f (/home/ann/app.py:1) takes 100 % ±2 of the time, mostly in [json]."


def test_a_recursive_function_is_named_once() -> None:
    first, *_ = summary_of(("f:1 f:1 f:2", 30, 1), ("f:1 f:2", 70, 1))
    assert first == "f (/home/ann/app.py:2) takes 100 % ±2 of the time."


def test_time_that_is_spread_is_that_of_the_call_above_it() -> None:
    stacks = [(f"main:1 handle:5 part{number}:9", 5, 1) for number in range(20)]
    first, *_ = summary_of(*stacks)
    assert first == (
        "No function takes more than 5 % ±5 of the time; handle (/home/ann/app.py:5) with its "
        "callees has 100 % ±2."
    )


def test_waiting_is_the_bottleneck_of_a_single_thread() -> None:
    first, second, _ = summary_of((f"train:8 {WAIT}", 80, 1), ("train:9 step:2", 20, 1))
    assert first == "train (/home/ann/app.py:8) waits for 80 % ±8 of the time, in wait [threading]."
    assert (
        second
        == "The thread waited 80 % ±8 of the time and worked 20 % ±8, mostly in step (/home/ann/app.py:2)."
    )


def test_of_several_threads_the_working_time_counts() -> None:
    stacks = [
        ("serve:3 render:5", 20, 1),
        ("serve:3", 10, 1),
        *((f"boot@other:1 {WAIT}", 30, n) for n in range(2, 10)),
    ]
    first, second, _ = summary_of(*stacks)
    assert first == "render (/home/ann/app.py:5) takes 67 % ±16 of the working time."
    assert second.startswith("The 9 threads worked 11 % ±4 of the time and waited 89 % ±4, mostly in wait (")


def test_if_hardly_any_thread_works_waiting_is_the_bottleneck() -> None:
    first, *_ = summary_of(("serve:3", 1, 1), *((f"serve:4 {WAIT}", 50, n) for n in range(2, 6)))
    assert first == "serve (/home/ann/app.py:4) waits for 100 % ±1 of the time, in wait [threading]."


def test_threads_that_work_for_longer_than_processors_run_them_wait_for_the_gil() -> None:
    points = [ResourcePoint(at_ns=int(1e9 * s), cpu_s=float(s), rss_bytes=1, threads=5) for s in range(12)]
    stacks = [*(("spin:3", 1000, n) for n in range(1, 5)), (WAIT, 1000, 5)]
    _, second, _ = summary_of(*stacks, resources=tuple(points), session_s=11.0)
    assert second.endswith(
        " On average 3.6 threads had work, and the process used 1.0 processors: they waited for the GIL or "
        "for a processor."
    )


@pytest.mark.parametrize(
    ("activity", "said"),
    [
        (Activity.WORKING, "step (/home/ann/app.py:2) takes 100 % ±8 of the working time."),
        (
            Activity.WAITING,
            "train (/home/ann/app.py:8) waits for 100 % ±2 of the waiting time, in wait [threading].",
        ),
    ],
)
def test_the_selected_activity_is_summarized(activity: Activity, said: str) -> None:
    stacks = (f"train:8 {WAIT}", 80, 1), ("train:9 step:2", 20, 1)
    assert summary_of(*stacks, activity=activity)[0] == said


def test_what_was_not_seen_is_listed() -> None:
    run = made_run(torn=2, errors=1, gap_s=1.5, skipped=3, traced_away=1)
    *_, third = summary(build_report(run, ReportOptions()))
    assert third == (
        "Not seen: 2 of 293 samples, which were torn; 1 sample that the sampler lost; "
        "1.50 s between segments; 3 calls that were not profiled; 1 call that torch compiled."
    )


def test_other_threads_that_work_are_suggested() -> None:
    points = [ResourcePoint(at_ns=int(1e9 * s), cpu_s=0.97 * s, rss_bytes=1, threads=21) for s in range(4)]
    *_, third = summary_of(
        (f"main:8 {WAIT}", 290, 1),
        ("main:9", 10, 1),
        resources=tuple(points),
        session_s=3.0,
        durations=histogram_of([3_000_000_000]),
    )
    assert third == "Not seen: other threads, which used 94 % of a processor (threads=True samples them)."


def test_the_call_that_has_most_of_the_time_is_named_beside_a_smaller_function() -> None:
    of_loading = [(f"main:1 load:5 part{number}:9", 20, 1) for number in range(3)]
    first, *_ = summary_of(*of_loading, ("main:2 step:7 torch@lib:3", 40, 1))
    assert first == (
        "load (/home/ann/app.py:5) with its callees has 60 % ±9 of the time; the largest function is "
        "step (/home/ann/app.py:7) with 40 % ±9, mostly in torch [json]."
    )


def test_a_function_that_is_called_from_there_comes_first() -> None:
    first, *_ = summary_of(
        ("main:1 load:5 parse:9", 40, 1), ("main:1 load:5 g:6", 25, 1), ("main:2 h:8", 35, 1)
    )
    assert first == (
        "parse (/home/ann/app.py:9) takes 40 % ±9 of the time; "
        "load (/home/ann/app.py:5) with its callees has 65 % ±9."
    )


def test_comprehensions_are_not_named_instead_of_their_function() -> None:
    parts = [(f"main:1 load:5 load.<locals>.<listcomp>:5 part{number}:9", 20, 1) for number in range(4)]
    first, *_ = summary_of(*parts, ("main:2", 20, 1))
    assert first.endswith("; load (/home/ann/app.py:5) with its callees has 80 % ±8.")


def test_a_call_that_has_nearly_everything_is_not_worth_a_word() -> None:
    first, *_ = summary_of(("main:1 f:5", 40, 1), ("main:1 g:6", 30, 1), ("main:1 h:6", 30, 1))
    assert first == "f (/home/ann/app.py:5) takes 40 % ±9 of the time."


def test_counts_have_no_waiting() -> None:
    run = made_run()
    counted = Run(run.info, replace(run.profile, unit=Unit.INSTRUCTIONS, period_ns=0.0))  # type: ignore[type-var]
    first, second, _ = summary(build_report(counted, ReportOptions()))
    assert first == (
        "jitter.<locals>.pixel (vision/data.py:9) takes 41 % of the instructions; "
        "augment (vision/data.py:18) with its callees has 51 %."
    )
    assert second == "The total is 291 instructions."
