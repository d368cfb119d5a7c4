"""Output of commands that end, that fail, and that do not end."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from profkit.process.captured import Captured, capture
from profkit.process.procfs import is_running


def test_a_command_that_ends() -> None:
    assert capture(("/bin/sh", "-c", "echo out; echo err >&2; exit 3")) == Captured(3, "out", "err")
    assert capture(("/bin/sh", "-c", "kill -9 $$")).code == -9


def test_a_command_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        capture((str(tmp_path / "missing"),))


def test_a_command_that_does_not_end_is_ended_with_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    text = f"sleep 60 & echo $! $$ > {pids}; wait"
    with pytest.raises(TimeoutError, match="did not end within"):
        capture(("/bin/sh", "-c", text), timeout_s=0.5)
    deadline_s = time.monotonic() + 10
    while any(is_running(int(pid)) for pid in pids.read_text().split()):
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
