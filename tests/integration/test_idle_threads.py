"""Idle threads of real programs count as waiting, even in functions that are not known to wait."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.harness import PROGRAMS, run_program

PROGRAM = str(PROGRAMS / "idle_threads.py")
pytestmark = [
    pytest.mark.sampler, pytest.mark.reader, pytest.mark.states, pytest.mark.alone, pytest.mark.timeout(180),
    pytest.mark.parametrize("sampler", ["cpython", "inprocess"]),
]  # fmt: skip


def waiting_shares(folder: Path, sampler: str, *names: str) -> tuple[dict[str, float], float]:
    """Waiting shares by function, and the least share of `naps` that the program knows."""
    done = run_program(folder, [PROGRAM, sampler, *names])
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    weights = found["weights"]
    assert all(sum(both) > 200 for both in weights.values()), weights
    return {name: waiting / (working + waiting) for name, (working, waiting) in weights.items()}, found[
        "share"
    ]


def test_threads_that_block_wait_and_others_work(tmp_path: Path, sampler: str) -> None:
    shares, _ = waiting_shares(tmp_path, sampler, "reads", "naps", "hashes")
    assert shares["reads"] > 0.98
    assert shares["naps"] > 0.8, "it hardly works at all"
    assert shares["hashes"] < 0.05, "without the GIL, but on a processor"


@pytest.mark.gil
def test_threads_that_compete_for_the_gil_work(tmp_path: Path, sampler: str) -> None:
    shares, of_naps = waiting_shares(tmp_path, sampler, "competes", "competes", "naps")
    assert shares["competes"] < 0.05
    assert shares["naps"] == pytest.approx(of_naps, abs=0.1), "after a nap, the thread waits for the GIL"


def test_a_thread_that_waits_half_of_the_time(tmp_path: Path, sampler: str) -> None:
    shares, _ = waiting_shares(tmp_path, sampler, "halves")
    assert shares["halves"] == pytest.approx(0.5, abs=0.1)


def test_reports_show_it(tmp_path: Path, sampler: str) -> None:
    waiting_shares(tmp_path, sampler, "reads", "hashes")
    done = run_program(tmp_path, ["-m", "profkit", "report", "--json"])
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)["functions"]}
    waiting = {name: row["waiting_samples"] / max(1, row["self_samples"]) for name, row in rows.items()}
    assert waiting["reads"] > 0.98
    assert waiting["hashes"] < 0.05
