"""The stacks of a job's processes, folded into trees with sets of ranks."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from profkit.model.job_stacks import JobStacks, OneStack, ProcessStacks, Unread
from profkit.model.session import Member, ProcessInfo
from profkit.render.options import DEFAULTS, PIPE, ReportOptions
from profkit.render.registry import JOB_STACKS
from profkit.transforms.waiting import OTHER_RANKS

TORCH = "/v/lib/python3.11/site-packages/torch/distributed"
MODULE, TRAIN, LOAD = (
    ("<module>", "/app/train.py", 90),
    ("train", "/app/train.py", 70),
    ("load", "/app/data.py", 40),
)
REDUCE = (("wrapper", f"{TORCH}/c10d_logger.py", 80), ("all_reduce", f"{TORCH}/distributed_c10d.py", 2500))
WAITING = OneStack("MainThread", 1, (MODULE, TRAIN, *REDUCE), is_waiting=True, waits_for=OTHER_RANKS)
LOADING = OneStack("MainThread", 1, (MODULE, ("train", "/app/train.py", 69), LOAD), is_waiting=False)


def process(rank: int | None, *threads: OneStack, size: int | None = 8, host: str = "a") -> ProcessStacks:
    info = process_info(rank, size, host)
    return ProcessStacks(info, 10**18, threads)


def process_info(rank: int | None, size: int | None = 8, host: str = "a") -> ProcessInfo:
    pid = 100 + (rank or 0)
    member = Member("j", rank, rank, size)
    return ProcessInfo(pid, 1, host, "/app", (), "3.11.7", None, "1", None, member=member)


def job(*processes: ProcessStacks, unread: Sequence[Unread] = ()) -> JobStacks:
    return JobStacks("j", processes, tuple(unread))


def text_of(stacks: JobStacks, options: ReportOptions = DEFAULTS) -> list[str]:
    return JOB_STACKS.text(stacks, options).rstrip("\n").split("\n")


HANGING = job(*(process(rank, WAITING) for rank in range(7)), process(7, LOADING))


def test_the_rank_that_the_others_wait_for_is_named_first() -> None:
    head, *lines = text_of(HANGING)
    assert head.startswith("job j · 8 of 8 ranks on 1 host · 2001-09-09")
    assert lines[:2] == [
        "Rank 7 works in load (data.py:40).",
        "Ranks 0–6 wait for other ranks in all_reduce, called by train (train.py:70).",
    ]
    assert [line.rstrip() for line in lines[lines.index("Main threads") + 1 :]] == [
        "ranks  call",
        "0–7    <module>  train.py:90",
        "0–6    ├ train  train.py:70",
        "0–6    │ └ wrapper → all_reduce  [torch]",
        "7      └ train  train.py:69",
        "7        └ load  data.py:40",
    ]


def test_all_frames_of_libraries_are_shown_if_asked_for() -> None:
    shown = "\n".join(text_of(HANGING, ReportOptions(show_all=True)))
    assert "wrapper → " not in shown
    assert "all_reduce  torch/distributed/distributed_c10d.py:2500" in shown


def test_a_hook_in_the_backward_pass_is_in_another_thread() -> None:
    hook = OneStack("Dummy-1", 2, (("hook", "/app/train.py", 12),), is_waiting=True, waits_for="sleep")
    found = text_of(job(*(process(rank, WAITING) for rank in range(3)), process(3, WAITING, hook)))
    assert found[1:3] == [
        "Ranks 0–3 wait for other ranks in all_reduce, called by train (train.py:70).",
        "In another thread, rank 3 sleeps in hook (train.py:12).",
    ]
    assert "Other threads" in found


def test_ranks_that_could_not_be_read_are_named() -> None:
    found = text_of(job(process(0, WAITING), unread=[Unread(process_info(1), "permission denied")]))
    assert "rank 1: permission denied" in found
    assert "not read: ranks 2–7" in found


def test_processes_without_ranks_have_their_pids() -> None:
    found = text_of(JobStacks("", (process(None, LOADING, size=None),)))
    assert found[0].startswith("1 process on 1 host")
    assert found[1] == "Process 100 works in load (data.py:40)."
    assert "100        <module>  train.py:90" in found


def test_many_places_are_counted() -> None:
    places = [
        process(n, OneStack("MainThread", 1, ((f"f{n}", "/app/x.py", n),), is_waiting=False))
        for n in range(8)
    ]
    found = text_of(job(*places))
    assert found[5] == "4 others are at 4 more places."


def test_many_ranks_and_deep_stacks_stay_short() -> None:
    deep = tuple((f"f{n}", "/app/x.py", n) for n in range(2000))
    stacks = [
        OneStack("MainThread", 1, (*deep[: 1000 + n % 50], LOAD), is_waiting=bool(n % 2)) for n in range(512)
    ]
    found = text_of(job(*(process(n, stack, size=512) for n, stack in enumerate(stacks))))
    assert len(found) < 120
    assert max(map(len, found)) < 5000


def test_json_has_all_of_it() -> None:
    found = json.loads(JOB_STACKS.renderer("json")(HANGING, DEFAULTS, PIPE))
    assert found["schema"] == "profkit.job-stacks/1"
    assert [one["process"]["member"]["rank"] for one in found["processes"]] == list(range(8))
    thread = found["processes"][0]["threads"][0]
    assert (thread["state"], thread["waits_for"]) == ("waiting", OTHER_RANKS)
    assert [frame["name"] for frame in thread["frames"]] == ["all_reduce", "wrapper", "train", "<module>"]


@pytest.mark.parametrize("format", JOB_STACKS.formats)
def test_each_format_names_the_rank(format: str) -> None:
    assert "load" in JOB_STACKS.renderer(format)(HANGING, DEFAULTS, PIPE)
