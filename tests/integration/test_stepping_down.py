"""What is recorded where the system denies samplers what they need: calls and wall times in every case."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.integration.harness import (
    PREFERS_READER,
    PROGRAMS,
    await_samplers_end,
    profkit,
    run_program,
)
from tests.integration.test_denied_attach import BY_NOBODY, NO_PTRACE
from tests.support.programs import FREE_THREADED
from tests.support.seccomp_filters import PTRACE, READ, launcher

PYSPY, UNSTOPPED, READER, INSIDE = "pyspy", "pyspy with blocking=False", "cpython", "inprocess"
Ways = tuple[str, ...]


def ways(*, before: Ways, since: Ways, since_t: Ways = (READER,)) -> Ways:
    """The ways to sample that are tried, by version: before 3.15, since then, and since then without GIL.

    py-spy reads no free-threaded Python, and that of 3.14 begins with what needs no permission.
    """
    if not PREFERS_READER:
        return (INSIDE,) if FREE_THREADED else before
    return since_t if FREE_THREADED else since


FIRST = ways(before=(PYSPY,), since=(READER,))
WITHOUT_PTRACE = ways(before=(PYSPY, UNSTOPPED), since=(READER,))
WITHOUT_READ = ways(before=(PYSPY,), since=(READER, PYSPY), since_t=(READER, INSIDE))
BY_MEM_FILE = ways(before=(PYSPY, UNSTOPPED), since=(READER, UNSTOPPED), since_t=(READER, INSIDE))
LAST = ways(before=(PYSPY, INSIDE), since=(READER, INSIDE), since_t=(READER, INSIDE))
CALLS = 3
REFUSED = (
    "Failed to find the PyRuntime section"  # python/cpython#149619: 3.14.4 has it, 3.14.10 does not
    if (3, 14) <= sys.version_info < (3, 14, 10)
    else "seccomp filter refuses"
)
"""Why CPython's reader fails under a filter."""
READING_ALL = ("setpriv", "--inh-caps=+dac_override,+dac_read_search",
               "--ambient-caps=+dac_override,+dac_read_search")  # fmt: skip
"""Launches a program whose samplers may read root's Python although they have another effective user."""

pytestmark = pytest.mark.sampler


@dataclass(frozen=True)
class Case:
    """A way to be denied, and the ways to sample that are tried then."""

    tried: Ways
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
    "another user": Case(LAST, "os.setresuid", READING_ALL, "another user"),
    "more capable": Case(LAST, "capsh --decode=80000", scene="more capable"),
    "filter on ptrace": Case(WITHOUT_PTRACE, "seccomp", launcher(PTRACE)),
    "filter on reading": Case(WITHOUT_READ, "seccomp", launcher(READ)),
    "ENOSYS on reading": Case(FIRST, prefix=launcher(READ, action="ENOSYS")),
    "filter that kills readers": Case(LAST, "seccomp", launcher(READ, action="KILL")),
    "filter on both": Case(BY_MEM_FILE, "seccomp", launcher(PTRACE, READ)),
    "filter on both, nobody": Case(BY_MEM_FILE, "seccomp", (*launcher(PTRACE, READ), *BY_NOBODY)),
    "filter that kills": Case(LAST, "seccomp", launcher(PTRACE, READ, action="KILL")),
    "filter that kills, nobody": Case(LAST, "seccomp", (*launcher(PTRACE, READ, action="KILL"), *BY_NOBODY)),
    "ENOSYS on ptrace": Case(WITHOUT_PTRACE, "seccomp", launcher(PTRACE, action="ENOSYS")),
    "traced": Case(WITHOUT_PTRACE, "is tracing it", scene="traced"),
}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user may enter, unlike pytest's."""
    made = Path(tempfile.mkdtemp(prefix="profkit-test-"))
    made.chmod(0o777)
    yield made
    shutil.rmtree(made)


def outcome(folder: Path, case: Case) -> dict[str, Any]:
    arguments = [str(PROGRAMS / "denied.py"), case.options, case.scene]
    done = run_program(folder, arguments, launcher=case.prefix)
    assert (done.returncode, done.stderr) == (0, "")
    await_samplers_end(folder)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", CASES)
@pytest.mark.slow
def test_the_best_way_that_is_left_is_taken(name: str, folder: Path) -> None:
    case = CASES[name]
    found = outcome(folder, case)
    taken = case.tried[-1]
    # On a busy machine the way that stops the program is not tried.
    is_busy = any("the machine was busy" in note for run in found["runs"].values() for note in run["notes"])
    most = len(case.tried) - 1
    expected = {most, most - (PYSPY in case.tried)} if is_busy else {most}
    for run in found["runs"].values():
        assert run["calls"] == CALLS
        assert run["wall_s"] >= 0.1 * CALLS
        assert run["error"] is None
        steps = [note for note in run["notes"] if case.cause in note and "sampled instead of" in note]
        assert len(steps) in expected, run["notes"]
        assert run["samples"] > 0
        assert run["sampler"] == taken.split()[0]
        assert taken == PYSPY or not run["blocking"]
    # Nothing but the calls: a sampler takes at least as long to start as one of them.
    assert sum(run["wall_s"] for run in found["runs"].values()) < 1.25 * found["spun_s"]
    inside = [line for line in found["said"] if line.startswith("a subinterpreter cannot sample")]
    assert len(inside) == (PREFERS_READER and taken == INSIDE and case.cause == "seccomp"), found["said"]
    assert len(found["said"]) - len(inside) in expected, found["said"]
    assert all(case.cause in line for line in found["said"])


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        # On a busy machine, it would not stop the program, and read the memory's file.
        pytest.param({"sampler": PYSPY, "blocking": True}, "seccomp filter refuses", marks=pytest.mark.gil),
        pytest.param({"sampler": READER}, REFUSED, marks=pytest.mark.reader),
    ],
)
def test_a_chosen_sampler_is_not_replaced_and_calls_are_kept(
    options: dict[str, object], refused: str, folder: Path
) -> None:
    found = outcome(folder, Case((), prefix=launcher(PTRACE, READ), options=json.dumps(options)))
    for run in found["runs"].values():
        assert (run["calls"], run["samples"], run["sampler"]) == (CALLS, 0, "none")
        assert refused in run["error"]
    (line,) = found["said"]
    assert refused in line


@pytest.mark.outside
def test_the_report_says_how_it_was_sampled_and_why(folder: Path) -> None:
    outcome(folder, CASES["filter that kills"])
    shown = profkit(folder, "report", "function", COLUMNS="200")
    assert "inprocess sampled instead of" in shown.stdout
    assert "seccomp" in shown.stdout
    assert "from inside the process, by a signal handler" in shown.stdout


@pytest.mark.slow
def test_without_any_sampler_the_report_says_why(folder: Path) -> None:
    options = json.dumps({"subprocesses": True})  # not supported from inside
    outcome(folder, replace(CASES["filter that kills"], options=options))
    shown = profkit(folder, "report", "function", COLUMNS="200")
    assert "none: calls and wall times only" in shown.stdout
    assert "seccomp" in shown.stdout
    assert "There are no samples: the notes above say why" in shown.stdout


@pytest.mark.slow
def test_calls_alone_on_request(folder: Path) -> None:
    found = outcome(folder, Case((), options='{"sampler": "none"}'))
    assert found["said"] == []
    assert all(run["calls"] == CALLS and run["notes"] == [] for run in found["runs"].values())
    shown = run_program(folder, ["-m", "profkit", "report", "block"])
    assert "the option sampler='none' takes none" in " ".join(shown.stdout.split())


PROGRAM = """
import json, sys
from profkit import profile
from profkit.process.prctl import is_self_dumpable, set_dumpable

assert set_dumpable(dumpable=False)
function = profile(**json.loads(sys.argv[1]))(is_self_dumpable)
during = function()
print(json.dumps([function.last_run.info.plan.sampler, during, is_self_dumpable()]))
"""
DENIED = launcher(PTRACE, READ, action="KILL")


@pytest.mark.parametrize(
    ("prefix", "options", "sampler", "during"),
    [
        pytest.param(NO_PTRACE, {}, None, True, marks=[pytest.mark.sampler, pytest.mark.outside]),
        pytest.param(DENIED, {}, "inprocess", False, marks=pytest.mark.sampler),
        (NO_PTRACE, {"sampler": "inprocess"}, "inprocess", False),
        pytest.param(DENIED, {"subprocesses": True}, "none", False, marks=pytest.mark.sampler),
    ],
    ids=["outside", "stepped down", "inside", "no samples"],
)
def test_while_it_is_sampled(
    tmp_path: Path, prefix: tuple[str, ...], options: dict[str, object], sampler: str | None, during: bool
) -> None:
    arguments = json.dumps({"allow_dumpable": True, **options})
    done = run_program(tmp_path, ["-c", PROGRAM, arguments], launcher=prefix, code=0)
    taken, was_dumpable, after = json.loads(done.stdout)
    assert sampler in (None, taken)
    assert (was_dumpable, after) == (during, False)
