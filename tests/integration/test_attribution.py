"""Samples belong to the regions on their own stacks: threads, tasks, generators, blocks, processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.harness import PROGRAMS, run_program

pytestmark = [pytest.mark.sampler, pytest.mark.alone]

Seen = dict[str, dict[str, int]]


@pytest.fixture(
    params=[pytest.param("pyspy", marks=pytest.mark.gil), pytest.param("cpython", marks=pytest.mark.states)]
)
def sampler(request: pytest.FixtureRequest) -> str:
    """A sampler whose stacks are exact; py-spy is when it stops the program."""
    name: str = request.param
    return name


def seen(folder: Path, scene: str, sampler: str) -> Seen:
    done = run_program(folder, [str(PROGRAMS / "regions.py"), scene, sampler], code=0)
    assert done.stderr == ""
    found: Seen = json.loads(done.stdout)
    return found


def share(region: dict[str, int], function: str) -> float:
    return region.get(function, 0) / region["samples"]


def test_two_threads_in_one_function(sampler: str, tmp_path: Path) -> None:
    shared = seen(tmp_path, "two_threads", sampler)["shared"]
    assert shared["calls"] == 2
    assert shared["torn"] == 0
    assert "blue" not in shared
    # Both threads are sampled for as long as both run: the share is the scheduler's, not ours.
    assert share(shared, "red") + share(shared, "green") > 0.9
    assert min(share(shared, "red"), share(shared, "green")) > 0.25


@pytest.mark.alone  # it asserts shares of time
def test_ten_coroutines_in_one_loop(sampler: str, tmp_path: Path) -> None:
    regions = seen(tmp_path, "coroutines", sampler)
    for own, other in (("red", "green"), ("green", "red")):
        assert regions[own]["calls"] == 5
        assert regions[own]["torn"] == 0
        assert share(regions[own], own) > 0.9
        assert other not in regions[own]
        assert "blue" not in regions[own]


def test_nested_and_recursive_regions(sampler: str, tmp_path: Path) -> None:
    regions = seen(tmp_path, "nested", sampler)
    outer, inner = regions["outer"], regions["inner"]
    assert (outer["calls"], inner["calls"]) == (4, 1)
    assert "red" not in inner
    assert "blue" not in outer
    assert outer["green"] == inner["green"]
    assert 0.45 < share(outer, "red") < 0.85  # 0.2 s of 0.3 s


def test_generators_that_are_consumed_in_turn(sampler: str, tmp_path: Path) -> None:
    regions = seen(tmp_path, "generators", sampler)
    for own, other in (("red", "green"), ("green", "red")):
        assert share(regions[own], own) > 0.9
        assert other not in regions[own]
        assert "blue" not in regions[own]


def test_blocks_in_loops_across_awaits_and_detached(sampler: str, tmp_path: Path) -> None:
    regions = seen(tmp_path, "blocks", sampler)
    for label, own, other in (
        ("loop", "red", "green"),
        ("async", "green", "red"),
        ("detached", "green", "red"),
    ):
        assert share(regions[label], own) > 0.9, label
        assert other not in regions[label], label
        assert "blue" not in regions[label], label
    assert regions["loop"]["calls"] == 10


def test_threads_that_a_region_starts(sampler: str, tmp_path: Path) -> None:
    regions = seen(tmp_path, "every_thread", sampler)
    assert "green" not in regions["callers"]
    assert min(regions["everyone"].get(name, 0) for name in ("red", "green")) > 10
    assert "blue" not in regions["everyone"]


def test_processes_that_a_region_starts(tmp_path: Path) -> None:
    family = seen(tmp_path, "processes", "auto")["family"]
    assert min(family.get(name, 0) for name in ("red", "green")) > 10
