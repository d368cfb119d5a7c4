"""What a job's process looks like to the job, tried in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys

BEGIN = """
import os, sys
from profkit.measuring.worker.child import apply_surroundings
job = {"env": {"A": "1", "B": "2", "C": None, "D": None}, "cwd": "/", "path": ["/nowhere"], "cores": []}
"""


def run(text: str, **env: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + text],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_the_environment_is_changed_into_the_jobs() -> None:
    run(
        """
before = dict(os.environ)
apply_surroundings(job)
assert dict(os.environ) == {**{k: v for k, v in before.items() if k != "C"}, "A": "1", "B": "2"}
assert os.getcwd() == "/"
assert sys.path == ["/nowhere"]
""",
        A="other",
        C="3",
    )


def test_another_environment_keeps_its_own_path() -> None:
    run("""
before = list(sys.path)
apply_surroundings({**job, "path": []})
assert sys.path == before
""")


def test_a_folder_that_is_not_there() -> None:
    run("""
try:
    apply_surroundings({**job, "cwd": "/not/there"})
except FileNotFoundError as error:
    assert error.filename == "/not/there"
else:
    sys.exit(1)
""")
