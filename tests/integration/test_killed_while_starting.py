"""A process that is killed while samplers start, stop and rotate leaves nothing that cannot be read."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from profkit.store.spool import read_session, session_folders
from tests.integration.harness import PROGRAMS, await_samplers_end, environment, profkit

pytestmark = pytest.mark.sampler


def kill_after(folder: Path, delay_s: float) -> None:
    process = subprocess.Popen(
        [sys.executable, str(PROGRAMS / "restless.py")], cwd=folder, env=environment(), stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        time.sleep(delay_s)
        process.kill()


@pytest.mark.parametrize("seed", range(6))
def test_killed_at_any_moment_of_a_start_or_a_stop(tmp_path: Path, seed: int) -> None:
    kill_after(tmp_path, random.Random(seed).uniform(0.05, 0.4))
    await_samplers_end(tmp_path)
    folders = session_folders(tmp_path / ".profkit" / "spool")
    # The last one may have been killed before its first region was to run.
    begun = {folder.name for folder in folders if read_session(folder).regions}
    assert len(folders) - len(begun) <= 1
    done = profkit(tmp_path, "list", "--json")
    assert done.stderr == ""
    runs = json.loads(done.stdout)["runs"]
    assert {run["session"]["id"] for run in runs} == begun
    assert session_folders(tmp_path / ".profkit" / "spool") == ()
    assert not [run["error"] for run in runs if run["error"] is not None]
