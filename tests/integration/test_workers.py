"""Worker processes that are terminated keep their calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from profkit.store.spool import read_session, session_folders
from tests.integration.harness import await_samplers_end, run_program

pytestmark = pytest.mark.sampler

POOL = """
import multiprocessing, sys
from profkit import profile

@profile(label="square")
def square(number):
    end = sum(range(100_000))
    return number * number + end - end

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(4) as workers:  # which terminates them
        workers.map(square, range(32), chunksize=1)
"""


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.full)])
def test_workers_that_are_terminated_keep_their_calls(tmp_path: Path, method: str) -> None:
    (tmp_path / "pool.py").write_text(POOL)
    done = run_program(tmp_path, ["pool.py", method])
    assert done.returncode == 0, done.stderr
    await_samplers_end(tmp_path)
    folders = session_folders(tmp_path / ".profkit" / "spool")
    deltas = [delta for folder in folders for delta in read_session(folder).calls.values()]
    assert sum(delta.durations.count for delta in deltas) == 32
