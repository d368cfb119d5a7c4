"""Samples belong to the regions on their own stacks, whatever shape the regions have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.harness import PROGRAMS, run_program

pytestmark = pytest.mark.sampler

Seen = dict[str, dict[str, int]]


def seen(folder: Path, scene: str) -> Seen:
    done = run_program(folder, [str(PROGRAMS / "odd_regions.py"), scene])
    assert (done.returncode, done.stderr) == (0, "")
    found: Seen = json.loads(done.stdout)
    for region in found.values():
        assert region["torn"] == 0
    return found


def colours(region: dict[str, int]) -> set[str]:
    """What a region's samples are of."""
    return {"red", "green", "blue"} & region.keys()


def share(region: dict[str, int], function: str) -> float:
    return region.get(function, 0) / region["samples"]


@pytest.fixture(scope="module")
def nested_scopes(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    return seen(tmp_path_factory.mktemp("nested_scopes"), "nested_scopes")


@pytest.mark.gil
def test_statements_of_all_shapes(tmp_path: Path) -> None:
    regions = seen(tmp_path, "statements")
    assert regions["first"] == regions["second"]
    for label in ("first", "short", "left0", "left1", "left2"):
        assert colours(regions[label]) == {"red"}
        assert regions[label]["red"] >= 10
    assert colours(regions["inner"]) == {"green"}
    assert colours(regions["outer"]) == {"red", "green"}
    assert regions["outer"]["green"] == regions["inner"]["green"]
    assert regions["left0"]["calls"] == 4  # one returned, one was broken off, two raised


@pytest.mark.gil
def test_blocks_that_a_context_manager_enters(tmp_path: Path) -> None:
    regions = seen(tmp_path, "managers")
    for label, own in (("plain", "red"), ("stacked", "green"), ("async", "red"), ("async stack", "green")):
        assert colours(regions[label]) == {own}, label
        assert share(regions[label], own) > 0.8, label
        assert regions[label][own] >= 10, label


@pytest.mark.gil
def test_blocks_that_an_async_context_manager_enters_in_two_tasks(tmp_path: Path) -> None:
    regions = seen(tmp_path, "managed_tasks")
    assert (colours(regions["one"]), colours(regions["two"])) == ({"red"}, {"green"})


@pytest.mark.gil
def test_async_generators_that_are_consumed_in_turn(tmp_path: Path) -> None:
    regions = seen(tmp_path, "streams")
    assert (colours(regions["first"]), colours(regions["second"])) == ({"red"}, {"green"})
    assert min(region["samples"] for region in regions.values()) >= 10


@pytest.mark.gil
def test_destructors_of_local_variables_belong_to_their_call(tmp_path: Path) -> None:
    region = seen(tmp_path, "destructors")["owner"]
    assert colours(region) == {"red", "green"}
    assert min(share(region, "red"), share(region, "green")) > 0.25


@pytest.mark.gil
def test_one_block_in_two_threads_and_in_itself(tmp_path: Path) -> None:
    shared = seen(tmp_path, "shared")["shared"]
    assert shared["calls"] == 10
    assert min(share(shared, "red"), share(shared, "green")) > 0.15
    assert colours(shared) == {"red", "green", "blue"}  # what the recursion does outside is inside the outer
    assert share(shared, "shared.<locals>.down") == 1


@pytest.mark.gil
def test_all_that_can_be_called(tmp_path: Path) -> None:
    regions = seen(tmp_path, "callables")
    for label, region in regions.items():
        assert colours(region) == {"red"}, label
        assert share(region, "red") > 0.8, label
        assert region["calls"] == (2 if label == "pooled" else 1), label
    assert share(regions["in C"], "sorted") == 1
    assert share(regions["method"], "Worker.method") == 1


@pytest.mark.gil
def test_functions_that_are_passed(tmp_path: Path) -> None:
    regions = seen(tmp_path, "handed_over")
    assert (colours(regions["one"]), colours(regions["two"])) == ({"red"}, {"green"})
    assert [region["calls"] for region in regions.values()] == [5, 5]


@pytest.mark.gil
def test_calls_that_are_not_profiled_have_no_samples(tmp_path: Path) -> None:
    third = seen(tmp_path, "thinned")["third"]
    assert (third["calls"], colours(third)) == (3, {"red"}), third


@pytest.mark.gil
def test_a_region_of_the_whole_process(tmp_path: Path) -> None:
    regions = seen(tmp_path, "exclusive")
    assert colours(regions["all"]) == {"red", "green"}
    assert regions["all"]["green"] >= 10
    assert regions["other"]["calls"] == 1  # the one that had to share was not profiled
    assert colours(regions["other"]) == {"green"}


@pytest.mark.gil
@pytest.mark.parametrize("scope", ["process", "threads"])
def test_a_region_goes_on_after_one_of_another_scope(nested_scopes: Seen, scope: str) -> None:
    outer, inner = nested_scopes[f"outer {scope}"], nested_scopes[f"inner {scope}"]
    assert (outer["calls"], inner["calls"]) == (1, 1)
    assert (colours(outer), colours(inner)) == ({"red", "green"}, {"green"})
    assert outer["green"] == inner["green"]
    assert outer["nested_scopes.<locals>.after"] >= 10
