"""A profiler's results are those of its last call, and the user's function runs once whatever happens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.harness import PROGRAMS, environment, python_without_py_spy, run_program

pytestmark = [pytest.mark.sampler, pytest.mark.gil]

NOTHING = {"result": False, "id": False, "lines": None}
ONLY_A_RUN = {"result": False, "id": True, "lines": None}


def told(folder: Path, scene: str, *, without_py_spy: bool = False) -> dict[str, Any]:
    python, environ = python_without_py_spy(folder) if without_py_spy else (None, environment())
    program = [str(PROGRAMS / "results.py"), scene]
    done = run_program(folder, program, environ=environ, **({"python": python} if python else {}))
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def last_call(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return told(tmp_path_factory.mktemp("last_call"), "last_call")


@pytest.mark.parametrize(
    ("call", "outcome"),
    [
        ("works", "0"),
        ("raises", "LookupError: the user's own"),
        ("interrupted", "KeyboardInterrupt: the user's own"),
        ("again", "4"),
    ],
)
def test_a_profiled_call_has_a_result(last_call: dict[str, Any], call: str, outcome: str) -> None:
    got, looked = last_call[call]
    assert got == outcome
    assert (looked["result"], looked["id"]) == (True, True)
    assert looked["lines"][0].startswith("Run: ")


def test_a_call_that_could_not_be_profiled_has_none(last_call: dict[str, Any]) -> None:
    assert last_call["skipped"] == ["3", NOTHING]


def test_a_call_that_was_counted_but_not_sampled_has_a_run(last_call: dict[str, Any]) -> None:
    assert last_call["unsampled"] == ["5", ONLY_A_RUN]


def test_there_is_no_result_without_a_call_or_without_its_samples(last_call: dict[str, Any]) -> None:
    assert last_call["before"] == last_call["disabled"] == NOTHING
    got, looked = last_call["dies"]
    assert got == "'ran'"
    assert (looked["result"], looked["id"]) == (False, True)
    stopped, next_session = last_call["said"]
    assert stopped.startswith("profiling stopped: py-spy failed")
    assert next_session.endswith("; recording calls and wall times without samples")


def test_without_a_sampler(tmp_path: Path) -> None:
    found = told(tmp_path, "without_a_sampler", without_py_spy=True)
    first, second, looked = found["strict"]
    assert first == second == found["decorated"]
    assert first.startswith("SamplerMissing: ")
    assert "pip install py-spy" in first
    assert looked == NOTHING
    assert found["mild"] == ["None", "None", ONLY_A_RUN]
    assert found["ran"] == [1, 2]  # a strict profiler raises before the function runs
    assert len(found["said"]) == 1


def test_a_busy_session(tmp_path: Path) -> None:
    found = told(tmp_path, "busy")
    assert found["share"] == "1"
    rate_hz, notes = found["shared"]
    assert rate_hz == 150  # the rate that held
    assert "other-options" in notes
    assert found["skip"] == ["2", NOTHING]
    assert found["raise"][0].startswith("ProfilerBusy: 'refuse' was not started")
    assert found["raise"][1] == NOTHING
    assert found["short"] == ["4", NOTHING, True]
    calls, rate_hz, looked = found["patient"]
    assert (calls, rate_hz, looked["result"]) == (1, 200, True)
    assert len(found["said"]) == 1


def test_one_profiler_for_threads_tasks_and_itself(tmp_path: Path) -> None:
    found = told(tmp_path, "together")
    assert found == {"values": [*range(8)], "nested": 7, "tasks": [*range(5)], "calls": 5, "said": []}
