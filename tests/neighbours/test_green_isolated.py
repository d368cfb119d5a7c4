"""Isolated calls in programs of gevent and eventlet: green threads go on, and zygotes live on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.harness import run_program
from tests.neighbours.harness import environ, program


@pytest.mark.parametrize("library", ["gevent", "eventlet"])
def test_calls_in_green_threads(tmp_path: Path, library: str) -> None:
    done = run_program(tmp_path, program("green_isolated.py", library), environ=environ())
    assert (done.returncode, done.stdout.splitlines()) == (
        0,
        [str([1, *[2] * 9]), "3 True", "timed out True", "True", "True"],
    ), done.stderr
