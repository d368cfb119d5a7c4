"""Each option of docs/options.md shows in a run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.harness import PROGRAMS, run_program

pytestmark = [pytest.mark.sampler, pytest.mark.gil]

Told = dict[str, Any]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    done = run_program(tmp_path_factory.mktemp("options"), [str(PROGRAMS / "options.py")])
    assert (done.returncode, done.stderr) == (0, "")
    found: Told = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("call", "held"),
    [
        ("slow", {"rate_hz": 40, "native": False, "idle": True, "scope": "call"}),
        ("fast", {"rate_hz": 400, "blocking": False}),
        ("exact", {"rate_hz": 100, "blocking": True}),
        ("not waiting", {"idle": False}),
        ("GIL held", {"gil": True, "idle": False}),
        ("native", {"native": True, "blocking": True}),
        ("family", {"subprocesses": True, "scope": "process"}),
    ],
)
def test_what_was_asked_is_what_held(told: Told, call: str, held: dict[str, object]) -> None:
    plan = told[call]["plan"]
    assert {name: plan[name] for name in held} == held
    assert plan["sampler"] in ("pyspy", "cpython")
    assert told[call]["error"] is None


def test_a_label_takes_the_place_of_the_name(told: Told) -> None:
    assert (told["slow"]["label"], told["fast"]["label"]) == ("slow", "spin")


@pytest.mark.full  # it depends on how busy the machine is
def test_a_higher_rate_gives_more_samples(told: Told) -> None:
    assert told["fast"]["samples"] > 3 * told["slow"]["samples"] > 0


def test_waiting_counts_unless_set_otherwise(told: Told) -> None:
    waiting, working = told["waiting"]["samples"], told["not waiting"]["samples"]
    assert waiting > 20
    assert working < 0.2 * waiting


def test_time_without_the_gil_can_be_left_out(told: Told) -> None:
    leaves = told["GIL held"]["leaves"]
    assert leaves["spin"] > 20
    assert told["in C"]["samples"] > 5
    assert leaves.get("digest", 0) < 0.2 * leaves["spin"]


def test_native_frames_are_above_python_ones(told: Told) -> None:
    assert set(told["in C"]["leaves"]) == {"digest"}
    assert told["native"]["samples"] > 5
    assert told["native"]["leaves"].get("digest", 0) < 0.2 * told["native"]["samples"]


def test_deadlines_are_held_and_named(told: Told) -> None:
    start, finish = "timeout_wait_for_running_sec", "timeout_wait_for_finished_sec"
    assert told["strict"].startswith("SamplerTimeout: ")
    assert start in told["strict"]
    assert start in told["mild"]["error"]
    assert any(finish in note for note in told["unfinished"]["notes"])
    assert told["unfinished"]["samples"] == 0
    *earlier, last = [next(name for name in (start, finish) if name in line) for line in told["said"]]
    assert (set(earlier), last) == ({start}, finish), "each way to sample that is tried has its own line"
