"""Programs that are killed, or end, with zygotes at work: nothing is left of these."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration.harness import PROGRAMS, environment, run_program
from tests.integration.pool_jobs import FAMILY_SIZE, MARK, await_true, marked

SURVIVES_S = 1.0
LAUNCHER = SUPERVISOR = ZYGOTE = CHILD = CLIENT = 1
AT_WORK = SUPERVISOR + ZYGOTE + CHILD + FAMILY_SIZE


@dataclass
class Client:
    process: subprocess.Popen[bytes]
    mark: str
    temporary: Path

    def await_processes(self, count: int) -> None:
        await_true(lambda: len(marked(self.mark)) >= count, 60)

    def assert_gone(self, since_s: float, but: Sequence[int] = ()) -> None:
        """Everything, and the zygotes' folders: no later than a second after."""
        while sorted(marked(self.mark)) != sorted(but) or self.folders():
            assert time.monotonic() < since_s + SURVIVES_S, (marked(self.mark), self.folders())
            time.sleep(0.005)

    def folders(self) -> list[str]:
        return os.listdir(self.temporary)


@contextlib.contextmanager
def running(what: str, temporary: Path, *more: str) -> Iterator[Client]:
    mark = uuid.uuid4().hex
    environ = environment(**{MARK: mark, "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"})
    argv = [sys.executable, str(PROGRAMS / "pool_client.py"), what, mark, *more]
    with subprocess.Popen(argv, env=environ, stdin=subprocess.PIPE, start_new_session=True) as process:
        try:
            yield Client(process, mark, temporary)
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("what", "count"),
    [
        ("starting", CLIENT + LAUNCHER + SUPERVISOR),
        ("idle", CLIENT + LAUNCHER + SUPERVISOR + ZYGOTE),
        ("busy", CLIENT + LAUNCHER + AT_WORK),
        ("many", CLIENT + LAUNCHER + 3 * AT_WORK),
        pytest.param("valgrind", CLIENT + LAUNCHER + AT_WORK, marks=pytest.mark.valgrind),
        pytest.param("hanging", CLIENT + LAUNCHER + SUPERVISOR + ZYGOTE, marks=pytest.mark.valgrind),
    ],
)
@pytest.mark.slow
def test_nothing_survives_a_killed_client(tmp_path: Path, what: str, count: int) -> None:
    with running(what, tmp_path) as client:
        client.await_processes(count)
        if what == "valgrind":
            assert len(client.folders()) == 1
        client.process.kill()
        client.assert_gone(time.monotonic())


@pytest.mark.slow
def test_a_leaked_channel_deceives_nobody(tmp_path: Path) -> None:
    temporary, pid_file = tmp_path / "tmp", tmp_path / "pid"
    temporary.mkdir()
    with running("busy", temporary, str(pid_file)) as client:
        client.await_processes(CLIENT + LAUNCHER + AT_WORK)
        await_true(lambda: pid_file.exists() and pid_file.read_text() != "")
        leaker = int(pid_file.read_text())
        client.process.kill()
        client.assert_gone(time.monotonic(), but=[leaker])
        os.kill(leaker, signal.SIGKILL)


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.slow
def test_nothing_survives_other_signals(tmp_path: Path, signum: signal.Signals) -> None:
    with running("busy", tmp_path) as client:
        client.await_processes(CLIENT + LAUNCHER + AT_WORK)
        client.process.send_signal(signum)
        client.process.wait(30)
        client.assert_gone(time.monotonic())


@pytest.mark.parametrize("end", [b"exit\n", b"exec\n"])
def test_nothing_survives_the_end_of_the_program(tmp_path: Path, end: bytes) -> None:
    with running("busy", tmp_path) as client:
        client.await_processes(CLIENT + LAUNCHER + AT_WORK)
        client.process.communicate(end, 30)
        client.assert_gone(time.monotonic())


@pytest.mark.valgrind
@pytest.mark.slow
def test_valgrind_leaves_no_pipes_for_debuggers(tmp_path: Path) -> None:
    measuring = 'measure("sum(range(9))", mode="callgrind", keep=False)'
    program = f"from profkit import measure; print({measuring}.instructions.net > 0)"
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = run_program(tmp_path, ["-c", program], environ=environment(TMPDIR=str(temporary)))
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    deadline_s = time.monotonic() + 10
    while list(temporary.iterdir()):  # the supervisor outlives the program for a moment
        assert time.monotonic() < deadline_s, list(temporary.iterdir())
        time.sleep(0.02)
