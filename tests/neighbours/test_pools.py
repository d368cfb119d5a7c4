"""Calls in the workers of pools that end as soon as the results are there."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import pytest

from tests.integration.harness import await_samplers_end, run_program
from tests.neighbours.harness import environ, program, runs_in

pytestmark = [pytest.mark.neighbours, pytest.mark.sampler, pytest.mark.timeout(3600)]

_CALLS = 32
_PAIRS, _LONGER_S = 7, 0.3


def closed(folder: Path, engine: str, **variables: str) -> str:
    """Run a program with a pool in a new folder, and return what it prints."""
    folder.mkdir()
    variables = {"RAY_AUTH_MODE": "disabled", **variables}
    return run_program(folder, program("pools.py", engine), environ=environ(**variables), code=0).stdout


@pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.full)])
@pytest.mark.parametrize(
    "engine", ["Pool", "ProcessPoolExecutor", "loky", "dask", pytest.param("ray", marks=pytest.mark.full)]
)
def test_each_call_in_a_worker_is_kept(engine: str, times: int, tmp_path: Path) -> None:
    for number in range(times):
        folder = tmp_path / str(number)
        closed(folder, engine)
        await_samplers_end(folder)
        runs = runs_in(folder)
        assert [run.info.error for run in runs if run.info.error] == []
        assert sum(run.info.calls for run in runs) == _CALLS


@pytest.mark.full
@pytest.mark.alone
def test_a_cluster_of_dask_closes_as_fast_as_without_profkit(tmp_path: Path) -> None:
    """Profiled and unprofiled clusters take turns, since the machine's speed changes."""
    longer_s = []
    for number in range(_PAIRS):
        profiled = float(closed(tmp_path / f"profiled-{number}", "dask"))
        bare = float(closed(tmp_path / f"bare-{number}", "dask", PROFKIT_DISABLE="1"))
        longer_s.append(profiled - bare)
    assert median(longer_s) <= _LONGER_S, longer_s
