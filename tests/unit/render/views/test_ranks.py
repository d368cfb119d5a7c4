"""Who made the others wait, in words, and the table of all ranks."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

import pytest

from profkit.comparing.merged_runs import merge_runs
from profkit.model.profile import Frame, Thread
from profkit.model.ranks import LateRanks, RankTimes
from profkit.model.region import RegionKind
from profkit.model.run import Merged, ProcessPart, Run
from profkit.model.session import Member
from profkit.render.html.sampled import sampled_html
from profkit.render.json.sampled import sampled_json
from profkit.render.options import ReportOptions, Terminal
from profkit.render.registry import SAMPLED
from profkit.render.views.ranks import of_late
from profkit.render.views.sampled import build_report
from profkit.render.views.summary import summary
from tests.support.example_runs import APP, CWD
from tests.support.example_worker_runs import worker_run
from tests.support.html_pages import read_page, rows_of
from tests.support.simulated_job import Job, even, late

SLOW = Frame("slow_augment", APP, 9)


def merged(found: LateRanks, ranks: Sequence[int | None], hosts: str = "") -> Merged:
    """A job in which ranks are late; `hosts` has a letter for each rank."""
    infos = tuple(
        replace(info, process=replace(info.process, host=f"node-{host}", member=Member("job", rank)))
        for info, rank, host in zip(
            (worker_run(number, {}).info for number in range(len(ranks))), ranks, hosts or "a" * len(ranks),
            strict=True,
        )
    )  # fmt: skip
    parts = tuple(ProcessPart(info.process, 0, 1, 1, 400, 400, None, 0) for info in infos)
    return Merged(infos, parts, ranks=RankTimes((), (), (), found))


def said(found: LateRanks, ranks: Sequence[int | None] = range(4), hosts: str = "", line: str = "") -> str:
    return " ".join(of_late(merged(found, ranks, hosts), CWD, lambda file, number: line))


def test_a_rank_its_time_and_its_function() -> None:
    assert said(LateRanks((2,), 18.2, 2.2, 60.3, SLOW)) == (
        "Rank 2 made the others wait 18 s ±2 of 60 s, in slow_augment (train.py:9)."
    )
    assert said(LateRanks((1,), 1.82, 0.22, 6.0), range(2)) == (
        "Rank 1 made the other one wait 1.8 s ±0.2 of 6.0 s; no function alone explains it."
    )


@pytest.mark.parametrize(
    ("waits_for", "line", "words"),
    [
        ("the data loader", "", ", waiting for the data loader in"),
        ("", "time.sleep(1)", ", sleeping in"),
        ("", "os.fsync(fd)", ", waiting for the disk in"),
        ("", "compute()", ", waiting in"),
    ],
)
def test_a_rank_that_waits_itself(waits_for: str, line: str, words: str) -> None:
    assert f" of 60 s{words} slow_augment (train.py:9)." in said(
        LateRanks((2,), 18.0, 2.0, 60.0, SLOW, waits_for), line=line
    )


def test_what_the_child_processes_of_a_waiting_rank_do() -> None:
    found = LateRanks((2,), 18.0, 2.0, 60.0, SLOW, "the data loader", Frame("Images.__getitem__", APP, 60))
    assert said(found).endswith(
        ", waiting for the data loader in slow_augment (train.py:9);"
        " its child processes are mostly in Images.__getitem__ (train.py:60)."
    )


@pytest.mark.parametrize(
    ("numbers", "ranks", "hosts", "words"),
    [
        ((2, 3), range(4), "", "Ranks 2–3 made"),
        ((0, 2, 3), range(8), "", "Ranks 0 and 2–3 made"),
        ((2, 3), range(4), "aabb", "Ranks 2–3, all on node-b, made"),
        ((2,), range(4), "aabb", "Rank 2 on node-b made"),
        ((1, 2), range(4), "aabb", "Ranks 1–2 made"),
        ((2,), [0, 1, None, 3], "", "Process 102 made"),
        ((0, 2, 4, 6, 8, 10), range(16), "", "Ranks 0, 2, 4 and 3 more made"),
    ],
)
def test_groups_of_ranks(
    numbers: tuple[int, ...], ranks: Sequence[int | None], hosts: str, words: str
) -> None:
    assert said(LateRanks(numbers, 18.0, 2.0, 60.0, SLOW), ranks, hosts).startswith(words)


def job(ranks: int, slow: Sequence[int], kind: str = "python", hosts: int = 1) -> Run:
    return merge_runs(Job.of(ranks, 150, late(even(random.Random(1)), slow, kind, 0.06)).runs(hosts=hosts))


def test_the_report_begins_with_it() -> None:
    run = job(4, [2])
    (first, *others) = summary(build_report(run, ReportOptions()))
    assert first.startswith("Rank 2 made the others wait 9.")
    assert first.endswith(", in slow_augment (train.py:20).")
    assert not any("made the others wait" in other for other in others)
    assert "made the others wait" not in SAMPLED.text([job(4, [])])


def test_sentences_on_programs_name_ranks() -> None:
    runs = Job.of(4, 150, late(even(random.Random(1)), [2], "python", 0.06)).runs()
    programs = [
        replace(run, info=replace(run.info, region=replace(run.info.region, kind=RegionKind.PROGRAM)))
        for run in runs
    ]
    said = "\n".join(summary(build_report(merge_runs(programs), ReportOptions())))
    assert "of rank 2's time" in said or "\nRank 2 worked" in said
    assert re.search(r"^3 ranks worked|^Rank [013] worked", said, re.MULTILINE), said
    assert "child process" not in said


def table(text: str) -> list[str]:
    """The lines of the table of ranks."""
    lines = text.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("Ranks  "))
    return lines[begin + 1 : lines.index("", begin)]


def test_eight_ranks_fit_into_80_columns() -> None:
    head, waiting, slow, *_ = table(SAMPLED.text([job(8, [5])], terminal=Terminal(80)))
    assert head.split()[:9] == [*map(str, range(8)), "function"]
    assert "waiting for others" in waiting
    assert slow.split()[1:3] == ["%", "slow_augment"]
    assert "| 3 % | 60 % | 62 % | `waiting for others` |" in SAMPLED.markdown([job(8, [5])])


def test_alike_ranks_share_a_column() -> None:
    text = SAMPLED.text([job(64, [5, 6], hosts=8)], terminal=Terminal(80))
    head, *_ = table(text)
    assert "5–6" in head
    assert len(head.split()) < 16
    assert len(text.splitlines()) <= 120
    assert "Ranks 5–6 on node-0 made the others wait" in "\n".join(text.splitlines()[:4])


def test_json_and_page() -> None:
    run = job(4, [2])
    assert run.merged is not None
    ranks = json.loads(sampled_json([run]))["merged"]["ranks"]
    assert ranks["late"]["function"] == {"name": "slow_augment", "file": APP, "line": 20}
    assert run.merged.processes[ranks["late"]["ranks"][0]].process.member.rank == 2
    assert len(ranks["waited_s"]) == len(ranks["functions"][0]["seconds"]) == 4
    page = read_page(sampled_html([run])).head["runs"][0]
    shown = page["tables"]["processes"]
    assert shown[0]["title"] == "Ranks"
    assert [row["function"] for row in rows_of(shown[1])][:2] == ["waiting for others", "slow_augment"]
    first, *others = (one["name"] for one in sorted(page["threads"], key=itemgetter("place")))
    assert first == "rank 2 · MainThread"  # those first that waited least
    assert set(others) == {f"rank {rank} · MainThread" for rank in (0, 1, 3)}


def test_pages_show_when_ranks_waited() -> None:
    usual = even(random.Random(1))
    slow_first, slow_last = (late(usual, [rank], "python", 0.06) for rank in (1, 3))
    job = Job.of(4, 200, lambda rank, number: (slow_first if number < 100 else slow_last)(rank, number))
    page = read_page(sampled_html([merge_runs(job.runs())])).head["runs"][0]
    blocks = page["tables"]["processes"]
    at = next(n for n, block in enumerate(blocks) if block.get("title") == "Waiting over time")
    rank, *parts = blocks[at + 1]["columns"]
    assert rank["texts"] == ["0", "1", "2", "3"]
    least = [min(range(4), key=part["heats"].__getitem__) for part in parts]
    assert (least[:9], least[-9:]) == ([1] * 9, [3] * 9)
    assert parts[0]["head"].startswith("0")
    assert "Waiting over time" not in SAMPLED.text([merge_runs(job.runs())])


def test_threads_of_child_processes_are_named_after_their_rank() -> None:
    runs = Job.of(2, 150, late(even(random.Random(1)), [1], "python", 0.06)).runs()
    profile = runs[1].profile
    assert profile is not None
    threads = (*profile.threads, Thread(4242, 4243, "MainThread"), Thread(4242, 4244, ""))
    run = merge_runs([runs[0], replace(runs[1], profile=replace(profile, threads=threads))])
    names = [thread["name"] for thread in read_page(sampled_html([run])).head["runs"][0]["threads"]]
    assert set(names) == {
        *("rank 0 · MainThread", "rank 1 · MainThread"),
        *("rank 1, child process 4242 · MainThread", "rank 1, child process 4242"),
    }
