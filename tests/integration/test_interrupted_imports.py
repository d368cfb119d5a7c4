"""A program that is interrupted while its threads import parts of profkit ends like any other."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.integration.harness import environment
from tests.support.folders import ROOT
from tests.support.waiting import until

pytestmark = pytest.mark.sampler

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
