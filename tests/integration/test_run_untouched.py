"""Programs under `profkit run` print the same and end the same as without it; their tracebacks, too."""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.integration.harness import FORKING, PROGRAMS, await_samplers_end, environment, run_program
from tests.integration.test_untouched import MARKS, SCENARIOS, TORCH

pytestmark = pytest.mark.sampler

QUICK = ("unhandled", "interrupt")
SLOW = ("forks", "exec_python")
"""The other scenarios are part of the full tests only."""
OPTIONS = {"c_waits": ["--nonblocking"]}
CASES = [
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


def told(done: CompletedProcess[str]) -> str:
    output, errors = THREADS.sub("", done.stdout), MARKS.sub("", done.stderr)
    return f"{output}--- stderr\n{errors}--- exit code {done.returncode}"


@pytest.mark.parametrize(("program", "scenario"), CASES)
def test_same_output_and_exit_code(tmp_path: Path, program: str, scenario: str) -> None:
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
    assert told(run.result()) == told(alone.result())
    await_samplers_end(profiled)
