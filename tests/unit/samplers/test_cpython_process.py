"""Process of the `cpython` sampler: its command line, and failures explained from its log."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import AttachDenied, SamplerFailed
from profkit.model.session import SamplerPlan, SessionState
from profkit.process.detached import watch
from profkit.samplers import cpython_process, helper
from profkit.samplers.cpython_process import CPythonProcess
from profkit.samplers.helper.program import PREFIX
from profkit.samplers.process_attachment import SAMPLING, START, STOP

PLAN = replace(SamplerPlan.unknown("cpython", scope="call", rate_hz=1000.0), max_duration_s=600.0)
OUTPUT = Path("/spool/session/segment-000.stacks")


def words(plan: SamplerPlan) -> tuple[str, ...]:
    return cpython_process.command("/usr/bin/python3", 4711, plan, OUTPUT)


def test_the_command_line() -> None:
    assert words(PLAN) == (
        *("/usr/bin/python3", "-I", "-S", f"{helper.__path__[0]}/__main__.py"),
        *(
            "--pid=4711",
            "--rate=1000",
            "--duration=605",
            "--only=all",
            "--retries=10",
            "--children=no",
            "--tasks=no",
        ),
        str(OUTPUT),
    )


def test_the_command_line_of_other_plans() -> None:
    assert "--only=cpu" in words(replace(PLAN, idle=False))
    assert "--only=gil" in words(replace(PLAN, idle=False, gil=True))
    assert "--tasks=yes" in words(replace(PLAN, async_stacks=True))
    assert "--children=yes" in words(replace(PLAN, subprocesses=True))
    assert "--rate=0.333333" in words(replace(PLAN, rate_hz=1 / 3))
    assert "--duration=6" in words(replace(PLAN, max_duration_s=0.01))


def attempt(folder: Path, text: str, pid: int = 4711) -> CPythonProcess:
    """One that left this log."""
    (folder / "segment-000.log").write_text("")
    made = CPythonProcess("python", pid, PLAN, folder, 0, SYSTEM_CLOCK)
    made.log.write_text(text)
    return made


def test_a_denied_read_is_denied_at_any_time(tmp_path: Path) -> None:
    for text in (f"{PREFIX}denied: Operation not permitted\n", "profkit-watchdog: ended by signal 31\n"):
        for stage in (START, SAMPLING):
            error = attempt(tmp_path, text, os.getpid()).failure(stage)
            assert isinstance(error, AttachDenied)
            assert (error.sampler, error.pid) == ("cpython", os.getpid())


@pytest.mark.parametrize(
    ("text", "said", "passes"),
    [
        (f"{PREFIX}unexpected: AttributeError: threads\n",
         "reader of stacks did not answer as expected: AttributeError: threads; use sampler='pyspy'", False),
        (f"{PREFIX}unreadable: no stack could be read for 2 s\n",
         "process 4711 has ended, or its stacks cannot be read: no stack could be read for 2 s; make sure",
         True),
        (f"{PREFIX}unreadable: no stack could be read for 2 s: Too many stack frames\n",
         "cannot read stacks as deep as the program's: no stack could be read for 2 s: Too many", False),
        (f"{PREFIX}ended: \n", "process 4711 has ended, or its stacks cannot be read; make sure", True),
        (f"{PREFIX}not written: [Errno 28] No space left on device: 'x'\n", "the disk is full", False),
        (f"{PREFIX}not written: [Errno 30] Read-only\nprofkit-watchdog: ended with exit status 1\n",
         "Read-only (with exit status 1); see its log", True),
        ("profkit-watchdog: interrupted, because it was stopped by signal 19\n",
         "cpython was stopped by signal 19 (SIGSTOP)", False),
        ("Fatal Python error\n", "it ended without its output, after printing 'Fatal Python error'", True),
    ],
    ids=["unexpected", "unreadable", "deep", "ended", "full", "read-only", "stopped", "crashed"],
)  # fmt: skip
def test_failures(text: str, said: str, passes: bool, tmp_path: Path) -> None:
    for stage in (START, STOP):
        error = attempt(tmp_path, text).failure(stage)
        assert isinstance(error, SamplerFailed)
        assert said in str(error)
        assert error.passing is (passes and stage == START)


def test_the_output_shows_that_it_runs_and_that_it_is_whole(tmp_path: Path) -> None:
    process = watch(os.getpid())
    assert process is not None
    tried = attempt(tmp_path, "")
    tried.process = process
    states = [tried.poll()]
    for content in ("", "profkit-stacks 1 4711 1000000\n"):
        tried.output.write_text(content)
        states.append(tried.poll())
    assert states == [SessionState.PREPARING, SessionState.PREPARING, SessionState.RUNNING]
    process.close()


def test_a_whole_output_has_an_end(tmp_path: Path) -> None:
    tried = attempt(tmp_path, "")
    assert not tried.is_whole()
    begin = "profkit-stacks 1 7 1000000\n" + "r 0 0 1\n" * 1000
    for end, whole in (("", False), ('e "asked"\n', True), ('e "asked"', False), ('e "denied"\n', False)):
        tried.output.write_text(begin + end)
        assert tried.is_whole() is whole


def test_an_earlier_output_is_removed_before_a_start(tmp_path: Path) -> None:
    earlier = tmp_path / "segment-003.stacks"
    earlier.write_text("profkit-stacks 1 7 1000000\n")
    (tmp_path / "segment-003.log").write_text("of an earlier try\n")
    made = CPythonProcess("python", 4711, PLAN, tmp_path, 3, SYSTEM_CLOCK)
    assert not earlier.exists()
    assert made.output == earlier
    assert made.text() == ""
