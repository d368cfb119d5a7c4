"""Traces of several ranks: the rank of each, and who arrived last in collectives."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from profkit.cli.files import join_ranks, runs_of_file
from profkit.comparing.merged_runs import merge_runs
from profkit.errors import DamagedFile
from profkit.model.ranks import LateRanks
from profkit.model.run import Run
from profkit.model.session import Member
from profkit.render.options import ReportOptions
from profkit.render.views.sampled import build_report
from profkit.render.views.summary import summary
from profkit.store.profiles import decode, encode
from tests.support.rank_traces import nccl_trace

STEPS = 30


def steps(delay_us: Callable[[int, int], int], ranks: int = 4) -> list[list[int]]:
    """The delays of all ranks by step."""
    return [[delay_us(rank, step) for rank in range(ranks)] for step in range(STEPS)]


LATE = steps(lambda rank, step: 500 * (rank == 2) + 7 * ((rank + step) % 4))


def runs(folder: Path, traces: Sequence[bytes]) -> list[Run]:
    for rank, trace in enumerate(traces):
        (folder / f"trace_{rank}.json").write_bytes(trace)
    read = [run for rank in range(len(traces)) for run in runs_of_file(folder / f"trace_{rank}.json")]
    return [run for run in join_ranks(read) if isinstance(run, Run)]


def late(found: Sequence[Run]) -> LateRanks | None:
    merged = merge_runs(found).merged
    assert merged is not None
    return None if merged.ranks is None else merged.ranks.late


def said(found: Sequence[Run]) -> str:
    return summary(build_report(merge_runs(found), ReportOptions()))[0]


def test_a_trace_has_its_rank_host_and_process(tmp_path: Path) -> None:
    found = runs(tmp_path, [nccl_trace(rank, LATE) for rank in range(4)])
    (job,) = {run.info.process.member.job for run in found}
    assert job.startswith("traces-")
    assert [run.info.process.member for run in found] == [Member(job, rank, None, 4) for rank in range(4)]
    assert [(run.info.process.host, run.info.process.pid) for run in found] == [
        ("node", 1000 + rank) for rank in range(4)
    ]
    assert {run.info.label for run in found} == {"trace"}


@pytest.mark.parametrize(("with_stack", "where"), [
    (True, "in slow_augment (train.py:9)"), (False, "no function alone explains it")
])  # fmt: skip
def test_the_rank_that_arrives_last_is_named(tmp_path: Path, with_stack: bool, where: str) -> None:
    found = runs(tmp_path, [nccl_trace(rank, LATE, with_stack=with_stack) for rank in range(4)])
    sentence = said(found)
    assert sentence.startswith("Rank 2 made the others wait 0.0 s of 0.0 s")
    assert where in sentence
    assert sentence.endswith("it was the last in 29 of 29 collectives (allreduce).")
    seen = late(found)
    assert seen is not None
    assert seen.waited_s == pytest.approx((STEPS - 1) * 500e-6, rel=0.03)
    assert seen.error_s < 1e-4


def test_ranks_that_are_late_by_turns_are_not_named(tmp_path: Path) -> None:
    for seed in range(10):
        chance = random.Random(seed)
        delays = steps(lambda rank, step, chance=chance: chance.randrange(300))  # type: ignore[misc]
        assert late(runs(tmp_path, [nccl_trace(rank, delays) for rank in range(4)])) is None


def test_traces_that_do_not_match_name_nobody(tmp_path: Path) -> None:
    whole = [nccl_trace(rank, LATE) for rank in range(3)]
    cut = nccl_trace(3, LATE[:-1])
    other_group = nccl_trace(3, LATE, group="1")
    for last in (cut, other_group):
        assert late(runs(tmp_path, [*whole, last])) is None


def test_the_first_collective_also_waits_for_the_profilers(tmp_path: Path) -> None:
    delays = [[0, 900_000, 0, 0], *steps(lambda rank, step: 0)]
    assert late(runs(tmp_path, [nccl_trace(rank, delays) for rank in range(4)])) is None


def test_groups_of_gloo_are_not_known_if_there_are_several(tmp_path: Path) -> None:
    def trace(rank: int, groups: int) -> bytes:
        document = json.loads(nccl_trace(rank, LATE))
        document["distributedInfo"] |= {"backend": "gloo", "pg_count": groups}
        for event in document["traceEvents"]:
            if event["cat"] == "kernel":
                event |= {"cat": "user_annotation", "name": "gloo:all_reduce", "args": {"External id": 5}}
                event |= {"pid": 1000 + rank, "tid": 77}
        return json.dumps(document).encode()

    assert "(all_reduce)" in said(runs(tmp_path, [trace(rank, 1) for rank in range(4)]))
    assert late(runs(tmp_path, [trace(rank, 2) for rank in range(4)])) is None


def with_info(folder: Path, info: str, more: str = "") -> Path:
    event = '{"ph": "X", "cat": "cpu_op", "name": "f", "pid": 1, "tid": 1, "ts": 1, "dur": 2}'
    (folder / "t.json").write_text(f'{{"distributedInfo": {info}, "traceEvents": [{event}]{more}}}')
    return folder / "t.json"


@pytest.mark.parametrize(
    "info",
    ["[]", "3", '{"rank": -1, "world_size": 2}', '{"rank": "1"}', '{"rank": 5, "world_size": 2}',
     '{"rank": true, "world_size": 2}'],
)  # fmt: skip
def test_wrong_facts_about_the_job_are_no_rank(tmp_path: Path, info: str) -> None:
    (run,) = runs_of_file(with_info(tmp_path, info))
    assert run.info.process.member == Member()


def test_a_text_with_facts_about_a_job_is_no_rank(tmp_path: Path) -> None:
    (run,) = runs_of_file(with_info(tmp_path, "{}", r', "x": "\"distributedInfo\": {"'))
    assert run.info.process.member == Member()


@pytest.mark.parametrize("info", ['{"rank": 1', "[" * 9999])
def test_damaged_facts_about_the_job(tmp_path: Path, info: str) -> None:
    with pytest.raises(DamagedFile, match="JSON"):
        runs_of_file(with_info(tmp_path, info))


def test_times_are_kept_in_the_store(tmp_path: Path) -> None:
    (run,) = runs(tmp_path, [nccl_trace(1, LATE)])
    assert run.profile is not None
    assert min(run.profile.starts) == 0
    assert len(run.profile.starts) == len(run.profile.samples)
    assert decode(encode(run.profile), tmp_path) == run.profile
