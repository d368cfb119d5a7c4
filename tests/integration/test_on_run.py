"""Callbacks get each run once, when its samples are complete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.harness import PROGRAMS, run_program

pytestmark = pytest.mark.sampler


def got(folder: Path, scene: str, said: str = "") -> list[Any]:
    done = run_program(folder, [str(PROGRAMS / "on_run.py"), scene], code=0)
    assert said in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_runs_of_the_last_session_when_the_program_ends(tmp_path: Path) -> None:
    assert got(tmp_path, "at_exit") == [[["work", 3, True, "main"], ["block", 1, True, "main"]]]


def test_runs_of_a_session_that_ends_earlier_in_a_thread(tmp_path: Path) -> None:
    first, last = got(tmp_path, "after_the_session")
    assert first == [["work", 1, True, "other"]]
    assert last == [["work", 1, True, "main"]]


def test_a_callback_that_waits_for_the_thread_that_forks(tmp_path: Path) -> None:
    (found,) = got(tmp_path, "waiting_for_a_lock")
    assert sorted(label for label, *_ in found) == ["waits", "work"]


def test_a_callback_that_fails_is_logged_and_the_others_are_called(tmp_path: Path) -> None:
    found = got(tmp_path, "failing", "on_run of 'fails' raised ValueError: fails")
    assert found == [[["work", 1, True, "main"]]]


def test_measured_calls(tmp_path: Path) -> None:
    (labels,) = got(tmp_path, "measured")
    assert sorted(labels) == ["measured.length(list[1])", "measured.length(list[2])"]
