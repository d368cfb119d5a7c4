"""Every kind of region under every condition: the code does the same, and its run says what happened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.harness import AUTO, PREFERS_READER, PROGRAMS, python_without_py_spy, run_program

KINDS = ["sync", "async", "generator", "async generator", "method", "block"]
CONDITIONS = ["works", "raises", "missing", "dies", "denied", "busy"]
NO_PTRACE = ("setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace")

pytestmark = pytest.mark.sampler


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program printed under each condition."""
    return {condition: _run(condition, tmp_path_factory.mktemp(condition)) for condition in CONDITIONS}


def _run(condition: str, folder: Path) -> Any:
    program = [str(PROGRAMS / "kinds.py"), condition]
    if condition == "missing":
        python, environ = python_without_py_spy(folder)
        done = run_program(folder, program, python=python, environ=environ)
    else:
        done = run_program(folder, program, launcher=NO_PTRACE if condition == "denied" else (), code=0)
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_users_code_does_the_same(told: dict[str, Any], condition: str, kind: str) -> None:
    expected = "Expected('asked for')" if condition == "raises" else "42"
    assert told[condition]["results"][kind]["outcome"] == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("condition", ["works", "raises"])
def test_samples_of_each_kind(told: dict[str, Any], condition: str, kind: str) -> None:
    run = told[condition]["results"][kind]["run"]
    assert (run["calls"], run["raised"]) == (1, 1 if condition == "raises" else 0)
    assert run["state"] == "RUNNING"  # its session lingers
    assert run["samples"] >= 3
    assert "work" in run["functions"]
    assert not [name for name in run["functions"] if name.startswith("profkit:")]


@pytest.mark.outside
@pytest.mark.parametrize("kind", KINDS)
def test_without_py_spy_another_sampler_is_used(told: dict[str, Any], kind: str) -> None:
    run = told["missing"]["results"][kind]["run"]
    assert (run["calls"], run["sampler"]) == (1, "cpython" if PREFERS_READER else "inprocess")
    if not PREFERS_READER:
        (line,) = told["missing"]["said"]
        assert "pip install py-spy" in line
        assert any("pip install py-spy" in note for note in run["notes"])


@pytest.mark.outside
@pytest.mark.parametrize("kind", KINDS)
def test_denied_runs_say_why(told: dict[str, Any], kind: str) -> None:
    run = told["denied"]["results"][kind]["run"]
    assert (run["calls"], run["sampler"]) == (1, "inprocess")
    assert any("may not read" in note for note in run["notes"])
    assert all("may not read" in message for message in told["denied"]["said"])


@pytest.mark.outside
def test_a_dead_sampler_is_said_once_and_the_first_run_failed(told: dict[str, Any]) -> None:
    told_of_dying = told["dies"]
    assert len(told_of_dying["said"]) >= 1
    first = told_of_dying["results"]["sync"]["run"]
    assert (first["state"], first["calls"]) == ("FAILED", 1)
    assert AUTO in first["error"]


@pytest.mark.parametrize("kind", KINDS)
def test_busy_regions_run_bare(told: dict[str, Any], kind: str) -> None:
    assert told["busy"]["results"][kind]["run"] is None
