"""gevent: programs whose greenlets take turns inside profiled functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.neighbours.harness import Seen, assert_halves, assert_only, assert_same, both, program, seen


def ran(tmp_path: Path, scene: str, when: str = "first") -> dict[str, Seen]:
    pair = both(tmp_path, program("gevent_greenlets.py", scene, when))
    assert_same(pair)
    return seen(pair.folder)


@pytest.mark.parametrize("when", ["first", "late", "never"])
def test_greenlets_that_take_turns_within_their_calls(tmp_path: Path, when: str) -> None:
    found = ran(tmp_path, "overlapping", when)
    assert (found["red"].calls, found["green"].calls) == (4, 4)
    assert_only(found["red"], "red", ["green", "blue"])
    assert_only(found["green"], "green", ["red", "blue"])
    assert found["red"].torn == found["green"].torn == 0
    assert_halves(found["red"], found["green"])


def test_a_pool_of_greenlets_without_any_option(tmp_path: Path) -> None:
    found = ran(tmp_path, "default")
    (handler,) = found.values()
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


def test_child_processes_of_gevent(tmp_path: Path) -> None:
    found = ran(tmp_path, "children")
    assert found["red"].calls == 2


def test_native_threads_beside_greenlets(tmp_path: Path) -> None:
    found = ran(tmp_path, "threads")
    assert (found["red"].calls, found["green"].calls) == (1, 2)
    assert_only(found["red"], "red", ["green", "blue"])
    assert_only(found["green"], "green", ["red", "blue"])


def test_a_server_in_one_thread(tmp_path: Path) -> None:
    found = ran(tmp_path, "sockets")
    assert found["request"].calls == 40
    assert found["request"].share("red") > 0.2, found["request"]
    assert found["request"].share("ask") == 0
