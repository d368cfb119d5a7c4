"""Programs that are killed, or end, with zygotes at work: nothing is left of these."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration.harness import PROGRAMS, environment, run_program
from tests.integration.pool_jobs import FAMILY_SIZE, MARK, marked
from tests.support.waiting import LIMIT_S, until

SURVIVES_S = 1.0
LAUNCHER = SUPERVISOR = ZYGOTE = CHILD = CLIENT = 1
AT_WORK = SUPERVISOR + ZYGOTE + CHILD + FAMILY_SIZE


@dataclass
class Client:
    process: subprocess.Popen[bytes]
    mark: str
    temporary: Path

    def await_processes(self, count: int) -> None:
        until(lambda: len(marked(self.mark)) >= count)

    def await_end(self, but: Sequence[int] = (), limit_s: float = LIMIT_S) -> None:
        """Wait until everything is gone, and the zygotes' folders."""

        def left() -> tuple[list[int], list[str]]:
            return sorted(marked(self.mark)), self.folders()

        until(lambda: left() == (sorted(but), []), left, limit_s=limit_s)

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
        client.await_end()


@pytest.mark.full
def test_a_killed_client_is_survived_for_a_second_at_most(tmp_path: Path) -> None:
    with running("busy", tmp_path) as client:
        client.await_processes(CLIENT + LAUNCHER + AT_WORK)
        client.process.kill()
        client.await_end(limit_s=SURVIVES_S)


@pytest.mark.slow
def test_a_leaked_channel_deceives_nobody(tmp_path: Path) -> None:
    temporary, pid_file = tmp_path / "tmp", tmp_path / "pid"
    temporary.mkdir()
    with running("busy", temporary, str(pid_file)) as client:
        client.await_processes(CLIENT + LAUNCHER + AT_WORK)
        until(lambda: pid_file.exists() and pid_file.read_text() != "")
        leaker = int(pid_file.read_text())
        client.process.kill()
        client.await_end(but=[leaker])
        os.kill(leaker, signal.SIGKILL)


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.slow
def test_nothing_survives_other_signals(tmp_path: Path, signum: signal.Signals) -> None:
    with running("busy", tmp_path) as client:
        client.await_processes(CLIENT + LAUNCHER + AT_WORK)
        client.process.send_signal(signum)
        client.process.wait(LIMIT_S)
        client.await_end()


@pytest.mark.parametrize("end", [b"exit\n", b"exec\n"])
def test_nothing_survives_the_end_of_the_program(tmp_path: Path, end: bytes) -> None:
    with running("busy", tmp_path) as client:
        client.await_processes(CLIENT + LAUNCHER + AT_WORK)
        client.process.communicate(end, LIMIT_S)
        client.await_end()


@pytest.mark.valgrind
@pytest.mark.slow
def test_valgrind_leaves_no_pipes_for_debuggers(tmp_path: Path) -> None:
    measuring = 'measure("sum(range(9))", mode="callgrind", keep=False)'
    program = f"from profkit import measure; print({measuring}.instructions.net > 0)"
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = run_program(tmp_path, ["-c", program], environ=environment(TMPDIR=str(temporary)))
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    until(lambda: not os.listdir(temporary))  # the supervisor outlives the program for a moment
