"""Children have sessions of their own, unless that is switched off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.harness import FORKING, PROGRAMS, await_samplers_end, environment, profkit, run_program

pytestmark = pytest.mark.sampler

METHODS = ["os.fork", "fork", "spawn", "forkserver"]


def runs(folder: Path, method: str, children: str = "") -> list[dict[str, Any]]:
    """The runs of parent and child, that with fewest calls first."""
    environ = environment(PROFKIT_CHILDREN=children)
    done = run_program(folder, [*FORKING, str(PROGRAMS / "family.py"), method], environ=environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    await_samplers_end(folder)
    done = profkit(folder, "list", "--json")
    assert ("process was not profiled" in done.stderr) is (children == "0"), done.stderr
    return sorted(json.loads(done.stdout)["runs"], key=lambda run: run["calls"])


@pytest.mark.parametrize("method", METHODS)
def test_children_have_sessions_of_their_own(tmp_path: Path, method: str) -> None:
    parent, child = runs(tmp_path, method)
    assert (parent["calls"], child["calls"]) == (1, 5)
    assert parent["process"]["pid"] != child["process"]["pid"]
    assert child["samples"] > parent["samples"] > 0
    assert not [note for run in (parent, child) for note in run["notes"] if note["code"] == "process-ended"]


@pytest.mark.parametrize("method", METHODS)
def test_no_children_where_that_is_switched_off(tmp_path: Path, method: str) -> None:
    (parent,) = runs(tmp_path, method, "0")
    assert parent["calls"] == 1


def test_a_worker_that_is_terminated_leaves_its_calls_and_samples(tmp_path: Path) -> None:
    parent, child = runs(tmp_path, "terminated pool")
    assert (parent["calls"], child["calls"]) == (1, 5)
    assert child["samples"] > 10
    assert (parent["state"], child["state"]) == ("SUCCESS", "ENDED_EARLY")
    assert [note for note in child["notes"] if note["code"] == "process-ended"]
