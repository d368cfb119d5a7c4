"""Who made the others wait, in jobs of DDP and FSDP with four ranks on gloo, which torchrun starts."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from profkit.comparing.merged_runs import merge_runs
from profkit.model.run import Merged, Run
from profkit.model.session import Member
from profkit.render.options import ReportOptions
from profkit.render.views.sampled import build_report
from profkit.render.views.summary import summary
from tests.integration.harness import await_samplers_end, run_program
from tests.neighbours.harness import environ, program, runs_in

pytestmark = [pytest.mark.neighbours, pytest.mark.sampler, pytest.mark.torch, pytest.mark.timeout(900)]

FUNCTIONS = {
    "python": "in slow_python (",
    "C": "in slow_compress (",
    "I/O": "in slow_write (",
    "loader": "waiting for the data loader in load (",
    "backward": "in slow_python (",
}
RANKS = 4


def as_member(run: Run) -> Run:
    """The run with the rank that the launcher gave its process."""
    env = dict(run.info.region.env)
    member = Member("job", int(env["RANK"]), int(env["LOCAL_RANK"]), int(env["WORLD_SIZE"]))
    return replace(run, info=replace(run.info, process=replace(run.info.process, member=member)))


def trained(folder: Path, *arguments: str, ranks: int = RANKS) -> Run:
    """Run a job of ranks to its end, and merge their runs."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    run_program(
        folder,
        [*torchrun, *program("late_rank.py", *arguments)],
        environ=environ(OMP_NUM_THREADS="1"),
        code=0,
    )
    await_samplers_end(folder)
    runs = [as_member(run) for run in runs_in(folder) if run.info.label == "train"]
    assert sorted(run.info.process.member.rank or 0 for run in runs) == list(range(ranks))
    return merge_runs(runs)


def said(run: Run) -> str:
    (first, *_) = summary(build_report(run, ReportOptions()))
    return first


def seen(run: Run) -> str:
    """All that is known of the ranks, for a test that fails."""
    assert run.merged is not None
    return json.dumps(_of(run.merged), indent=1, default=asdict)


def _of(merged: Merged) -> object:
    ranks = merged.ranks
    order = [part.process.member.rank for part in merged.processes]
    return None if ranks is None else (order, ranks.total_s, ranks.waited_s, ranks.functions[:6])


@pytest.mark.slow
def test_the_late_one_of_two_ranks_is_named(tmp_path: Path) -> None:
    run = trained(tmp_path, "backward", "1", "ddp", "5", ranks=2)
    assert said(run).startswith("Rank 1 made the other one wait "), seen(run)
    assert FUNCTIONS["backward"] in said(run)


@pytest.mark.full
@pytest.mark.parametrize("engine", ["ddp", "fsdp"])
@pytest.mark.parametrize("kind", FUNCTIONS)
@pytest.mark.parametrize("rank", [0, 2, 3])
def test_the_late_rank_and_its_function_are_named(tmp_path: Path, kind: str, rank: int, engine: str) -> None:
    run = trained(tmp_path, kind, str(rank), engine, "10")
    assert said(run).startswith(f"Rank {rank} made the others wait "), seen(run)
    assert FUNCTIONS[kind] in said(run), said(run)


@pytest.mark.full
@pytest.mark.parametrize("engine", ["ddp", "fsdp"])
@pytest.mark.parametrize("repetition", range(10))
def test_of_equal_ranks_none_is_named(tmp_path: Path, repetition: int, engine: str) -> None:
    run = trained(tmp_path, "none", "none", engine, "10")
    assert "wait" not in said(run).partition(" made ")[2], seen(run)
