"""The program untouched: profiled, it prints the same, ends the same, and sees the same around it."""

from __future__ import annotations

import json
import re
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from profkit.store.spool import read_session, session_folders
from tests.integration.harness import FORKING, PROGRAMS, await_samplers_end, environment, run_program

pytestmark = pytest.mark.sampler

SCENARIOS = {
    "callables.py": ["functions", "async", "methods", "again"],
    "children.py": ["wait", "waitpid", "forks", "popen", "fork_in_a_region"],
    "endings.py": [
        "falls_off", "os_exit", "sys_exit_number", "sys_exit_text", "sys_exit_from_a_generator",
        "exec_program", "exec_python", "unhandled", "unhandled_async", "unhandled_in_a_thread",
        "unhandled_hook", "interrupt", "interrupt_twice", "terminate", "abort", "daemons",
        "threads_outlive_main", "exit_handlers", "finalizers", "stdout_is_gone",
    ],
    "signals.py": [
        "sigchld", "rotation", "sigalrm", "sigwait", "wakeup", "handlers", "sigint_handler", "waits",
        "c_waits",
    ],
    "callers.py": [
        "at_import", "in_finalizers", "in_handlers", "traced", "recursion_limit", "cancelled",
        "responsive", "context_variables",
    ],
    "workers.py": [
        "fork_pool", "spawn_pool", "forkserver_pool", "executor", "exit_codes", "shared_state", "loader",
    ],
}  # fmt: skip
TORCH = ("loader",)
CASES = [
    pytest.param(program, scenario, marks=[pytest.mark.torch] if scenario in TORCH else [], id=scenario)
    for program, scenarios in SCENARIOS.items()
    for scenario in scenarios
]
OWN_FRAME = re.compile(r'^ +File ".*/profkit/(session|calls|torch_tracing).*\n(^    .*\n)*', re.MULTILINE)
MARKS = re.compile(r"^ +[~^]+\n", re.MULTILINE)
"""Marks below the lines of tracebacks; Python leaves them out if it is interrupted while it prints one."""


def run(folder: Path, program: str, argument: str, disabled: str) -> CompletedProcess[str]:
    folder.mkdir()
    argv = [*FORKING, str(PROGRAMS / program), argument]
    return run_program(folder, argv, environ=environment(PROFKIT_DISABLE=disabled))


def told(done: CompletedProcess[str]) -> str:
    """All that a program left to be seen, without the frames of profkit's wrappers."""
    errors = MARKS.sub("", OWN_FRAME.sub("", done.stderr))
    return f"{done.stdout}--- stderr\n{errors}--- exit code {done.returncode}"


@pytest.mark.parametrize(("program", "scenario"), CASES)
@pytest.mark.gil
def test_same_output_and_exit_code(tmp_path: Path, program: str, scenario: str) -> None:
    with ThreadPoolExecutor(2) as both:
        profiled = both.submit(run, tmp_path / "profiled", program, scenario, "0")
        bare = both.submit(run, tmp_path / "bare", program, scenario, "1")
    assert told(profiled.result()) == told(bare.result())
    await_samplers_end(tmp_path)
    sessions = session_folders(tmp_path / "profiled" / ".profkit" / "spool")
    assert sessions
    if program == "workers.py":  # workers that call what is decorated have sessions of their own
        assert (len(sessions) > 1) is (scenario != "shared_state")
    assert any(
        segment.running_ns for folder in sessions for segment in read_session(folder).manifest.segments
    )


@pytest.mark.parametrize(
    "kind",
    [
        "KeyboardInterrupt",
        *(pytest.param(kind, marks=pytest.mark.full) for kind in ("TimeoutError", "Asked")),
    ],
)
@pytest.mark.slow
def test_a_signal_handler_raises_at_any_moment(tmp_path: Path, kind: str) -> None:
    done = run(tmp_path / "profiled", "interrupts.py", kind, "0")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # Python's own library takes an OSError for an answer here and there (os.path.exists does).
    swallowed = [problem for problem in found["problems"] if "nothing was raised" in problem]
    assert len(swallowed) <= (3 if kind == "TimeoutError" else 0), "\n".join(found["problems"])
    assert len(found["problems"]) == len(swallowed), "\n".join(found["problems"])
    assert found["samples at last"] > 0


@pytest.mark.slow
def test_a_signal_handler_raises_in_each_call_of_a_start_and_a_stop(tmp_path: Path) -> None:
    done = run(tmp_path / "profiled", "interrupted_calls.py", "1", "0")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["problems"], found["said"]) == ([], [])
    assert found["calls"] > 40


INTERRUPTED = """
import asyncio, os, signal, sys
from profkit import profile

@profile()
async def work():
    while True:
        await asyncio.sleep(0.001)

async def main():
    asyncio.get_running_loop().call_later(float(sys.argv[1]), os.kill, os.getpid(), signal.SIGINT)
    await work()

asyncio.run(main())
"""


@pytest.mark.parametrize("after_s", [0.002, 0.006, 0.012, 0.02, 0.04, 0.08])
def test_an_interrupted_event_loop_dies_of_the_interrupt(tmp_path: Path, after_s: float) -> None:
    """While a sampler starts in a thread, which may go on when the main thread has ended."""
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        done = run_program(folder, ["-c", INTERRUPTED, str(after_s)])
        assert done.returncode == -signal.SIGINT, done.stderr
    await_samplers_end(tmp_path)


QUICK = ("unhandled", "interrupt")
SLOW = ("forks", "exec_python")
"""The other scenarios are part of the full tests only."""
OPTIONS = {"c_waits": ["--nonblocking"]}
WHOLE_CASES = [
    pytest.param(
        program, scenario, id=scenario,
        marks=[
            *([] if scenario in QUICK else [pytest.mark.slow if scenario in SLOW else pytest.mark.full]),
            *([pytest.mark.torch] if scenario in TORCH else []),
        ],
    )
    for program, scenarios in SCENARIOS.items()
    for scenario in scenarios
]  # fmt: skip


# A hook that the program registers runs before profkit's, which ends profkit's thread for the fork.
THREADS = re.compile(r"^threads at each fork: .*\n", re.MULTILINE)


def told_of_whole(done: CompletedProcess[str]) -> str:
    output, errors = THREADS.sub("", done.stdout), MARKS.sub("", done.stderr)
    return f"{output}--- stderr\n{errors}--- exit code {done.returncode}"


@pytest.mark.parametrize(("program", "scenario"), WHOLE_CASES)
def test_a_whole_program_is_untouched(tmp_path: Path, program: str, scenario: str) -> None:
    plain, profiled = tmp_path / "plain", tmp_path / "profiled"
    plain.mkdir()
    profiled.mkdir()
    # The regions in these programs are disabled: only the program as a whole is profiled.
    environ = environment(PROFKIT_DISABLE="1")
    command = [*FORKING, str(PROGRAMS / program), scenario]
    launcher = ["-m", "profkit", "run", *OPTIONS.get(scenario, ()), "-q", "--", sys.executable]
    with ThreadPoolExecutor() as both:
        alone = both.submit(run_program, plain, command, environ=environ)
        run = both.submit(run_program, profiled, [*launcher, *command], environ=environ)
    assert told_of_whole(run.result()) == told_of_whole(alone.result())
    await_samplers_end(profiled)
