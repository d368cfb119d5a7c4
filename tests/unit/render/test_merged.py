"""Reports of several runs as one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from profkit.comparing.merged_runs import merge_runs
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, ThreadState
from profkit.model.run import Run
from profkit.model.session import SessionState
from profkit.render.formatting import Part, Tone
from profkit.render.html.sampled import sampled_html
from profkit.render.json.sampled import sampled_json
from profkit.render.options import ReportOptions, Terminal
from profkit.render.registry import SAMPLED
from profkit.render.views.header import facts
from profkit.render.views.processes import process_rows
from tests.support.example_runs import made_run
from tests.support.example_worker_runs import FILE, READ, RENDER, worker_run
from tests.support.golden import check_golden
from tests.support.html_pages import read_page, rows_of

pytestmark = pytest.mark.usefixtures("utc")


def merged_run() -> Run:
    """Four workers of one host that do the same, and one of another that renders more."""
    crowded = [
        Note.of(NoteCode.CROWDED_HOST, rate_hz=20 - number, processes=4 + number / 10) for number in range(4)
    ]
    runs = [worker_run(number, {READ: 60, RENDER: 40}, notes=(crowded[number],)) for number in range(4)]
    odd = worker_run(4, {READ: 10, RENDER: 90}, host="web-2", nested=5, state=SessionState.RUNNING)
    return merge_runs([odd, *reversed(runs)])


def fact(run: Run, name: str) -> str:
    return next(fact.text for fact in facts(run) if fact.name == name)


@pytest.mark.parametrize("width", [None, 80, 50])
def test_text(width: int | None) -> None:
    name = "pipe" if width is None else f"width-{width}"
    check_golden(f"report-merged-{name}.txt", SAMPLED.text([merged_run()], terminal=Terminal(width)) + "\n")


def test_markdown() -> None:
    check_golden("report-merged.md", SAMPLED.markdown([merged_run()]) + "\n")


def test_json() -> None:
    document = sampled_json([merged_run()])
    check_golden("report-merged.json", json.dumps(json.loads(document), indent=1) + "\n")
    assert json.loads(sampled_json([made_run()]))["merged"] is None


def test_notes_that_differ_in_figures_are_one() -> None:
    notes = [fact.text for fact in facts(merged_run()) if fact.name == "note"]
    assert notes == [
        "In 4 of 5 runs: Sampled 17 times per second, because 4.3 processes per processor were ready to run "
        "at the start. Set rate= for another rate."
    ]


def test_notes_that_differ_in_texts_are_not_one() -> None:
    details = ("process 7 failed", "process 12 failed", "it was stopped")
    notes = [Note.of(NoteCode.SEGMENT_FAILED, segment=0, detail=detail) for detail in details]
    runs = [worker_run(number, {READ: 1}, notes=(note,)) for number, note in enumerate(notes)]
    shown = [fact.text for fact in facts(merge_runs(runs)) if fact.name == "note"]
    assert shown == [
        "In 2 of 3 runs: Segment 0 ended with an error: process 7 failed.",
        "In 1 of 3 runs: Segment 0 ended with an error: it was stopped.",
    ]


def test_of_many_notes_the_most_frequent_are_shown() -> None:
    notes = [Note.of(NoteCode.OTHER_OPTIONS, label=f"f{'x' * number}") for number in range(11)]
    run = merge_runs([worker_run(0, {READ: 1}, notes=tuple(notes)), worker_run(1, {READ: 1})])
    *shown, more = [fact.text for fact in facts(run) if fact.name == "note"]
    assert len(shown) == 8
    assert more == "3 more notes: `profkit report ID` shows the notes of one run."


def test_runs_that_failed_are_counted_and_their_error_is_said() -> None:
    failed = worker_run(1, {}, state=SessionState.FAILED, error="py-spy failed at start: it was killed")
    run = merge_runs([failed, worker_run(0, {READ: 10})])
    assert fact(run, "runs") == "2 runs · 2 processes · on web-1 · 1 FAILED"
    killed = merge_runs([failed, worker_run(2, {READ: 10}, state=SessionState.ENDED_EARLY)])
    assert fact(killed, "runs") == "2 runs · 2 processes · on web-1 · 1 ended early · 1 FAILED"
    assert fact(run, "note") == "In 1 of 2 runs: The run failed: py-spy failed at start: it was killed."


def test_what_differs_between_runs_is_listed() -> None:
    runs = [
        worker_run(
            number, {READ: 10}, host=f"web-{number}", plan=replace(made_run().info.plan, rate_hz=rate_hz)
        )
        for number, rate_hz in enumerate((20.0, 100.0, 50.0, 50.0, 50.0))
    ]
    runs[0] = replace(
        runs[0],
        info=replace(
            runs[0].info, process=replace(runs[0].info.process, python="3.12.1", argv=("gunicorn",))
        ),
    )
    run = merge_runs(runs)
    assert fact(run, "runs") == "5 runs · 5 processes · on web-0, web-1, web-2 and 2 more · of 2 commands"
    assert fact(run, "sampler").startswith("pyspy 0.4.3 · 20 Hz to 100 Hz requested · 20 Hz achieved")
    assert fact(run, "process").startswith("Python 3.11.2 and 3.12.1 · ")
    assert fact(run, "command") == "python train.py --epochs 3 · gunicorn"


def rank_run(number: int, *, launch: str = "a1", **env: str) -> Run:
    run = worker_run(number, {READ: 10})
    variables = (("RANK", str(number)), ("WORLD_SIZE", "4"), *env.items())
    region = replace(
        run.info.region, env=variables, tags=("nightly", f"rank-{number}"), user=f"user-{number % 2}"
    )
    process = replace(run.info.process, launch=launch)
    return replace(run, info=replace(run.info, region=region, process=process))


def test_facts_of_ranks_are_ranges_and_lists() -> None:
    run = merge_runs([rank_run(number) for number in range(4)])
    assert fact(run, "env") == "RANK=0 to 3 · WORLD_SIZE=4"
    assert fact(run, "tags").startswith("nightly · rank-0 in 1 of 4 runs · rank-1 in 1 of 4 runs")
    assert fact(run, "user") == "user-0 and user-1"
    assert (run.info.region.env, run.info.region.tags, run.info.region.user) == (
        (("WORLD_SIZE", "4"),),
        ("nightly",),
        "",
    )
    run = merge_runs([rank_run(0, NODE="a"), rank_run(2, NODE="b"), rank_run(10)])
    assert fact(run, "env") == "RANK=0, 2 and 10 · WORLD_SIZE=4 · NODE=a and b in 2 of 3 runs"


def test_facts_of_one_run_are_as_recorded() -> None:
    assert fact(rank_run(2), "env") == "RANK=2 · WORLD_SIZE=4"
    assert fact(rank_run(2), "tags") == "nightly · rank-2"
    assert fact(merge_runs([rank_run(2)]), "env") == "RANK=2 · WORLD_SIZE=4"


def launches_of(*runs: Run) -> Part | None:
    """The part of the fact `runs` that is about launches."""
    (parts,) = [each.parts for each in facts(merge_runs(runs)) if each.name == "runs"]
    return next((part for part in parts if part.text.startswith("of ")), None)


def test_runs_of_several_launches_are_said_to_be() -> None:
    ranks = [rank_run(number) for number in range(4)]
    assert launches_of(*ranks) is None
    others = [rank_run(number, launch="b2") for number in range(4, 8)]
    assert launches_of(*ranks, *others) == Part("of 2 launches", Tone.WARN)
    assert launches_of(ranks[0], others[0]) == Part("of 2 launches"), "one process each"
    jobs = [rank_run(n, launch="", TORCHELASTIC_RUN_ID=str(n // 2)) for n in range(6)]
    assert launches_of(*jobs) == Part("of 3 launches", Tone.WARN)


@pytest.mark.parametrize(
    ("argv", "part"),
    [
        (("python", "train.py", "--epochs", "4"), None),
        (("python", "-c", "from multiprocessing.spawn import spawn_main"), None),
        (("python", "evaluate.py"), Part("of 2 commands", Tone.PLAIN)),
    ],
)
def test_runs_of_several_commands_are_said_to_be(argv: tuple[str, ...], part: Part | None) -> None:
    one, two = rank_run(0, launch=""), rank_run(1, launch="")
    two = replace(two, info=replace(two.info, process=replace(two.info.process, argv=argv)))
    found = launches_of(one, two)
    assert (found and found.text) == (part and part.text)


def test_processes_that_worked_most_are_first() -> None:
    def states(working: int) -> Run:
        run = worker_run(working, {READ: working, RENDER: 100 - working})
        assert run.profile is not None
        stacks = run.profile.stacks
        by_stack = [
            ThreadState.WORKING if run.profile.frames[stack[1]] == READ else ThreadState.WAITING
            for stack in stacks
        ]
        return replace(run, profile=replace(run.profile, states=tuple(by_stack)))

    run = merge_runs([states(20), states(90), states(40)])
    assert run.merged is not None
    assert [row.working_share for row in process_rows(run.merged)] == [0.9, 0.4, 0.2]
    assert "by working time" in SAMPLED.text([run])
    known = [states(20), worker_run(1, {READ: 5}), worker_run(2, {READ: 3})]
    busy = replace(known[1], resources=(known[1].resources[0], replace(known[1].resources[1], cpu_s=11.0)))
    run = merge_runs([known[0], known[2], busy])
    assert run.merged is not None
    rows = process_rows(run.merged)
    assert [row.cpu_share for row in rows] == [1.0, 0.5, 0.5]
    assert [row.samples for row in rows] == [5, 100, 3], "those with the same CPU time by samples"
    assert "by CPU time" in SAMPLED.text([run])


def test_the_time_that_was_sampled_is_counted_if_it_differs() -> None:
    plan = made_run().info.plan
    plans = [plan, replace(plan, idle=False), replace(plan, idle=False, gil=True), plan]
    runs = [worker_run(number, {READ: 10}, plan=plan) for number, plan in enumerate(plans)]
    assert fact(merge_runs(runs[1:2] * 2), "sampler").endswith(" · time on the CPU only")
    assert fact(merge_runs(runs[:2]), "sampler").endswith(" · wall clock in 1 of 2 runs")
    assert fact(merge_runs(runs[1:3]), "sampler").endswith(" · time on the CPU only in 1 of 2 runs")
    assert fact(merge_runs(runs), "sampler").endswith(
        " · wall clock in 2 of 4 runs, time on the CPU only in 1 of 4 runs"
    )


def test_a_long_list_of_processes_is_cut() -> None:
    run = merge_runs([worker_run(number, {READ: 10}) for number in range(40)])
    text = SAMPLED.text([run], ReportOptions(limit=3))
    assert "… and 37 more" in text
    assert "… and 37 more" in SAMPLED.markdown([run], ReportOptions(limit=3))


def test_processes_that_are_alike_are_said_to_be() -> None:
    run = merge_runs([worker_run(number, {READ: 60, RENDER: 40}) for number in range(2)])
    assert "No function's share differs between the processes" in SAMPLED.text([run])


def test_recursion_is_counted_once_and_said() -> None:
    run = made_run(nested=17_239)
    assert (
        fact(run, "calls") == "17,279 · 2.97 s wall time · 17,239 of them recursive, whose time counts once"
    )
    assert json.loads(sampled_json([run]))["run"]["nested"] == 17_239
    assert json.loads(sampled_json([run]))["run"]["calls"] == 17_279
    assert "nested" not in fact(made_run(), "calls")


def test_a_page_has_the_processes() -> None:
    odd = worker_run(1, {READ: 10, RENDER: 90}, host="web-\x1b[31m")
    page = sampled_html([merge_runs([odd, worker_run(0, {READ: 95, RENDER: 10})])])
    run = read_page(page).head["runs"][0]
    _, processes, title, differing = run["tables"]["processes"]
    assert [row["pid"] for row in rows_of(processes)] == ["100", "101"]
    assert title["title"] == "Shares that differ between processes"
    assert {row["function"] for row in rows_of(differing)} == {"read", "render"}
    assert "\x1b" not in json.dumps(run, ensure_ascii=False)
    assert read_page(sampled_html([made_run()])).head["runs"][0]["tables"] == {}


@pytest.mark.parametrize("workers", [16, 40])
def test_text_of_many_processes_is_short(workers: int) -> None:
    runs = [
        worker_run(number, {Frame(f"task_{number}_{place}", FILE, place): 40 for place in range(4)})
        for number in range(workers)
    ]
    text = SAMPLED.text([merge_runs(reversed(runs))])
    assert len(text.splitlines()) <= 120
    assert f"… and {workers - 10} more" in text
    assert len(SAMPLED.text([merge_runs(runs)], ReportOptions(min_share=0.0001)).splitlines()) > 120
