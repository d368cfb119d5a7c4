"""Measured calls in programs of gevent and eventlet: these end as before, and keep their signals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.neighbours.harness import both, profkit, program


@pytest.mark.parametrize("library", ["gevent", "eventlet"])
def test_calls_in_green_threads(tmp_path: Path, library: str) -> None:
    pair = both(tmp_path, program("green_measured.py", library))
    assert "blocked []" in pair.bare.stdout
    assert "signal SIGUSR1" in pair.bare.stdout
    assert pair.profiled.stdout == pair.bare.stdout
    assert pair.profiled.returncode == pair.bare.returncode == 0
    assert "Traceback" not in pair.profiled.stderr
    listed = json.loads(profkit(pair.folder, "list", "--json").stdout)["runs"]
    assert sorted(run["label"] for run in listed) == ["total(10)", "total(100)", "total(1000)"]
