"""`profkit dump FILE...`: dumps of the flight recorder from the command line."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from tests.support.cli_runs import Profkit
from tests.support.flight_recorder import dump, entry


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    waits = dump(entry(117), entry(118, "started"), ranks=2)
    (tmp_path / "trace_0").write_bytes(pickle.dumps(waits, 2))
    (tmp_path / "trace_1.json").write_text(json.dumps(dump(entry(117), ranks=2)))
    return [str(tmp_path / name) for name in ("trace_0", "trace_1.json")]


def test_the_missing_rank_is_said_in_each_format(profkit: Profkit, files: list[str]) -> None:
    said = profkit("dump", *files)
    assert (said.code, said.err) == (0, "")
    assert "Rank 1 has not entered all_reduce #118 (group default_pg); rank 0 waits in it." in said.out
    (collective,) = profkit("dump", "--format", "json", *files).json()["collectives"]
    assert (collective["inside"], collective["absent"], collective["others"]) == ([0], [1], [])


def test_options_of_sampling_do_not_go_with_files(profkit: Profkit, files: list[str]) -> None:
    said = profkit("dump", "--async-stacks", *files)
    assert (said.code, said.out) == (2, "")
    assert "--async-stacks does not go with files" in said.err


def test_two_files_of_one_rank(profkit: Profkit, files: list[str]) -> None:
    assert "is a second file of rank 0" in profkit("dump", files[0], files[0]).err


def test_a_file_that_is_not_there(profkit: Profkit, tmp_path: Path) -> None:
    said = profkit("dump", str(tmp_path / "trace_0"))
    assert said.code != 0
    assert "trace_0" in said.err
    assert "Traceback" not in said.err
