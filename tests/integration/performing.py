"""Jobs that a process without zygote or driver performs, one after the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests.integration.harness import PROGRAMS, ROOT


def performed(*jobs: dict[str, object]) -> list[dict]:
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / "perform_jobs.py")],
        input=json.dumps(jobs),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
