"""Job messages as drivers send them, with what a test leaves out filled in."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from profkit.measuring.worker.protocol import Message
from tests.support.folders import ROOT


def case(stmt: str | None, setup: str = "", global_setup: str = "", **others: object) -> Message:
    usual = {"language": "python", "level": "function", "payload": False, "library": None}
    return {"stmt": stmt, "setup": setup, "global_setup": global_setup, **usual, **others}


def timer_job(*cases: Message, **others: object) -> Message:
    """Short blocks and few: what is tested is never how long they take."""
    usual = {"number": [None] * len(cases), "blocks": 3, "block_s": 0.0001, "min_run_time_s": 0.001}
    return {"mode": "timer", "num_threads": 1, "cases": [*cases], "runs": None, "seed": 1, **usual, **others}


def callgrind_job(*cases: Message, **others: object) -> Message:
    usual = {"number": [None] * len(cases), "repeats": 2, "warm": 20, "runs": None}
    return {"mode": "callgrind", "num_threads": 1, "cases": [*cases], **usual, **others}


def performed(*jobs: dict[str, object]) -> list[dict]:
    """Answers to jobs that a process without zygote or driver performs, one after the other."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/integration/programs/perform_jobs.py")], input=json.dumps(jobs),
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
