"""gevent and eventlet: programs whose green threads take turns inside profiled functions."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.integration.harness import listed, run_program
from tests.neighbours.harness import (
    Seen,
    assert_only,
    assert_same,
    both,
    environ,
    program,
    seen,
)

LIBRARIES = ("gevent", "eventlet")


def ran(tmp_path: Path, scene: str, library: str = "gevent", when: str = "first") -> dict[str, Seen]:
    pair = both(tmp_path, program(f"{library}_greenlets.py", scene, when))
    assert_same(pair)
    return seen(pair.folder)


@pytest.mark.parametrize(
    ("library", "when"), [("gevent", "first"), ("gevent", "late"), ("gevent", "never"), ("eventlet", "first")]
)
def test_green_threads_that_take_turns_within_their_calls(tmp_path: Path, library: str, when: str) -> None:
    found = ran(tmp_path, "overlapping", library, when)
    assert (found["red"].calls, found["green"].calls) == (4, 4)
    assert_only(found["red"], "red", ["green", "blue"])
    assert_only(found["green"], "green", ["red", "blue"])
    assert library == "eventlet" or found["red"].torn == found["green"].torn == 0


@pytest.mark.full  # on a busy machine, the sampler keeps no rate
@pytest.mark.parametrize("library", LIBRARIES)
def test_regions_that_work_for_equally_long_have_equally_many_samples(tmp_path: Path, library: str) -> None:
    found = ran(tmp_path, "overlapping", library)
    one, other = found["red"].samples, found["green"].samples
    assert abs(one - other) < 5 * math.sqrt(one + other), "five standard deviations"


@pytest.mark.parametrize("library", LIBRARIES)
def test_child_processes(tmp_path: Path, library: str) -> None:
    assert ran(tmp_path, "children", library)["red"].calls == 2


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_server_in_one_thread(tmp_path: Path, library: str) -> None:
    found = ran(tmp_path, "sockets", library)
    assert found["request"].calls == 40
    assert found["request"].share("red") > 0.2, found["request"]
    assert found["request"].share("ask") == 0


def test_a_pool_of_greenlets_without_any_option(tmp_path: Path) -> None:
    (handler,) = ran(tmp_path, "default").values()
    assert handler.calls == 20


def test_blocks_that_are_open_at_once(tmp_path: Path) -> None:
    found = ran(tmp_path, "blocks")
    assert_only(found["one"], "red", ["green", "blue"])
    assert_only(found["two"], "green", ["red", "blue"])


def test_generators_consumed_by_greenlets(tmp_path: Path) -> None:
    found = ran(tmp_path, "generators")
    assert found["items"].calls == 2
    assert_only(found["items"], "red", ["green"])


def test_kills_timeouts_and_errors_inside_a_region(tmp_path: Path) -> None:
    found = ran(tmp_path, "killed")
    assert (found["waits"].calls, found["waits"].raised) == (2, 2)
    assert (found["fails"].calls, found["fails"].raised) == (1, 1)
    assert (found["red"].calls, found["green"].calls) == (1, 1)


def test_native_threads_beside_greenlets(tmp_path: Path) -> None:
    found = ran(tmp_path, "threads")
    assert (found["red"].calls, found["green"].calls) == (1, 2)
    assert_only(found["red"], "red", ["green", "blue"])
    assert_only(found["green"], "green", ["red", "blue"])


@pytest.mark.parametrize("library", LIBRARIES)
def test_isolated_calls(tmp_path: Path, library: str) -> None:
    """Green threads go on, and zygotes live on."""
    done = run_program(tmp_path, program("green_isolated.py", library), environ=environ(), code=0)
    assert done.stdout.splitlines() == [str([1, *[2] * 9]), "3 True", "timed out True", "True", "True"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_measured_calls(tmp_path: Path, library: str) -> None:
    """Programs end as before, and keep their signals."""
    pair = both(tmp_path, program("green_measured.py", library))
    assert "blocked []" in pair.bare.stdout
    assert "signal SIGUSR1" in pair.bare.stdout
    assert pair.profiled.stdout == pair.bare.stdout
    assert pair.profiled.returncode == pair.bare.returncode == 0
    assert "Traceback" not in pair.profiled.stderr
    assert sorted(run["label"] for run in listed(pair.folder)) == ["total(10)", "total(100)", "total(1000)"]
