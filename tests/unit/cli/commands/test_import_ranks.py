"""`profkit import` of traces of ranks: together, one after the other, and those that are already stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli_runs import Profkit
from tests.support.rank_traces import nccl_trace

RANKS = 3
LATE = [[500 * (rank == 2) + 7 * ((rank + step) % RANKS) for rank in range(RANKS)] for step in range(30)]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"rank{rank}.json" for rank in range(RANKS)]
    for rank, path in enumerate(paths):
        path.write_bytes(nccl_trace(rank, LATE))
    return [str(path) for path in paths]


def jobs(profkit: Profkit) -> list[tuple[list[int], list[str]]]:
    """The ranks and labels of each job, by rank; nothing if there are none."""
    said = profkit("list", "--jobs", "--json")
    listed: Any = said.json()["jobs"] if said.out else []
    return sorted((job["ranks"], job["labels"]) for job in listed)


def sentence(profkit: Profkit, *arguments: str) -> str:
    summary: Any = profkit("report", *arguments, "--json").json()["summary"]
    return str(summary[0])


def test_a_trace_that_is_already_stored_joins_those_that_are_named_with_it(
    profkit: Profkit, files: list[str]
) -> None:
    alone = profkit("import", files[0])
    assert "(rank0) is of rank 0, and of no job; name the traces of all ranks together, or set" in alone.err
    assert jobs(profkit) == []
    both = profkit("import", *files[:2])
    assert (both.code, both.err) == (0, "")
    assert jobs(profkit) == [([0, 1], ["rank"])]
    assert profkit("import", *files).err == ""
    assert jobs(profkit) == [([0, 1, 2], ["rank"])]
    assert sentence(profkit).startswith("Rank 2 made the others wait ")
    again = profkit("import", *files)
    assert again.err.count("is already stored") == RANKS


def test_traces_that_are_imported_one_after_the_other_belong_to_the_job_that_is_set(
    profkit: Profkit, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    profkit("import", files[0])
    monkeypatch.setenv("PROFKIT_JOB", "night")
    for file in files:
        assert profkit("import", file).err == ""
    assert jobs(profkit) == [([0, 1, 2], ["night"])]
    assert sentence(profkit, "--job", "night").startswith("Rank 2 made the others wait ")
    monkeypatch.setenv("PROFKIT_JOB", "other")
    profkit("import", "--label", "eval", files[0])
    assert jobs(profkit) == [([0], ["eval"]), ([1, 2], ["night"])]


def test_a_trace_keeps_its_job_if_it_is_imported_alone_again(profkit: Profkit, files: list[str]) -> None:
    profkit("import", *files)
    assert "is already stored" in profkit("import", files[0]).err
    assert jobs(profkit) == [([0, 1, 2], ["rank"])]


def test_exported_traces_keep_their_job(
    profkit: Profkit, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profkit("import", *files)
    runs: Any = profkit("list", "--json").json()["runs"]
    exported = [str(tmp_path / f"{number}.profkit.json") for number in range(2)]
    for run, path in zip(runs, exported, strict=False):
        assert profkit("export", run["id"], "-o", path).code == 0
    assert profkit("import", *exported).code == 0
    monkeypatch.setenv("PROFKIT_JOB", "night")
    assert profkit("import", exported[0]).code == 0
    assert jobs(profkit) == [([0, 1, 2], ["rank"])]
