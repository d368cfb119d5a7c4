"""States of the threads of real programs, in functions that are not known to wait."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.harness import PROGRAMS, reported, run_program

PROGRAM = str(PROGRAMS / "thread_states.py")
pytestmark = [
    pytest.mark.sampler, pytest.mark.reader, pytest.mark.alone, pytest.mark.timeout(180),
    pytest.mark.parametrize("sampler", ["cpython", pytest.param("inprocess", marks=pytest.mark.states)]),
]  # fmt: skip


def shares_of(
    folder: Path, sampler: str, *names: str, state: str = "WAITING"
) -> tuple[dict[str, float], float]:
    """Shares of a state by function, and the least share of `naps` that the program knows."""
    done = run_program(folder, [PROGRAM, sampler, *names])
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    weights = found["weights"]
    assert all(sum(by_state.values()) > 200 for by_state in weights.values()), weights
    assert all("UNKNOWN" not in by_state for by_state in weights.values()), weights
    shares = {name: by_state.get(state, 0) / sum(by_state.values()) for name, by_state in weights.items()}
    return shares, found["share"]


def test_threads_that_block_wait_and_others_work(tmp_path: Path, sampler: str) -> None:
    shares, _ = shares_of(tmp_path, sampler, "reads", "naps", "hashes")
    assert shares["reads"] > 0.98
    assert shares["naps"] > 0.8, "it hardly works at all"
    assert shares["hashes"] < 0.05, "without the GIL, but on a processor"


@pytest.mark.gil
def test_waiting_for_the_gil_is_a_state_of_its_own(tmp_path: Path, sampler: str) -> None:
    shares, _ = shares_of(tmp_path, sampler, "competes", "competes", "hashes", state="GIL")
    assert shares["competes"] > 0.02, "the more, the less busy the machine is"


@pytest.mark.gil
def test_threads_that_compete_for_the_gil_wait_for_nothing_else(tmp_path: Path, sampler: str) -> None:
    shares, of_naps = shares_of(tmp_path, sampler, "competes", "competes", "naps")
    assert shares["competes"] < 0.05
    assert shares["naps"] == pytest.approx(of_naps, abs=0.1), "after a nap, the thread waits for the GIL"


def test_a_thread_that_waits_half_of_the_time(tmp_path: Path, sampler: str) -> None:
    shares, _ = shares_of(tmp_path, sampler, "halves")
    assert shares["halves"] == pytest.approx(0.5, abs=0.1)


def test_reports_show_it(tmp_path: Path, sampler: str) -> None:
    shares_of(tmp_path, sampler, "reads", "hashes")
    rows = {row["name"]: row for row in reported(tmp_path)["functions"]}
    waiting = {name: row["waiting_samples"] / max(1, row["self_samples"]) for name, row in rows.items()}
    assert waiting["reads"] > 0.98
    assert waiting["hashes"] < 0.05
