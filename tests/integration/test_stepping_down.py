"""What is recorded where the system denies samplers what they need: calls and wall times in every case."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.integration.harness import PROGRAMS, await_samplers_end, environment, run_program
from tests.integration.test_denied_attach import BY_NOBODY, NO_PTRACE
from tests.support.seccomp_filters import PTRACE, READ, launcher

HAS_STATES = sys.version_info >= (3, 15)
FIRST = ("cpython",) if HAS_STATES else ("pyspy",)
WITHOUT_PTRACE = ("cpython",) if HAS_STATES else ("pyspy", "pyspy with blocking=False")
BY_MEM_FILE = ("cpython", "pyspy") if HAS_STATES else ("pyspy",)
LAST = (*FIRST, "inprocess")
CALLS = 3

pytestmark = pytest.mark.sampler


@dataclass(frozen=True)
class Case:
    """A way to be denied, and the ways to sample that are tried then."""

    tried: tuple[str, ...]
    cause: str = ""
    prefix: tuple[str, ...] = ()
    scene: str = "plain"
    options: str = '{"rate": 100}'
    """A busy machine would be sampled less often."""


CASES = {
    "nothing": Case(FIRST),
    "no capabilities": Case(FIRST, prefix=NO_PTRACE),
    "not dumpable": Case(LAST, "pass allow_dumpable=True", NO_PTRACE, "not dumpable"),
    "made dumpable": Case(FIRST, "", NO_PTRACE, "not dumpable", '{"allow_dumpable": true, "rate": 100}'),
    "filter on ptrace": Case(WITHOUT_PTRACE, "seccomp", launcher(PTRACE)),
    "filter on reading": Case(BY_MEM_FILE, "seccomp", launcher(READ)),
    "filter on both": Case(LAST, "seccomp", launcher(PTRACE, READ, action="KILL")),
    "filter on both, another user": Case(
        LAST, "seccomp", (*launcher(PTRACE, READ, action="KILL"), *BY_NOBODY)
    ),
    "not implemented": Case(WITHOUT_PTRACE, "seccomp", launcher(PTRACE, action="ENOSYS")),
    "traced": Case(WITHOUT_PTRACE, "is tracing it", scene="traced"),
}


def outcome(folder: Path, case: Case) -> dict[str, Any]:
    folder.chmod(0o777)
    arguments = [str(PROGRAMS / "denied.py"), case.options, case.scene]
    done = run_program(folder, arguments, launcher=case.prefix)
    assert (done.returncode, done.stderr) == (0, "")
    await_samplers_end(folder)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", CASES)
@pytest.mark.gil
def test_the_best_way_that_is_left_is_taken(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    found = outcome(tmp_path, case)
    for run in found["runs"].values():
        assert run["calls"] == CALLS
        assert 0.1 * CALLS <= run["wall_s"] < 0.2 * CALLS
        assert run["error"] is None
        steps = [note for note in run["notes"] if case.cause and case.cause in note]
        assert len(steps) == len(case.tried) - 1, run["notes"]
        assert (run["samples"] > 0) is (case.tried[-1] != "none")
        assert run["sampler"] == case.tried[-1].split()[0]
    assert len(found["said"]) == len(case.tried) - 1, found["said"]
    assert all(case.cause in line for line in found["said"])


def test_a_process_is_made_dumpable_only_while_it_is_sampled(tmp_path: Path) -> None:
    assert outcome(tmp_path, CASES["made dumpable"])["dumpable"] == [True, False]


@pytest.mark.parametrize("sampler", ["pyspy", pytest.param("cpython", marks=pytest.mark.reader)])
@pytest.mark.gil
def test_a_chosen_sampler_is_not_replaced_and_calls_are_kept(sampler: str, tmp_path: Path) -> None:
    found = outcome(
        tmp_path, Case((), prefix=launcher(PTRACE, READ), options=json.dumps({"sampler": sampler}))
    )
    for run in found["runs"].values():
        assert (run["calls"], run["samples"], run["sampler"]) == (CALLS, 0, "none")
        assert "seccomp filter refuses" in run["error"]
    (line,) = found["said"]
    assert "seccomp" in line


@pytest.mark.outside
def test_the_report_says_how_it_was_sampled_and_why(tmp_path: Path) -> None:
    outcome(tmp_path, CASES["filter on both"])
    shown = run_program(tmp_path, ["-m", "profkit", "report", "function"], environ=environment(COLUMNS="200"))
    assert shown.returncode == 0, shown.stderr
    assert "inprocess sampled instead of" in shown.stdout
    assert "seccomp" in shown.stdout
    assert "from inside the process, by a signal handler" in shown.stdout


def test_without_any_sampler_the_report_says_why(tmp_path: Path) -> None:
    options = json.dumps({"subprocesses": True})  # not supported from inside
    outcome(tmp_path, replace(CASES["filter on both"], options=options))
    shown = run_program(tmp_path, ["-m", "profkit", "report", "function"], environ=environment(COLUMNS="200"))
    assert shown.returncode == 0, shown.stderr
    assert "none: calls and wall times only" in shown.stdout
    assert "seccomp" in shown.stdout
    assert "There are no samples: the notes above say why" in shown.stdout


def test_calls_alone_on_request(tmp_path: Path) -> None:
    found = outcome(tmp_path, Case((), options='{"sampler": "none"}'))
    assert found["said"] == []
    assert all(run["calls"] == CALLS and run["notes"] == [] for run in found["runs"].values())
    shown = run_program(tmp_path, ["-m", "profkit", "report", "block"])
    assert "the option sampler='none' takes none" in " ".join(shown.stdout.split())
