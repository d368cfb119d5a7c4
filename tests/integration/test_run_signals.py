"""Signals to `profkit run` and its program, whoever sends them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.integration.harness import environment
from tests.support.waiting import until

pytestmark = pytest.mark.sampler

LISTENING = """
import os, signal, sys, time
ended = []
def report(number, frame):
    os.write(1, b"%d\\n" % number)
    if number == signal.SIGTERM:
        ended.append(number)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP, signal.SIGCONT):
    signal.signal(number, report)
{before}
os.write(1, b"ready\\n")
end = time.monotonic() + 120
while time.monotonic() < end and not ended:
    time.sleep(0.01)
time.sleep(0.3)  # for one that comes twice
"""
WAITING = "import os, time\n{before}\nos.write(1, b'ready\\n')\ntime.sleep(120)\n"


class Launched:
    """`profkit run`, and the program that it started."""

    def __init__(self, folder: Path, code: str, *, new_session: bool = True, before: str = "") -> None:
        (folder / "program.py").write_text(code.format(before=before))
        self.launcher = subprocess.Popen(
            [sys.executable, "-m", "profkit", "run", "-q", "program.py"],
            cwd=folder, env=environment(), start_new_session=new_session,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.line() == "ready"
        self.witness, self.program = psutil.Process(self.launcher.pid).children()

    def line(self) -> str:
        """The next line that the program writes."""
        assert self.launcher.stdout is not None
        return self.launcher.stdout.readline().rstrip("\n")

    def end(self) -> tuple[list[str], int]:
        """What else the program wrote, and the exit code."""
        output, errors = self.launcher.communicate(timeout=60)
        assert not errors
        return output.split(), self.launcher.returncode


def test_signals_reach_the_program_once(tmp_path: Path) -> None:
    launched = Launched(tmp_path, LISTENING)
    launched.launcher.send_signal(signal.SIGUSR1)  # to the launcher alone: it is passed on
    assert launched.line() == "10"
    launched.program.send_signal(signal.SIGINT)
    assert launched.line() == "2"
    launched.launcher.send_signal(signal.SIGTERM)
    assert launched.end() == (["15"], 0)


def test_signals_of_a_sender_in_the_same_group_reach_the_program(tmp_path: Path) -> None:
    """As of `kill $!` in a script, or `Popen.terminate`."""
    launched = Launched(tmp_path, LISTENING, new_session=False)
    for number in (signal.SIGUSR1, signal.SIGHUP):
        launched.launcher.send_signal(number)
        assert launched.line() == str(int(number))
    launched.launcher.terminate()
    assert launched.end() == (["15"], 0)


def test_signals_to_the_group_reach_the_program_once(tmp_path: Path) -> None:
    launched = Launched(tmp_path, LISTENING)
    for number in (signal.SIGINT, signal.SIGUSR1):
        os.killpg(launched.launcher.pid, number)
        assert launched.line() == str(int(number))
    os.killpg(launched.launcher.pid, signal.SIGTERM)
    assert launched.end() == (["15"], 0)
    assert not launched.program.is_running()


def test_signals_to_the_group_reach_a_program_that_has_left_it(tmp_path: Path) -> None:
    launched = Launched(tmp_path, LISTENING, before="os.setpgid(0, 0)")
    os.killpg(launched.launcher.pid, signal.SIGTERM)
    assert launched.end() == (["15"], 0)


@pytest.mark.parametrize("new_session", [True, False])
def test_a_program_without_handlers_ends_by_the_signal(tmp_path: Path, new_session: bool) -> None:
    launched = Launched(tmp_path, WAITING, new_session=new_session)
    launched.launcher.terminate()
    assert launched.end() == ([], -signal.SIGTERM)
    assert not launched.program.is_running()


def test_a_program_is_killed_with_its_launcher(tmp_path: Path) -> None:
    launched = Launched(tmp_path, WAITING, before="os.setpgid(0, 0)")
    launched.launcher.kill()
    assert launched.end() == ([], -signal.SIGKILL)
    launched.program.wait(20)
    launched.witness.wait(20)


def test_a_stopped_witness_holds_up_nothing(tmp_path: Path) -> None:
    launched = Launched(tmp_path, LISTENING)
    files = [os.readlink(file) for file in Path(f"/proc/{launched.witness.pid}/fd").iterdir()]
    assert len(files) == 2
    assert all(file.startswith("pipe:") for file in files)
    launched.witness.send_signal(signal.SIGSTOP)
    launched.launcher.terminate()
    assert launched.end() == (["15"], 0)
    launched.witness.wait(20)


def test_a_program_whose_witness_was_killed_is_stopped(tmp_path: Path) -> None:
    launched = Launched(tmp_path, LISTENING)
    launched.witness.kill()
    launched.launcher.terminate()
    assert launched.end() == (["15"], 0)


def test_stopping_and_continuing(tmp_path: Path) -> None:
    launched = Launched(tmp_path, LISTENING)
    launcher, program = launched.launcher, launched.program
    program.send_signal(signal.SIGSTOP)
    until(lambda: psutil.Process(launcher.pid).status() == psutil.STATUS_STOPPED)
    os.kill(launcher.pid, signal.SIGCONT)
    until(lambda: program.status() not in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP))
    program.send_signal(signal.SIGTERM)
    output, code = launched.end()
    # Python runs the handlers of pending signals in any order.
    assert ("15" in output, code) == (True, 0)
