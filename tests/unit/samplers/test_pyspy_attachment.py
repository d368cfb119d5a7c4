"""When an attached py-spy counts as running, by what /proc says of its process."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.model.session import SessionState
from profkit.process import procfs
from profkit.process.watched import watch
from profkit.samplers.attempts import Attempt
from profkit.samplers.base import LiveStacks
from profkit.samplers.options import SamplerOptions
from profkit.samplers.process_attachment import ProcessAttachment
from profkit.samplers.pyspy import PySpySampler
from profkit.samplers.pyspy_attachment import PySpyProgram

CATCHES_INT = f"SigCgt:\t{1 << (signal.SIGINT - 1):016x}\n"
SHELL, PYSPY = "/bin/dash", "/usr/bin/py-spy"


def program_of(options: SamplerOptions, folder: Path) -> PySpyProgram:
    return PySpyProgram(PySpySampler().plan(options, LiveStacks(1, 1)), folder / "rounds")


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
    (tmp_path / "log").touch()
    attempt = Attempt("py-spy", os.getpid(), ("py-spy",), tmp_path / "output", tmp_path / "log")
    attachment = ProcessAttachment(
        program_of(SamplerOptions(), tmp_path), process, None, attempt, 0, SYSTEM_CLOCK
    )
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
    attempt = Attempt("py-spy", 7, ("py-spy",), tmp_path / "output", tmp_path / "log")
    found = program_of(options, tmp_path).watchdog_options(attempt)
    assert [option.partition("=")[0] for option in found] == names
    assert found[0] == "--target=7"
