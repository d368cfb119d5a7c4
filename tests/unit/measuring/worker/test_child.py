"""What a job's process looks like to the job, tried in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import os, sys
from profkit.measuring.worker.child import apply_surroundings
job = {"env": {"A": "1", "B": "2", "C": None, "D": None}, "cwd": "/", "path": ["/nowhere"], "cores": []}
environment, path = dict(os.environ), list(sys.path)
try:
    apply_surroundings({**job, "cwd": "/not/there"})
except FileNotFoundError as error:
    assert error.filename == "/not/there"
else:
    sys.exit("the folder does not exist")
apply_surroundings({**job, "path": []})
assert sys.path == path, "another environment keeps its own"
apply_surroundings(job)
assert dict(os.environ) == {**{k: v for k, v in environment.items() if k != "C"}, "A": "1", "B": "2"}
assert os.getcwd() == "/"
assert sys.path == ["/nowhere"]
"""


def test_surroundings_are_changed_into_the_jobs() -> None:
    env = {**os.environ, "A": "other", "C": "3"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
