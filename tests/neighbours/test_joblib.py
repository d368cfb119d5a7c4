"""joblib: tasks in workers of loky and multiprocessing, and in threads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.neighbours.harness import assert_only, assert_same, both, program, seen


@pytest.mark.parametrize(
    "backend", ["loky", pytest.param("multiprocessing", marks=pytest.mark.full), "threading"]
)
def test_tasks(tmp_path: Path, backend: str) -> None:
    pair = both(tmp_path, program("joblib_tasks.py", backend))
    assert_same(pair)
    found = seen(pair.folder)
    assert (found["red"].calls, found["green"].calls) == (11, 14)
    assert_only(found["red"], "red", ["green"])
    assert_only(found["green"], "green", ["red"])
    processes = {"loky": 3, "multiprocessing": 3, "threading": 1}[backend]
    assert len(found["red"].pids | found["green"].pids) >= processes
    assert os.getpid() not in found["red"].pids
