"""eventlet: programs whose green threads take turns inside profiled functions."""

from __future__ import annotations

from pathlib import Path

from tests.neighbours.harness import Seen, assert_halves, assert_only, assert_same, both, program, seen


def ran(tmp_path: Path, scene: str) -> dict[str, Seen]:
    pair = both(tmp_path, program("eventlet_greenlets.py", scene))
    assert_same(pair)
    return seen(pair.folder)


def test_green_threads_that_take_turns_within_their_calls(tmp_path: Path) -> None:
    found = ran(tmp_path, "overlapping")
    assert (found["red"].calls, found["green"].calls) == (4, 4)
    assert_only(found["red"], "red", ["green", "blue"])
    assert_only(found["green"], "green", ["red", "blue"])
    assert_halves(found["red"], found["green"])


def test_child_processes(tmp_path: Path) -> None:
    assert ran(tmp_path, "children")["red"].calls == 2


def test_a_server_in_one_thread(tmp_path: Path) -> None:
    found = ran(tmp_path, "server")
    assert found["request"].calls == 40
    assert found["request"].share("red") > 0.2, found["request"]
