"""Jobs of several ranks: lists of them, and reports, comparisons and gates of all ranks together."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from profkit.config import Config
from profkit.model.run import Run
from profkit.model.session import Member
from tests.support.cli_runs import Profkit, keep
from tests.support.example_memory import memory_run
from tests.support.example_worker_runs import READ, RENDER, worker_run
from tests.support.simulated_job import Job, even, late

ALIKE = {READ: 60, RENDER: 40}


def rank_run(
    number: int, job: str, rank: int | None, label: str = "", worker: str = "", functions: Any = ALIKE
) -> Run:
    """A run of a rank of four, which started so many minutes after the first."""
    size = None if rank is None else 4
    run = worker_run(number, functions, host=f"node-{(rank or 0) // 2}")
    place = Member(job, rank, None, size, worker)
    region = run.info.region
    if label:
        region = replace(region, key=replace(region.key, label=label))
    process = replace(run.info.process, member=place)
    return replace(run, info=replace(run.info, process=process, region=region))


FIRST = [rank_run(rank, "100-abcd", rank) for rank in range(4)]
SECOND = [rank_run(10 + rank, "100-wxyz", rank) for rank in range(4)]


@pytest.fixture
def jobs(config: Config) -> None:
    keep(config, *FIRST, *SECOND)


def merged(profkit: Profkit, *arguments: str) -> Any:
    return profkit("report", *arguments, "--json").json()["merged"]


def shown(profkit: Profkit, *arguments: str) -> set[tuple[str, int]]:
    return {(run["job"], run["rank"]) for run in merged(profkit, *arguments)["runs"]}


def ranks(job: str) -> set[tuple[str, int]]:
    return {(job, rank) for rank in range(4)}


@pytest.mark.usefixtures("jobs")
@pytest.mark.parametrize("arguments", [(), ("handler",), ("--job",), ("--job", "100"), ("--job", "100-w")])
def test_the_newest_job_is_one_report(profkit: Profkit, arguments: tuple[str, ...]) -> None:
    assert shown(profkit, *arguments) == ranks("100-wxyz")
    said = profkit("report", *arguments)
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[0].endswith("4 runs of one job, merged")
    assert "job  100-wxyz · ranks 0–3 of 4" in said.out
    assert "on node-1 and node-0" in said.out or "on node-0 and node-1" in said.out


@pytest.mark.usefixtures("jobs")
def test_an_older_job_and_one_of_its_ranks(profkit: Profkit) -> None:
    assert shown(profkit, "--job", "100-abcd") == ranks("100-abcd")
    rank = FIRST[2].info.id
    assert shown(profkit, "--job", rank) == ranks("100-abcd")
    assert merged(profkit, rank) is None
    assert "job  100-abcd · rank 2 of 4" in profkit("report", rank).out


@pytest.mark.usefixtures("jobs")
def test_several_jobs_are_merged_only_on_request_and_with_a_note(profkit: Profkit) -> None:
    said = profkit("report", "handler", "--all")
    assert "8 runs, merged" in said.out.splitlines()[0]
    assert "job  2 jobs · 100-wxyz and 100-abcd" in said.out
    assert "Runs of 2 jobs are merged. `profkit report --job` shows one job." in said.out
    # Each rank is there twice, so its processes have their pids, too.
    assert {"2 (102)", "2 (112)"} <= {word for row in merged_names(said.out) for word in row}


def merged_names(text: str) -> list[list[str]]:
    return [
        [f"{a} {b}" for a, b in zip(line.split(), line.split()[1:], strict=False)]
        for line in text.splitlines()
    ]


@pytest.mark.usefixtures("jobs")
def test_processes_are_named_by_their_ranks(profkit: Profkit, config: Config) -> None:
    slow = {READ: 10, RENDER: 290}
    keep(config, *[rank_run(20 + rank, "slow", rank, functions=slow if rank else ALIKE) for rank in range(3)])
    said = profkit("report")
    table = said.out.split("Processes")[1].splitlines()
    assert "rank" in table[1].split()
    assert "pid" not in table[1].split()
    assert "share in rank" in said.out
    found = merged(profkit)["processes"]
    assert {(row["rank"], row["pid"]) for row in found} == {(0, 120), (1, 121), (2, 122)}


@pytest.mark.usefixtures("jobs")
def test_lists(profkit: Profkit) -> None:
    said = profkit("list", "--jobs")
    assert (said.code, said.err) == (0, "")
    head, second, first = said.out.splitlines()
    assert head.split() == ["job", "started", "ranks", "samples", "labels", "hosts", "state"]
    assert second.startswith("100-wxyz")
    assert "0–3 of 4" in first
    newest = profkit("list", "--jobs", "--limit", "1")
    assert "there are older jobs" in newest.err
    document: Any = profkit("list", "--jobs", "--json").json()
    assert [(job["job"], job["ranks"], job["hosts"]) for job in document["jobs"]] == [
        ("100-wxyz", [0, 1, 2, 3], ["node-0", "node-1"]), ("100-abcd", [0, 1, 2, 3], ["node-0", "node-1"]),
    ]  # fmt: skip


def test_a_job_that_lacks_ranks(profkit: Profkit, config: Config) -> None:
    keep(config, *[rank_run(rank, "part", rank) for rank in (0, 1, 3)])
    assert "ranks 0–1, 3 of 4".replace(", ", " and ") in profkit("report").out
    assert "0–1 and 3 of 4" in profkit("list", "--jobs").out


def test_workers_without_ranks_are_merged_only_on_request(profkit: Profkit, config: Config) -> None:
    keep(config, *[rank_run(n, "tcp://10.0.0.1:8786", None, worker=f"w{n}") for n in range(2)])
    assert merged(profkit) is None
    said = profkit("report", "--job")
    assert "job  tcp://10.0.0.1:8786 · workers w1 and w0" in said.out
    assert "worker" in said.out.split("Processes")[1]
    assert "2 workers" in profkit("list", "--jobs").out


def test_other_labels_of_a_job_are_named(profkit: Profkit, config: Config) -> None:
    load = rank_run(9, "one", 0, label="load")
    keep(config, *[rank_run(rank, "one", rank) for rank in range(4)], load)
    said = profkit("report")
    assert shown(profkit) == ranks("one")
    assert f"the job also has runs of load; `profkit report --job {load.info.id}` shows others" in said.err
    assert [run["rank"] for run in merged(profkit, "--job", load.info.id)["runs"]] == [0]


@pytest.mark.usefixtures("jobs")
def test_jobs_are_compared_and_checked(profkit: Profkit) -> None:
    compared = profkit("compare", "--job", "100-a", "100-w")
    assert compared.code == 0
    document: Any = profkit("compare", "--job", "100-a", "100-w", "--json").json()
    assert [len(document[side]["runs"]) for side in "ab"] == [4, 4]
    checked = profkit("gate", "--job", "--baseline", "100-abcd")
    assert checked.code in (0, 5), checked.err
    assert profkit("gate", "--job", "100-w", "--baseline", "100-w").code == 4  # nothing but itself
    assert profkit("compare", "--job", "100-a", "nothing").code == 6


@pytest.mark.usefixtures("jobs")
def test_mistakes(profkit: Profkit) -> None:
    said = profkit("report", "--job", "nothing")
    assert (said.code, said.out) == (6, "")
    assert "no job matches 'nothing'; `profkit list --jobs` shows all" in said.err
    assert "--job does not go with --all" in profkit("report", "--job", "--all").err
    assert "--label does not go with --jobs" in profkit("list", "--jobs", "--label", "handler").err
    assert "leave out --job" in profkit("compare", "--job", "--ab", "1", "2").err


def test_no_jobs(profkit: Profkit, config: Config) -> None:
    keep(config, worker_run(0, ALIKE))
    assert "there is no job in the store" in profkit("list", "--jobs").err
    assert profkit("report", "--job").code == 6
    assert "no job matches 'handler'" in profkit("report", "--job", "handler").err


def test_peaks_of_ranks_are_not_merged(profkit: Profkit, config: Config) -> None:
    run = memory_run()
    process = replace(run.info.process, member=Member("peaks", 0, 0, 1))
    keep(config, replace(run, info=replace(run.info, process=process)))
    assert merged(profkit) is None
    assert "peaks of several processes do not add up" in profkit("report", "--job").err


def test_the_report_of_a_job_begins_with_its_late_rank(profkit: Profkit, config: Config) -> None:
    keep(config, *Job.of(4, 150, late(even(random.Random(1)), [2], "python", 0.06)).runs())
    assert "\nRank 2 made the others wait 9." in profkit("report").out
