"""`profkit attach`: processes that run already."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.harness import await_samplers_end, environment

pytestmark = pytest.mark.sampler

PROGRAM = """
import os, sys, time
def burn(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        sum(number * number for number in range(500))
print("ready", flush=True)
burn(float(sys.argv[1]))
print("done", flush=True)
"""


def profkit(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "profkit", *arguments],
        cwd=folder, env=environment(**variables), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def runs_of(folder: Path) -> list[dict[str, object]]:
    listed = profkit(folder, "list", "--json")
    found: list[dict[str, object]] = json.loads(listed.stdout)["runs"]
    return found


def start(folder: Path, seconds: float) -> subprocess.Popen[str]:
    (folder / "burning.py").write_text(PROGRAM)
    program = subprocess.Popen(
        [sys.executable, "burning.py", str(seconds)],
        cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert program.stdout is not None
    assert program.stdout.readline() == "ready\n"
    return program


def attached_for_a_second(folder: Path, program: subprocess.Popen[str]) -> subprocess.Popen[str]:
    command = subprocess.Popen(
        [sys.executable, "-m", "profkit", "attach", str(program.pid), "-q"],
        cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert command.stderr is not None
    assert "press Ctrl-C to stop" in command.stderr.readline()
    time.sleep(1)
    return command


@pytest.fixture
def program(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with start(tmp_path, 60) as started:
        yield started
        started.kill()


def test_a_running_process_for_a_while(tmp_path: Path, program: subprocess.Popen[str]) -> None:
    done = profkit(tmp_path, "attach", str(program.pid), "-d", "1.5")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "for 1.5 s; Ctrl-C stops it earlier" in done.stderr.splitlines()[0]
    assert "burn" in "\n".join(done.stderr.splitlines()[:6])
    assert "program  burning.py" in done.stderr
    assert program.poll() is None
    await_samplers_end(tmp_path)
    (kept,) = runs_of(tmp_path)
    assert (kept["label"], kept["calls"], kept["state"]) == ("burning.py", 1, "SUCCESS")


def test_the_end_of_the_process_ends_the_recording(tmp_path: Path) -> None:
    with start(tmp_path, 6) as program:
        done = profkit(tmp_path, "attach", str(program.pid), "-o", "out.json", "--label", "mine")
        assert program.stdout is not None
        assert program.stdout.read() == "done\n"
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["run"]["label"] == "mine"
    assert report["run"]["samples"] > 20


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.full)])
def test_signals_end_the_recording_and_keep_it(
    tmp_path: Path, program: subprocess.Popen[str], number: signal.Signals
) -> None:
    command = attached_for_a_second(tmp_path, program)
    command.send_signal(number)
    _, errors = command.communicate(timeout=60)
    assert (command.returncode, errors) == (0 if number == signal.SIGINT else -number, "")
    (kept,) = runs_of(tmp_path)
    assert kept["state"] == "SUCCESS"
    assert int(str(kept["samples"])) > 10


@pytest.mark.slow
def test_what_a_killed_command_had_recorded_is_recovered(
    tmp_path: Path, program: subprocess.Popen[str]
) -> None:
    command = attached_for_a_second(tmp_path, program)
    command.kill()
    command.communicate(timeout=60)
    assert runs_of(tmp_path)[0]["state"] == "RUNNING"
    program.kill()
    program.wait()
    await_samplers_end(tmp_path)
    (kept,) = runs_of(tmp_path)
    assert kept["label"] == "burning.py"
    assert int(str(kept["samples"])) > 10


@pytest.mark.full
def test_children_are_sampled_on_request(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(
        "import subprocess, sys\nprint('ready', flush=True)\n"
        "subprocess.run([sys.executable, 'burning.py', '60'], stdout=subprocess.DEVNULL)\n"
    )
    (tmp_path / "burning.py").write_text(PROGRAM)
    parent = subprocess.Popen(
        [sys.executable, "parent.py"], cwd=tmp_path, env=environment(),
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        time.sleep(1)
        done = profkit(tmp_path, "attach", str(parent.pid), "-d", "1.5", "--subprocesses")
        assert done.returncode == 0, done.stderr
        assert "burn" in done.stderr
    finally:
        os.killpg(parent.pid, signal.SIGKILL)
        parent.communicate()


def test_processes_that_cannot_be_sampled(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        done = profkit(tmp_path, "attach", str(other.pid))
        assert done.returncode == 2
        assert done.stderr == (
            f"profkit: error: process {other.pid} (sleep) runs no Python; give the pid of a Python process\n"
        )
        other.kill()
    done = profkit(tmp_path, "attach", str(2**22 - 1))
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no process" in done.stderr
    assert not (tmp_path / ".profkit" / "spool").exists() or not runs_of(tmp_path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--sampler", "inprocess"], "cannot sample another process"),
        (["-d", "0"], "-d"),
        (["-o", "missing/x.html"], "there is no folder"),
        (["--rate", "-3"], "rate"),
    ],
)
def test_invalid_options(
    tmp_path: Path, program: subprocess.Popen[str], options: list[str], said: str
) -> None:
    done = profkit(tmp_path, "attach", str(program.pid), *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list((tmp_path / ".profkit" / "spool").glob("2*"))


def test_a_denied_attach_leaves_nothing(program: subprocess.Popen[str]) -> None:
    nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
    with tempfile.TemporaryDirectory() as folder:  # not below pytest's, which are this user's alone
        place = Path(folder)
        place.chmod(0o777)
        done = subprocess.run(
            ["setpriv", *nobody, sys.executable, "-m", "profkit", "attach", str(program.pid)],
            cwd=place, env=environment(HOME=folder), capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 3, done.stderr
        assert "may not read process" in done.stderr
        assert not list((place / ".profkit" / "spool").glob("2*"))


@pytest.mark.full
def test_a_recording_of_several_segments(tmp_path: Path) -> None:
    with start(tmp_path, 90) as program:
        done = profkit(tmp_path, "attach", str(program.pid), "-d", "63", "-o", "out.json")
        program.kill()
    assert done.returncode == 0, done.stderr
    info = json.loads((tmp_path / "out.json").read_text())["run"]
    assert info["samples"] > 60 * 20
    assert 60 < info["session"]["recorded_s"] < 66
