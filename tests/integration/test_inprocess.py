"""Programs that are sampled from inside, in the way that this Python has."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.ingest.read import read_runs
from profkit.store.spool import session_folders
from tests.integration.harness import FORKING, PROGRAMS, environment, listed, run_program
from tests.support.programs import FREE_THREADED
from tests.support.seccomp_filters import PTRACE, READ, launcher

INSIDE = str(PROGRAMS / "inside.py")
HAS_STATES = sys.version_info >= (3, 15)
IN_MAIN, IN_THREAD = ("interpreter", "interpreter") if HAS_STATES else ("timer", "thread")
GIL = int(HAS_STATES or not FREE_THREADED)
"""The figure of notes; what the subinterpreter reads does not depend on it."""
STRICT = ("-X", "dev", "-W", "error::RuntimeWarning", *FORKING)


def outcome(folder: Path, *arguments: object, said: str = "") -> dict[str, Any]:
    """Run a scene; it logs nothing, or one line which contains `said`."""
    done = run_program(folder, [*STRICT, INSIDE, *map(str, arguments)])
    assert (done.returncode, done.stderr.count("\n")) == (0, 1 if said else 0), done.stderr
    assert said in done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


LATE = "" if HAS_STATES else "the main thread has not started it"


@pytest.mark.full  # on a busy machine, rounds are late
@pytest.mark.alone
@pytest.mark.parametrize(("scene", "points", "reason"), [("shares", 10, ""), ("in_a_thread", 20, LATE)])
def test_shares_are_those_of_the_time(tmp_path: Path, scene: str, points: float, reason: str) -> None:
    found = outcome(tmp_path, scene, 4, said=reason)
    assert found["samples"] > 200
    assert 50 < found["achieved_hz"] < 110
    for name, share in found["true"].items():
        assert abs(found["seen"][name] - share) * 100 < points, found


@pytest.mark.parametrize(
    ("scene", "kind", "reason"), [("shares", IN_MAIN, ""), ("in_a_thread", IN_THREAD, LATE)]
)
def test_how_it_was_sampled_is_said(tmp_path: Path, scene: str, kind: str, reason: str) -> None:
    found = outcome(tmp_path, scene, 1, said=reason)
    assert found["samples"] > 0
    detail = f"timer: {reason}" if reason else ""
    note = {"code": "sampled-inside", "kind": kind, "gil": GIL, "detail": detail}
    # On a busy machine two rounds in a row may take long; then fewer are taken for a moment.
    assert [each for each in found["notes"] if each["code"] != "sampled-rarely"] == [note]
    (thread,) = found["threads"]
    assert thread == "MainThread" if scene == "shares" else thread.startswith("worker with a")


@pytest.mark.slow
def test_samples_are_at_their_times_in_the_program(tmp_path: Path) -> None:
    true = outcome(tmp_path, "relay", 2)
    (session,) = session_folders(tmp_path / ".profkit" / "spool")
    (run,) = read_runs(session).runs
    assert run.profile is not None
    starts: dict[str, list[float]] = {}
    for sample, start in zip(run.profile.samples, run.profile.starts, strict=True):
        name = run.profile.threads[sample.thread].name
        starts.setdefault(name, []).append(start * run.profile.period_ns / 1e9)
    for name in ("first", "second"):
        begin_s, end_s = true[name]
        assert begin_s - 0.5 < min(starts[name]) <= max(starts[name]) < end_s + 0.5, starts
    assert max(starts["first"]) < min(starts["second"]) + 0.5


@pytest.mark.slow
def test_no_child_is_lost(tmp_path: Path) -> None:
    found = outcome(tmp_path, "children", 60)
    assert found["failed"] == {}
    assert found["kinds"] == [IN_MAIN]
    assert found["samples"] > 10


@pytest.mark.slow
def test_a_program_that_forks_often_does_without_a_subinterpreter(tmp_path: Path) -> None:
    found = outcome(tmp_path, "forking", 60, said="the program forks often" if HAS_STATES else "")
    assert found["failed"] == {}
    assert found["kinds"] == list(dict.fromkeys([IN_MAIN, "timer"]))


def test_a_timeout_of_the_kernel_comes_in_time(tmp_path: Path) -> None:
    found = outcome(tmp_path, "receiving", 0, said="" if HAS_STATES else "the timeout of a socket")
    assert found["kinds"] == list(dict.fromkeys([IN_MAIN, IN_THREAD]))


@pytest.mark.slow
def test_later_segments_are_sampled_in_the_same_way(tmp_path: Path) -> None:
    found = outcome(tmp_path, "rotated", 4)
    assert found["kinds"] == [IN_MAIN]
    assert 0 < found["gap_s"] < 1
    assert found["samples"] > 200


@pytest.mark.slow
def test_time_limits_that_are_over_during_a_fork_are_raised(tmp_path: Path) -> None:
    """CPython loses some: with profkit, about as many as without it."""
    sampled, alone = (outcome(tmp_path, scene, 30) for scene in ("limited", "limited_alone"))
    for found in (sampled, alone):
        assert found["crashed"] == 0
        assert found["raised"] + found["lost"] == 30
    # Four standard errors of the difference of two such counts.
    assert sampled["raised"] > alone["raised"] - 13


@pytest.mark.sampler
def test_a_fork_and_a_tick_do_not_wait_for_each_other(tmp_path: Path) -> None:
    """`auto` imports this sampler late, when the session's own hooks of forks exist."""
    prefix = launcher(PTRACE, READ, action="KILL")
    done = run_program(tmp_path, [str(PROGRAMS / "forking_in_a_tick.py")], launcher=prefix, code=0)
    assert json.loads(done.stdout) == {"status": 0, "sampler": "inprocess"}


@pytest.mark.full
def test_no_child_of_a_thousand_is_lost(tmp_path: Path) -> None:
    assert outcome(tmp_path, "children", 1000)["failed"] == {}


def test_exec_keeps_the_samples_and_the_next_program_runs_on(tmp_path: Path) -> None:
    assert outcome(tmp_path, "replaced", 0) == {"replaced": True}
    (run,) = listed(tmp_path)
    assert run["samples"] > 5


@pytest.mark.full  # it depends on how busy the machine is
def test_a_killed_program_loses_less_than_a_second(tmp_path: Path) -> None:
    command = [sys.executable, INSIDE, "killed", "0"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        SYSTEM_CLOCK.sleep(2.5)
        process.send_signal(signal.SIGKILL)
    (run,) = listed(tmp_path)
    assert run["samples"] > 100
    assert run["state"] == "ENDED_EARLY"
    assert any(note["code"] == "process-ended" for note in run["notes"])
