"""Summaries of runs: the main timeline first, by lines of the program, then others, and what is missing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.model.histogram import histogram_of
from profkit.model.profile import ProfileBuilder, Thread, ThreadState
from profkit.model.region import RegionKind
from profkit.model.run import Run
from profkit.model.session import AwaitTime
from profkit.render.options import Activity, ReportOptions
from profkit.render.views.sampled import build_report
from profkit.render.views.summary import summary
from profkit.units import Unit
from tests.support.example_runs import made_run
from tests.support.profile_strategies import frame_of

WAIT = "wait@other:4"
"""In threading.py, where functions of this name wait."""
WORKING, WAITING, GIL = ThreadState.WORKING, ThreadState.WAITING, ThreadState.GIL
MAIN = "MainThread"

Row = tuple[str, int, ThreadState] | tuple[str, int, ThreadState, str]
"""Frames, weight, state, and the thread if it is not the main one."""


def summary_of(*rows: Row, thread: str | None = None, activity: Activity = Activity.ALL) -> list[str]:
    """Summarize a program with these samples."""
    builder, tids = ProfileBuilder(), dict[str, int]()
    for text, weight, state, *names in rows:
        name = names[0] if names else MAIN
        pid = 9 + int(name.removeprefix("child") or 0) if name.startswith("child") else 4242
        tid = tids.setdefault(name, 4242 + len(tids))
        known = MAIN if name.startswith("child") else name
        builder.add(tuple(map(frame_of, text.split())), Thread(pid, tid, known), weight, state=state)
    run = made_run(torn=0)
    info = replace(run.info, region=replace(run.info.region, kind=RegionKind.PROGRAM))
    options = ReportOptions(thread=thread, activity=activity)
    return list(summary(build_report(Run(info, builder.build(period_ns=1e7)), options)))


def test_a_function_that_takes_most_of_the_time_is_all_there_is_to_say() -> None:
    assert summary_of(("main:1 f:5 dump@lib:3", 90, WORKING), ("main:2 g:7", 10, WORKING)) == [
        "f (/home/ann/app.py:5) takes 90 % ±6 of the time, mostly in dump [json]."
    ]


def test_takes_is_the_total_with_callees() -> None:
    first, *_ = summary_of(
        ("main:1 f:5", 60, WORKING), ("main:1 f:5 g:7", 20, WORKING), ("main:1 h:9", 20, WORKING)
    )
    assert first == "f (/home/ann/app.py:5) takes 80 % ±8 of the time."


def test_a_loop_is_told_by_its_line() -> None:
    first, *_ = summary_of(
        ("train:8 step@lib:2", 55, WORKING), (f"train:5 {WAIT}", 25, WAITING), ("train:9 f:3", 20, WORKING)
    )
    assert first == "train (/home/ann/app.py:8) takes 55 % ±10 of the time, mostly in step [json]."


def test_outside_of_functions_a_line_has_no_name() -> None:
    first, *_ = summary_of(("<module>:8 dumps@lib:2", 70, WORKING), ("<module>:9", 30, WORKING))
    assert first == "/home/ann/app.py:8 takes 70 % ±9 of the time, mostly in dumps [json]."


def test_comprehensions_are_not_named_instead_of_their_function() -> None:
    first, *_ = summary_of(
        ("main:1 load:5 load.<locals>.<listcomp>:5 dumps@lib:9", 80, WORKING), ("main:2", 20, WORKING)
    )
    assert first == "load (/home/ann/app.py:5) takes 80 % ±8 of the time, mostly in dumps [json]."


def test_waiting_is_measured_and_functions_only_label_it() -> None:
    first, second = summary_of(
        (f"main:8 {WAIT}", 60, WAITING), (f"main:8 {WAIT}", 10, WORKING), ("main:9 f:3", 30, WORKING)
    )
    assert first == "main (/home/ann/app.py:8) waits 60 % ±9 of the time for another thread."
    assert second == "The main thread worked 40 % ±9 and waited 60 % ±9 of the time."


def test_a_wait_without_a_label_ends_in_a_library() -> None:
    first, *_ = summary_of(("main:8 dumps@lib:2", 80, WAITING), ("main:9", 20, WORKING))
    assert first == "main (/home/ann/app.py:8) waits 80 % ±8 of the time, in dumps [json]."


def test_the_main_thread_comes_before_others_that_work() -> None:
    said = summary_of(
        (f"main:8 {WAIT}", 100, WAITING),
        ("boot@other:1 digest:3 dumps@lib:2", 95, WORKING, "pool_0"),
        (f"boot@other:1 {WAIT}", 5, WAITING, "pool_0"),
        (f"boot@other:1 {WAIT}", 100, WAITING, "idle"),
    )
    assert said == [
        "main (/home/ann/app.py:8) waits 100 % (at least 96 %) of the main thread's time for another thread.",
        "Thread “pool_0” worked 95 % ±5 of its time, mostly in digest (/home/ann/app.py:3), in dumps [json].",
    ]


def test_alike_threads_are_told_together() -> None:
    others: list[Row] = [("spin:4", 100, WORKING, f"pool_{n}") for n in range(3)]
    *_, last = summary_of((f"main:8 {WAIT}", 100, WAITING), *others)
    assert last.startswith("3 threads “pool_*” worked 100 % (at least 99 %) of their time, mostly in spin (")


def test_child_processes_have_their_pid() -> None:
    *_, last = summary_of((f"main:8 {WAIT}", 100, WAITING), ("tokenize:4", 100, WORKING, "child"))
    assert last.startswith("Child process 9 worked 100 % (at least 96 %) of its time, mostly in tokenize (")


def steps(thread: str, weight: int = 10) -> list[Row]:
    """Ten functions of one size."""
    return [(f"main:{line} f{line}:{line}", weight, WORKING, thread) for line in range(1, 11)]


def test_child_processes_in_which_nothing_stands_out_are_told_together() -> None:
    idle: Row = (f"main:8 {WAIT}", 100, WAITING)
    _, said = summary_of(idle, *(row for n in range(3) for row in steps(f"child{n}")))
    assert said == "3 child processes worked 100 % (at least 99 %) of their time."


def test_the_child_process_that_works_most_is_told_first() -> None:
    idle: Row = (f"main:8 {WAIT}", 100, WAITING)
    waits: list[Row] = [(f"main:8 {WAIT}", 80, WAITING, name) for name in ("child0", "child2")]
    others = [row for name in ("child0", "child2") for row in steps(name, 2)]
    _, slow, rest = summary_of(idle, *waits, *others, ("augment:4", 80, WORKING, "child1"))
    assert slow.startswith("Child process 10 worked 100 % (at least 95 %) of its time, mostly in augment (")
    assert rest == "2 other child processes worked 20 % ±6 of their time."


def test_child_processes_that_work_in_one_function_are_told_together() -> None:
    idle: Row = (f"main:8 {WAIT}", 100, WAITING)
    works: list[Row] = [("tokenize:4", 90 + n, WORKING, f"child{n}") for n in range(2)]
    _, alike, thread = summary_of(idle, *works, ("spin:5", 30, WORKING, "pool"))
    assert alike.startswith("2 child processes worked 100 % (at least 98 %) of their time, mostly in")
    assert thread.startswith("Thread “pool” worked")


def test_an_interpreter_that_starts_is_no_place() -> None:
    start: Row = ("<process>@child", 30, WORKING, "child")
    _, said = summary_of((f"main:8 {WAIT}", 100, WAITING), start, (f"main:8 {WAIT}", 70, WAITING, "child"))
    assert said == "Child process 9 worked 30 % ±9 of its time."


def test_imports_of_others_are_no_work() -> None:
    imports: Row = ("main:3 _find_and_load@importlib <module>@lib:1", 60, WORKING, "loader")
    _, said = summary_of(("f:2", 100, WORKING), imports, ("g:4", 40, WORKING, "loader"))
    assert said == (
        "Thread “loader” worked 40 % ±9 and imported modules 60 % ±9 of its time, "
        "mostly in g (/home/ann/app.py:4)."
    )


def test_waiting_for_the_gil_is_work_that_could_not_go_on() -> None:
    said = summary_of(
        ("spin:4", 50, WORKING), ("spin:4", 50, GIL), ("spin:4", 50, WORKING, "b"), ("spin:4", 50, GIL, "b")
    )
    assert said == [
        "spin (/home/ann/app.py:4) takes 100 % (at least 96 %) of the main thread's time.",
        "The main thread worked 50 % ±10 and waited for the GIL 50 % ±10 of the time.",
        "Thread “b” worked 50 % ±10 and waited for the GIL 50 % ±10 of its time, mostly in spin "
        "(/home/ann/app.py:4).",
    ]


def test_imports_are_their_own_category() -> None:
    builder = ProfileBuilder()
    load = ("<frozen importlib._bootstrap>", "_find_and_load")
    for frames, weight in (([*load], 70), ([], 30)):
        stack = [frame_of("main:3")]
        if frames:
            stack += [stack[0]._replace(name=frames[1], file=frames[0]), frame_of("<module>@lib:1")]
        builder.add(tuple(stack), Thread(4242, 4242, MAIN), weight, state=WORKING)
    run = made_run(torn=0)
    info = replace(run.info, region=replace(run.info.region, kind=RegionKind.PROGRAM))
    first, second = summary(build_report(Run(info, builder.build(period_ns=1e7)), ReportOptions()))
    assert first == "main (/home/ann/app.py:3) takes 70 % ±9 of the time for importing json."
    assert second == "The main thread worked 30 % ±9 and imported modules 70 % ±9 of the time."


def test_functions_that_differ_by_noise_only_are_named_together() -> None:
    first, *_ = summary_of(("main:1 f:5", 52, WORKING), ("main:1 g:7", 48, WORKING))
    assert (
        first
        == "f (/home/ann/app.py:5) takes 52 % ±10 of the time; g (/home/ann/app.py:7) takes 48 % ±10 of it."
    )


def test_many_functions_of_one_size_are_counted() -> None:
    first, *_ = summary_of(*((f"main:1 f{n}:5", 250, WORKING) for n in range(4)))
    assert first == "4 functions take about as much time: 25.0 % ±2.7 of the time each."


def test_if_the_time_is_spread_no_culprit_is_named() -> None:
    first, *_ = summary_of(*((f"main:1 part{n}:9", 5, WORKING) for n in range(20)))
    assert first == "The time is spread over 20 functions: none has more than 5 % ±5 of the time."


def test_a_function_that_spreads_its_time_comes_before_a_smaller_one() -> None:
    of_loading: list[Row] = [(f"main:1 load:5 part{number}:9", 20, WORKING) for number in range(3)]
    first, *_ = summary_of(*of_loading, ("main:2 step:7 dumps@lib:3", 40, WORKING))
    assert first == (
        "load (/home/ann/app.py:5) takes 60 % ±9 of the time with what it calls; "
        "step (/home/ann/app.py:7) takes 40 % ±9 of it, mostly in dumps [json]."
    )


def test_a_function_that_is_called_from_there_comes_first() -> None:
    first, *_ = summary_of(
        ("main:1 load:5 parse:9", 40, WORKING),
        ("main:1 load:5 g:6", 25, WORKING),
        ("main:2 h:8", 35, WORKING),
    )
    assert first == (
        "parse (/home/ann/app.py:9) takes 40 % ±9 of the time; "
        "load (/home/ann/app.py:5) takes 65 % ±9 of it with what it calls."
    )


def test_a_call_that_has_all_but_the_imports_is_not_worth_a_word() -> None:
    importing = frame_of("main:3")._replace(name="_find_and_load", file="<frozen importlib._bootstrap>")
    builder = ProfileBuilder()
    builder.add((frame_of("<module>:1"), importing), Thread(4242, 4242, MAIN), 15, state=WORKING)
    for number in range(20):
        stack = frame_of("<module>:2"), frame_of("main:7"), frame_of(f"part{number}:9")
        builder.add(stack, Thread(4242, 4242, MAIN), 5, state=WORKING)
    run = made_run(torn=0)
    info = replace(run.info, region=replace(run.info.region, kind=RegionKind.PROGRAM))
    first, *_ = summary(build_report(Run(info, builder.build(period_ns=1e7)), ReportOptions()))
    assert first == "The time is spread over 21 functions: none has more than 13 % ±6 of the time."


@pytest.mark.parametrize("samples", [1, 9])
def test_few_samples_say_nothing(samples: int) -> None:
    said = summary_of(("main:1", samples, WORKING))
    assert said == [
        f"Too few samples ({samples}) to say where the time goes: profile for longer, or with a higher "
        "rate such as 1000 Hz."
    ]


def test_a_selected_thread_has_its_own_summary() -> None:
    rows: list[Row] = [
        (f"main:8 {WAIT}", 100, WAITING),
        ("spin:4", 60, WORKING, "b"),
        (f"spin:5 {WAIT}", 40, WAITING, "b"),
    ]
    assert summary_of(*rows, thread="b") == [
        "spin (/home/ann/app.py:4) takes 60 % ±9 of its time.",
        "The thread worked 60 % ±9 and waited 40 % ±9 of the time.",
    ]


@pytest.mark.parametrize(
    ("activity", "said"),
    [
        (Activity.WORKING, "step (/home/ann/app.py:2) takes 100 % (at least 84 %) of the working time."),
        (
            Activity.WAITING,
            "train (/home/ann/app.py:8) waits 100 % (at least 95 %) of the waiting time for another thread.",
        ),
    ],
)
def test_the_selected_activity_is_summarized(activity: Activity, said: str) -> None:
    rows = (f"train:8 {WAIT}", 80, WAITING), ("train:9 step:2", 20, WORKING)
    assert summary_of(*rows, activity=activity) == [said]


def test_the_calls_of_a_region_come_first() -> None:
    builder = ProfileBuilder()
    builder.add((frame_of("serve:3"), frame_of("render:5")), Thread(4242, 1, "a"), 50, state=WORKING)
    builder.add((frame_of("other:3"),), Thread(4242, 2, "b"), 50, state=WORKING)
    run = made_run(torn=0)
    region = replace(run.info.region, file="/home/ann/app.py", expected=("serve", "/home/ann/app.py"))
    first, second = summary(
        build_report(Run(replace(run.info, region=region), builder.build(period_ns=1e7)), ReportOptions())
    )
    assert first == "render (/home/ann/app.py:5) takes 100 % (at least 93 %) of the calls' time."
    assert (
        second == "Thread “b” worked 100 % (at least 93 %) of its time, mostly in other (/home/ann/app.py:3)."
    )


def test_a_coroutine_is_suspended_most_of_the_time() -> None:
    waits = AwaitTime("/home/ada/vision/db.py", 6, "fetch", "sleep", 700_000_000, 5)
    run = made_run(torn=0, durations=histogram_of([1_000_000_000]), suspended_ns=800_000_000, awaits=(waits,))
    first, second, *_ = summary(build_report(run, ReportOptions()))
    assert first == "train_step is suspended 80 % of its wall time, 70 % awaiting sleep in fetch (db.py:6)."
    assert second == (
        "jitter.<locals>.pixel (vision/data.py:9) takes 41 % ±6 of the active time; "
        "augment (vision/data.py:18) takes 51 % ±6 of it with what it calls."
    )


def test_few_samples_of_the_active_time_say_nothing_of_it() -> None:
    builder = ProfileBuilder()
    builder.add((frame_of("f:3"),), Thread(4242, 4242, MAIN), 5, state=WORKING)
    waits = AwaitTime("/home/ada/vision/db.py", 6, "fetch", "sleep", 700_000_000, 5)
    run = made_run(torn=0, durations=histogram_of([1_000_000_000]), suspended_ns=800_000_000, awaits=(waits,))
    run = replace(run, profile=builder.build(period_ns=1e7))
    _, second, *_ = summary(build_report(run, ReportOptions()))
    assert second.startswith("Too few samples (5) to say where the active time goes: profile for longer")


@pytest.mark.parametrize(
    ("suspended_ns", "who"),
    [
        (700_000_000, "a task is suspended 70 % of the time"),
        (2_500_000_000, "on average 2.5 tasks are suspended"),
    ],
)
def test_tasks_are_suspended_while_the_event_loop_waits(suspended_ns: int, who: str) -> None:
    builder = ProfileBuilder()
    select = frame_of("select@other:4")._replace(file="/usr/lib/python3.11/selectors.py")
    builder.add((frame_of("main:9"), select), Thread(4242, 4242, MAIN), 90, state=WAITING)
    waits = AwaitTime("/home/ada/vision/db.py", 6, "fetch", "sleep", suspended_ns, 5)
    run = made_run(torn=0, durations=histogram_of([1_000_000_000]), awaits=(waits,))
    info = replace(run.info, region=replace(run.info.region, kind=RegionKind.PROGRAM))
    said = summary(build_report(Run(info, builder.build(period_ns=1e7)), ReportOptions()))
    assert said == (
        "main (/home/ann/app.py:9) waits 100 % (at least 96 %) of the time for events.",
        f"Meanwhile, {who} awaiting sleep in fetch (db.py:6).",
    )


def test_what_was_not_seen_is_listed() -> None:
    run = made_run(torn=2, errors=1, gap_s=1.5, skipped=3, traced_away=1)
    *_, last = summary(build_report(run, ReportOptions()))
    assert last == (
        "Not seen: 2 of 293 samples, which were torn; 1 sample that the sampler lost; "
        "1.50 s without samples; 3 calls that were not profiled; 1 call that torch compiled."
    )


def test_counts_have_no_waiting() -> None:
    run = made_run()
    counted = Run(run.info, replace(run.profile, unit=Unit.INSTRUCTIONS, period_ns=0.0))  # type: ignore[type-var]
    first, second = summary(build_report(counted, ReportOptions()))
    assert first == (
        "jitter.<locals>.pixel (vision/data.py:9) takes 41 % of the instructions; "
        "augment (vision/data.py:18) has 51 % with what it calls."
    )
    assert second == "The total is 291 instructions."
