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

from tests.integration.harness import await_samplers_end, environment, listed, profkit
from tests.integration.outside import await_rounds_of
from tests.integration.programs.spinning import sampler_of
from tests.integration.targets import running_target

pytestmark = pytest.mark.sampler

PROGRAM = """
import os
def burn():
    while not os.path.exists("end"):
        sum(number * number for number in range(50_000))
print("ready", flush=True)
burn()
print("done", flush=True)
"""


def attached(folder: Path, program: subprocess.Popen[str], *options: str) -> subprocess.Popen[str]:
    """`profkit attach` when it has sampled for a while."""
    command = subprocess.Popen(
        [sys.executable, "-m", "profkit", "attach", str(program.pid), *options],
        cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert command.stderr is not None
    assert "press Ctrl-C to stop" in command.stderr.readline()
    await_rounds_of(sampler_of(program.pid, folder))
    return command


@pytest.fixture
def program(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that works until there is a file `end`."""
    with running_target(PROGRAM, tmp_path / "burning.py") as started:
        yield started


def test_a_running_process_for_a_while(tmp_path: Path, program: subprocess.Popen[str]) -> None:
    done = profkit(tmp_path, "attach", str(program.pid), "-d", "1.5")
    assert done.stdout == ""
    assert "for 1.5 s; Ctrl-C stops it earlier" in done.stderr.splitlines()[0]
    assert "burn" in "\n".join(done.stderr.splitlines()[:6])
    assert "program  burning.py" in done.stderr
    assert program.poll() is None
    await_samplers_end(tmp_path)
    (kept,) = listed(tmp_path)
    assert (kept["label"], kept["calls"], kept["state"]) == ("burning.py", 1, "SUCCESS")


def test_the_end_of_the_process_ends_the_recording(tmp_path: Path, program: subprocess.Popen[str]) -> None:
    command = attached(tmp_path, program, "-o", "out.json", "--label", "mine")
    (tmp_path / "end").touch()
    assert program.communicate()[0] == "done\n"
    assert command.wait(60) == 0
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["run"]["label"] == "mine"
    assert report["run"]["samples"] > 20


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.full)])
def test_signals_end_the_recording_and_keep_it(
    tmp_path: Path, program: subprocess.Popen[str], number: signal.Signals
) -> None:
    command = attached(tmp_path, program, "-q")
    command.send_signal(number)
    _, errors = command.communicate(timeout=60)
    assert (command.returncode, errors) == (0 if number == signal.SIGINT else -number, "")
    (kept,) = listed(tmp_path)
    assert kept["state"] == "SUCCESS"
    assert kept["samples"] > 10


@pytest.mark.slow
def test_what_a_killed_command_had_recorded_is_recovered(
    tmp_path: Path, program: subprocess.Popen[str]
) -> None:
    command = attached(tmp_path, program, "-q")
    command.kill()
    command.communicate(timeout=60)
    assert listed(tmp_path)[0]["state"] == "RUNNING"
    program.kill()
    program.wait()
    await_samplers_end(tmp_path)
    (kept,) = listed(tmp_path)
    assert kept["label"] == "burning.py"
    assert kept["samples"] > 10


@pytest.mark.full
def test_children_are_sampled_on_request(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(
        "import subprocess, sys\nprint('ready', flush=True)\n"
        "subprocess.run([sys.executable, 'burning.py'], stdout=subprocess.DEVNULL)\n"
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
        assert "burn" in done.stderr
    finally:
        os.killpg(parent.pid, signal.SIGKILL)
        parent.communicate()


def test_processes_that_cannot_be_sampled(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        done = profkit(tmp_path, "attach", str(other.pid), code=2)
        assert done.stderr == (
            f"profkit: error: process {other.pid} (sleep) runs no Python; give the pid of a Python process\n"
        )
        other.kill()
    done = profkit(tmp_path, "attach", str(2**22 - 1), code=2)
    assert done.stdout == ""
    assert "there is no process" in done.stderr
    assert not (tmp_path / ".profkit" / "spool").exists() or not listed(tmp_path)


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
    done = profkit(tmp_path, "attach", str(program.pid), *options, code=2)
    assert done.stdout == ""
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
def test_a_recording_of_several_segments(tmp_path: Path, program: subprocess.Popen[str]) -> None:
    profkit(tmp_path, "attach", str(program.pid), "-d", "63", "-o", "out.json")
    info = json.loads((tmp_path / "out.json").read_text())["run"]
    assert info["samples"] > 60 * 20
    assert 60 < info["session"]["recorded_s"] < 66
