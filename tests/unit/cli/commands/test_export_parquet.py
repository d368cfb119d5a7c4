"""`profkit export --format parquet`: which runs it writes, and what it refuses."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.config import Config
from profkit.model.run import Run
from profkit.model.session import Member
from tests.support.cli_runs import Profkit, keep
from tests.support.example_measured_runs import measured_run
from tests.support.example_runs import made_run


@pytest.fixture(autouse=True)
def stored(config: Config) -> None:
    """Two ranks of a job, another run, one without samples, and a measured one."""
    ranks = [of_job("resnet", rank) for rank in range(2)]
    alone = made_run(id="c1", session="s9", started_ns=30)
    bare = replace(made_run(id="d1", session="s8", started_ns=40), profile=None)
    keep(config, *ranks, alone, bare, measured_run("other", id="m1", started_ns=50))


def of_job(job: str, rank: int) -> Run:
    run = made_run(id=f"a{rank}", session=f"s{rank}", started_ns=10 + rank)
    return replace(run, info=replace(run.info, process=replace(run.info.process, member=Member(job, rank))))


@pytest.mark.neighbours
@pytest.mark.parametrize(
    ("arguments", "runs", "note"),
    [
        (["c1"], {"c1"}, ""),
        (["--job"], {"a0", "a1"}, ""),
        (["--job", "res"], {"a0", "a1"}, ""),
        (["--all", "train_step"], {"a0", "a1", "c1"}, "runs without samples are not written: 1"),
        (["--all"], {"a0", "a1", "c1"}, "runs without samples are not written: 2"),
    ],
)
def test_the_runs(profkit: Profkit, tmp_path: Path, arguments: list[str], runs: set[str], note: str) -> None:
    from pyarrow import parquet

    said = profkit("export", *arguments, "-o", str(tmp_path / "x.parquet"))
    assert said.code == 0
    assert note in said.err
    assert bool(said.err) == bool(note)
    assert set(parquet.read_table(tmp_path / "x.parquet")["run"].to_pylist()) == runs


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--all", "--job", "-o", "x.parquet"], "--all and --job select different runs"),
        (["--all", "-o", "x.pb.gz"], "--all does not go with --format pprof"),
        (["--job", "--format", "profkit"], "--job does not go with --format profkit"),
        (["--value", "peak", "-o", "x.parquet"], "--value does not go with --format parquet"),
        (["-o", "x.parquet.gz"], "the ending .gz does not go with --format parquet"),
    ],
)
def test_what_does_not_go_together(profkit: Profkit, arguments: list[str], problem: str) -> None:
    said = profkit("export", *arguments)
    assert (said.code, problem in said.err) == (2, True), said.err


def test_a_label_that_no_run_has(profkit: Profkit, tmp_path: Path) -> None:
    said = profkit("export", "--all", "nosuch", "-o", str(tmp_path / "x.parquet"))
    assert said.code == 6
    assert not (tmp_path / "x.parquet").exists()


def test_without_pyarrow_the_error_says_how_to_install_it(
    profkit: Profkit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = profkit("export", "c1", "-o", str(tmp_path / "x.parquet"))
    assert said.code == 2
    assert "install it: pip install 'profkit[parquet]'" in said.err
    assert list(tmp_path.glob("x.parquet*")) == []
