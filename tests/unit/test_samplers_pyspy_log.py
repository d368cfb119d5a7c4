"""What py-spy 0.4.3 was seen to say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from profkit.errors import AttachDenied, SamplerFailed
from profkit.samplers.pyspy_attachment import is_whole
from profkit.samplers.pyspy_log import LogFacts, failure, log_facts, read_log

DENIED = (
    "Permission Denied: Try running again with elevated permissions by going 'sudo env \"PATH=$PATH\" !!'\n"
)
DENIED_SUSPEND = "Error: Failed to suspend process\n\nCaused by:\n    0: EPERM: Operation not permitted\n"
DENIED_NAME = (
    "Error: Failed to get process executable name.\n\nCaused by:\n    0: Permission denied (os error 13)\n"
)
DENIED_CHILDREN = "Error: No python processes found in process 12 or any of its subprocesses\n"
GONE = "Error: Failed to get process executable name. Check that the process is running.\n"
NOT_PYTHON = "Error: Failed to find python version from target process\n"
FULL = "Error: No space left on device (os error 28)\n"
DONE = """py-spy> Sampling process 500 times a second for 605 seconds. Press Control-C to exit.

py-spy> 1.00s behind in sampling, results may be inaccurate. Try reducing the sampling rate
py-spy> 12.99s behind in sampling, results may be inaccurate. Try reducing the sampling rate
py-spy> Stopped sampling because Control-C pressed
py-spy> Wrote speedscope file to 'a.json'. Samples: 198 Errors: 7
"""


def test_counts_and_lateness():
    assert log_facts(DONE) == LogFacts(errors=7, behind_s=12.99)
    assert log_facts("") == LogFacts(errors=0, behind_s=0.0)


@pytest.mark.parametrize("text", [DENIED, DENIED_SUSPEND, DENIED_NAME, DENIED_CHILDREN])
def test_four_ways_to_be_denied(text: str):
    error = failure(text, os.getpid(), "start")
    assert isinstance(error, AttachDenied)
    assert error.pid == os.getpid()


def test_a_denial_while_it_writes_is_another_matter():
    error = failure("Error: Permission denied (os error 13)\n", 1, "stop")
    assert isinstance(error, SamplerFailed)
    assert "failed at stop: Permission denied" in str(error)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GONE, "is no Python program that it knows, or has ended"),
        (NOT_PYTHON, "is no Python program that it knows, or has ended"),
        (FULL, "the disk is full"),
        ("error: invalid value '0.5' for '--rate <rate>': invalid digit\n\nFor more", "invalid value '0.5'"),
        ("thread 'main' panicked at src/main.rs", "it ended without its output"),
        ("", "it ended without its output"),
    ],
)
def test_failures(text: str, said: str):
    error = failure(text, 4711, "sampling")
    assert isinstance(error, SamplerFailed)
    assert said in str(error)
    assert "; " in str(error), "names a remedy"


def test_a_missing_log_is_empty(tmp_path: Path):
    assert read_log(tmp_path / "no.log") == ""


WHOLE = (
    '{"profiles":[],"shared":{"frames":[{"name":"f"}]},"activeProfileIndex":null,'
    '"exporter":"py-spy@0.4.3","name":"py-spy profile"}'
)


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_whole_file(tmp_path: Path, end: str):
    path = tmp_path / "a.json"
    path.write_text("x" * 5000 + WHOLE + end)
    assert is_whole(path)


def test_every_truncation_shows(tmp_path: Path):
    path = tmp_path / "a.json"
    for length in range(len(WHOLE)):
        path.write_text(WHOLE[:length])
        assert not is_whole(path), WHOLE[:length]
    assert not is_whole(tmp_path / "missing")
