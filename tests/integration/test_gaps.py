"""Time in which a program cannot be read is a gap, and is not spread over its functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.harness import profkit, reported

pytestmark = [
    pytest.mark.sampler, pytest.mark.outside, pytest.mark.alone, pytest.mark.timeout(180),
    pytest.mark.parametrize("sampler", [
        pytest.param("pyspy", marks=pytest.mark.gil), pytest.param("cpython", marks=pytest.mark.reader),
    ]),
]  # fmt: skip
REPLACED = """
import os, time

def works():
    begun_s = time.monotonic()
    while time.monotonic() < begun_s + 0.6:
        sum(range(100))
    print(time.monotonic() - begun_s, flush=True)

works()
os.execv("/bin/sleep", ["sleep", "3"])
"""
STOPPED = """
import os, signal, subprocess, sys, time

def works():
    begun_s = time.monotonic()
    while time.monotonic() < begun_s + 0.6:
        sum(range(100))
    print(time.monotonic() - begun_s, flush=True)

def is_stopped():
    os.kill(os.getpid(), signal.SIGSTOP)

subprocess.Popen(["/bin/sh", "-c", "sleep 3; kill -CONT 0"])  # also `profkit run`, which stops with it
works()
is_stopped()
works()
"""


@pytest.mark.parametrize("text", [REPLACED, STOPPED], ids=["exec", "stopped"])
def test_time_that_cannot_be_read_is_a_gap(sampler: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(text)
    done = profkit(tmp_path, "run", "-q", "--sampler", sampler, "program.py")
    worked_s = sum(map(float, done.stdout.split()))
    session = reported(tmp_path)["run"]["session"]
    assert session["gap_s"] > 1.0, session
    assert session["recorded_s"] < worked_s + 1.5, session
