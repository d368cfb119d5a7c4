"""A process that is killed or interrupted while samplers start and stop, or while it imports profkit."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from profkit.store.spool import read_session, session_folders
from tests.integration.harness import PROGRAMS, await_samplers_end, environment, profkit
from tests.support.folders import ROOT
from tests.support.waiting import until

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


CALLER = ROOT / "benchmarks" / "faults" / "programs" / "caller.py"


def exit_status(folder: Path, delay_s: float) -> int:
    """Interrupt four threads that begin to profile; the exit status of their program."""
    log = folder / "log"
    argv = [sys.executable, str(CALLER), str(log), "threads", "0", "60", "inprocess"]
    with subprocess.Popen(
        argv, cwd=folder, env=environment(PYTHONPATH=str(ROOT)), stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as program:  # fmt: skip
        until(lambda: log.exists() and log.read_bytes())
        time.sleep(delay_s)
        program.send_signal(signal.SIGINT)
        return program.wait(30)


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.full) for n in range(1, 30))])
def test_its_end_waits_for_no_import(tmp_path: Path, seed: int) -> None:
    delay_s = random.Random(seed).uniform(0.0, 0.35)
    # CPython ends with 1 if another thread calls `exec` after the interrupt, as dataclasses do at import.
    assert exit_status(tmp_path, delay_s) in (-signal.SIGINT, 1)
