"""py-spy as a process: when it counts as running, when its file is whole, and what 0.4.3 was seen to say."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import AttachDenied, SamplerFailed
from profkit.model.session import SessionState
from profkit.process import procfs
from profkit.process.detached import watch
from profkit.samplers.base import LiveStacks
from profkit.samplers.options import SamplerOptions
from profkit.samplers.process_attachment import read_log
from profkit.samplers.pyspy import PySpySampler
from profkit.samplers.pyspy_process import PySpyProcess, is_whole, log_facts

CATCHES_INT = f"SigCgt:\t{1 << (signal.SIGINT - 1):016x}\n"
SHELL, PYSPY = "/bin/dash", "/usr/bin/py-spy"


DEFAULTS = SamplerOptions()


def attempt(
    folder: Path, text: str = "", pid: int = 4711, options: SamplerOptions = DEFAULTS, earlier: str = ""
) -> PySpyProcess:
    """One that left this log."""
    log, plan = folder / "segment-000.log", PySpySampler().plan(options, LiveStacks(1, 1))
    log.write_text(earlier)
    made = PySpyProcess("/bin/py-spy", pid, plan, folder, 0, SYSTEM_CLOCK)
    log.write_text(earlier + text)
    return made


@pytest.mark.parametrize(
    ("program", "arguments", "state"),
    [
        (PYSPY, b"py-spy\0record\0", SessionState.RUNNING),
        (SHELL, b"sh\0py-spy\0", SessionState.PREPARING),
        (None, b"py-spy\0record\0", SessionState.RUNNING),  # of another user
        (None, b"", SessionState.PREPARING),  # about to end
    ],
)
def test_it_runs_if_it_handles_interrupts(
    program: str | None, arguments: bytes, state: SessionState, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    process = watch(os.getpid())
    assert process is not None
    folder = tmp_path / str(os.getpid())
    folder.mkdir()
    (folder / "status").write_text(CATCHES_INT)
    (folder / "cmdline").write_bytes(arguments)
    if program is not None:
        (folder / "exe").symlink_to(program)
    attachment = attempt(tmp_path, pid=os.getpid())
    attachment.process = process
    monkeypatch.setattr(procfs, "PROC", str(tmp_path))
    assert attachment.poll() is state
    process.close()


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (SamplerOptions(blocking=False), ["--target", "--rounds", "--helper"]),
        (SamplerOptions(blocking=True), ["--target", "--rounds", "--helper", "--stops"]),
        (
            SamplerOptions(blocking=True, subprocesses=True),
            ["--target", "--rounds", "--helper", "--stops", "--children"],
        ),
        (SamplerOptions(idle=False), ["--target"]),
        (SamplerOptions(gil=True), ["--target"]),
    ],
)
def test_rounds_are_observed_if_all_threads_are_sampled(
    options: SamplerOptions, names: list[str], tmp_path: Path
) -> None:
    found = attempt(tmp_path, pid=7, options=options).watchdog_options()
    assert [option.partition("=")[0] for option in found] == names
    assert found[0] == "--target=7"


DENIED = (
    "Permission Denied: Try running again with elevated permissions by going 'sudo env \"PATH=$PATH\" !!'\n"
)
DENIED_SUSPEND = "Error: Failed to suspend process\n\nCaused by:\n    0: EPERM: Operation not permitted\n"
DENIED_NAME = (
    "Error: Failed to get process executable name.\n\nCaused by:\n    0: Permission denied (os error 13)\n"
)
DENIED_CHILDREN = "Error: No python processes found in process 12 or any of its subprocesses\n"
DENIED_CALL = "Error: Failed to suspend process\n\nCaused by:\n    0: ENOSYS: Function not implemented\n"
KILLED_BY_FILTER = "profkit-watchdog: started 5 under 4\nprofkit-watchdog: ended by signal 31\n"
GONE = "Error: Failed to get process executable name. Check that the process is running.\n"
NOT_PYTHON = "Error: Failed to find python version from target process\n"
FULL = "Error: No space left on device (os error 28)\n"
EXITED = "profkit-watchdog: ended with exit status"
WATCHED = "profkit-watchdog: ended by signal"
DONE = """py-spy> Sampling process 500 times a second for 605 seconds. Press Control-C to exit.

py-spy> 1.00s behind in sampling, results may be inaccurate. Try reducing the sampling rate
py-spy> 12.99s behind in sampling, results may be inaccurate. Try reducing the sampling rate
py-spy> Stopped sampling because Control-C pressed
py-spy> Wrote speedscope file to 'a.json'. Samples: 198 Errors: 7
"""


def test_counts_and_lateness():
    assert log_facts(DONE) == (7, 12.99)
    assert log_facts("") == (0, 0.0)


@pytest.mark.parametrize(
    "text",
    [DENIED, DENIED_SUSPEND, DENIED_NAME, DENIED_CHILDREN, DENIED_CALL, KILLED_BY_FILTER],
)
def test_six_ways_to_be_denied(text: str, tmp_path: Path):
    error = attempt(tmp_path, text, os.getpid()).failure("start")
    assert isinstance(error, AttachDenied)
    assert error.pid == os.getpid()
    assert "profkit-probe: ptrace=" in read_log(tmp_path / "segment-000.log")


def test_a_denial_while_it_writes_is_another_matter(tmp_path: Path):
    error = attempt(tmp_path, "Error: Permission denied (os error 13)\n").failure("stop")
    assert isinstance(error, SamplerFailed)
    assert "failed at stop: Permission denied" in str(error)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GONE, "has ended, or is not a Python program that it supports"),
        (NOT_PYTHON, "has ended, or is not a Python program that it supports"),
        (FULL, "the disk is full"),
        ("error: invalid value '0.5' for '--rate <rate>': invalid digit\n\nFor more", "invalid value '0.5'"),
        ("thread 'main' panicked at src/main.rs", "it ended without its output"),
        ("", "it ended without its output"),
    ],
)
def test_failures(text: str, said: str, tmp_path: Path):
    error = attempt(tmp_path, text).failure("sampling")
    assert isinstance(error, SamplerFailed)
    assert said in str(error)
    assert "; " in str(error), "names a fix"
    assert not error.passing, "no start"


@pytest.mark.parametrize(
    ("text", "said", "passing"),
    [
        ("", "it ended without its output, and printed nothing", True),
        (f"{WATCHED} 9\n", "output, by signal 9 (SIGKILL), and printed nothing", True),
        (f"thread 'main' panicked\n{EXITED} 101\n",
         "output, with exit status 101, after printing \"thread 'main' panicked\"", True),
        (f"Error: Strange\n{EXITED} 1\n", "Strange (with exit status 1)", True),
        (f"error: wrong rate\n{EXITED} 2\n", "wrong rate (with exit status 2)", False),
        (FULL, "the disk is full", False),
        (NOT_PYTHON, "not a Python program", False),
    ],
)  # fmt: skip
def test_a_start_that_fails_is_explained(text: str, said: str, passing: bool, tmp_path: Path):
    error = attempt(tmp_path, text).failure("start")
    assert isinstance(error, SamplerFailed)
    assert said in str(error)
    assert error.passing is passing
    if passing:
        assert "the command was `/bin/py-spy record -p 4711 -f speedscope" in str(error)


def test_only_the_part_of_the_attempt_counts(tmp_path: Path):
    text = f"{FULL}{WATCHED} 9\n"
    error = attempt(tmp_path, f"{WATCHED} 15\n", earlier=text).failure("start")
    assert "by signal 15 (SIGTERM)" in str(error)


def test_a_sampler_that_somebody_stopped(tmp_path: Path):
    text = "profkit-watchdog: interrupted, because it was stopped by signal 19\n"
    tried = attempt(tmp_path, f"{text}{WATCHED} 9\n")
    assert "py-spy was stopped by signal 19 (SIGSTOP)" in str(tried.failure("sampling"))


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
