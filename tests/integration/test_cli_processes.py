"""`python -m profkit` as a process of its own: streams, pipes, encodings, interruption, what it imports."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from profkit.config import Config, read_config
from tests.integration.harness import environment, run_program
from tests.support.cli_runs import finished_session, keep
from tests.support.example_runs import made_run
from tests.support.waiting import until

PROFKIT = [sys.executable, "-m", "profkit"]
STYLES = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def config(tmp_path: Path) -> Config:
    made = read_config({}, tmp_path)
    keep(made, made_run())
    return made


def profkit(folder: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    colours = {"TERM": "xterm-256color", "NO_COLOR": "", "FORCE_COLOR": ""}
    return run_program(folder, ["-m", "profkit", *arguments], environ=environment(**colours | environ))


@pytest.mark.usefixtures("config")
@pytest.mark.parametrize("arguments", [["list"], ["export", "--format", "collapsed"]])
def test_a_full_disk_behind_stdout_is_reported(tmp_path: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*PROFKIT, *arguments], cwd=tmp_path, env=environment(), stdout=full, stderr=subprocess.PIPE,
            text=True, timeout=60, check=False,
        )  # fmt: skip
    told = "profkit: error: stdout cannot be written: No space left on device; redirect it elsewhere\n"
    assert (done.returncode, done.stderr) == (2, told)


@pytest.mark.usefixtures("config")
def test_a_pipe_may_be_named_as_a_file(tmp_path: Path) -> None:
    done = profkit(tmp_path, "export", "--format", "collapsed", "-o", "/dev/stdout")
    assert done.returncode == 0
    assert done.stdout.startswith("thread (4242): MainThread;")


@pytest.mark.usefixtures("config")
def test_data_goes_to_stdout_and_nothing_to_stderr(tmp_path: Path) -> None:
    done = profkit(tmp_path, "report")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("train_step ")
    assert "torch/nn/modules/module.py:1775" in done.stdout
    assert "\x1b" not in done.stdout
    assert json.loads(profkit(tmp_path, "report", "--json").stdout)["schema"] == "profkit.report/1"


def test_errors_go_to_stderr_with_their_exit_code(tmp_path: Path) -> None:
    done = profkit(tmp_path, "report")
    assert (done.returncode, done.stdout) == (6, "")
    assert done.stderr.startswith("profkit: error: there are no runs in sqlite:///")
    assert profkit(tmp_path, "report", "--no-such-option").returncode == 2
    assert profkit(tmp_path, "--version").returncode == 0


@pytest.mark.usefixtures("config")
def test_colour_is_a_matter_of_the_environment(tmp_path: Path) -> None:
    plain = profkit(tmp_path, "report", NO_COLOR="1", FORCE_COLOR="1").stdout
    forced = profkit(tmp_path, "report", FORCE_COLOR="1").stdout
    assert STYLES.search(plain) is None
    assert STYLES.search(forced) is not None
    assert STYLES.sub("", forced) == plain


@pytest.mark.usefixtures("config")
@pytest.mark.parametrize("width", [60, 100])
def test_a_terminal_gets_colours_and_its_width(tmp_path: Path, width: int) -> None:
    master, slave = pty.openpty()
    # `script`, with which people record terminals, sets COLUMNS too.
    with subprocess.Popen(
        [*PROFKIT, "report"],
        cwd=tmp_path,
        env=environment(TERM="xterm-256color", NO_COLOR="", COLUMNS=str(width)),
        stdin=slave,
        stdout=slave,
        stderr=slave,
    ) as process:
        os.close(slave)
        written = b""
        while part := _read(master):
            written += part
    os.close(master)
    assert process.returncode == 0
    text = written.decode()
    assert STYLES.search(text) is not None
    lines = STYLES.sub("", text).splitlines()
    assert width * 0.9 < max(map(len, lines)) <= width


def _read(master: int) -> bytes:
    try:
        return os.read(master, 65536)
    except OSError:
        # Linux says EIO where the other end of a terminal is closed.
        return b""


@pytest.mark.usefixtures("config")
@pytest.mark.parametrize("arguments", ["report --json", "--help", "list --help", "--version"])
def test_a_reader_that_leaves_is_no_error(arguments: str, tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*PROFKIT, *arguments.split()],
        cwd=tmp_path,
        env=environment(),
        stdout=write,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.usefixtures("config")
def test_a_stream_without_unicode_gets_ascii(tmp_path: Path) -> None:
    unicode = profkit(tmp_path, "report").stdout.splitlines()
    done = profkit(tmp_path, "report", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "|- " in done.stdout or "| " in done.stdout
    assert [len(line) for line in done.stdout.splitlines()] == [len(line) for line in unicode]


def test_interruption_is_exit_code_130(tmp_path: Path, config: Config) -> None:
    finished_session(config, "s-1")
    with (config.spool / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with subprocess.Popen(
            [*PROFKIT, "list"],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Whoever runs the tests behind nohup or in a script's background has it ignored.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        ) as process:
            try:
                _wait_until_blocked_by_a_lock(process.pid)
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=60)
            finally:
                process.kill()
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err


def _wait_until_blocked_by_a_lock(pid: int) -> None:
    # Those that wait are marked with an arrow: proc(5), /proc/locks.
    waiting = re.compile(rf"-> FLOCK +ADVISORY +WRITE {pid} ")
    until(lambda: waiting.search(Path("/proc/locks").read_text()), "the command never waited for the lock")


def test_help_needs_neither_database_nor_tables() -> None:
    code = (
        "import sys; from profkit.cli.main import main; main(['report', '--help']); "
        "sys.exit(bool({'psycopg', 'rich', 'torch', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment(), check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("config")
def test_the_shell_is_offered_labels_and_ids(tmp_path: Path) -> None:
    def offered(words: str, folder: Path) -> list[str]:
        completed = profkit(
            folder, _PROFKIT_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(words.count(" "))
        )
        assert completed.stderr == ""
        return completed.stdout.split()

    assert offered("profkit report t", tmp_path) == ["plain,train_step"]
    assert offered("profkit rm 3f", tmp_path) == ["plain,3f2a91c0de"]
    assert offered("profkit list --label t", tmp_path) == ["plain,train_step"]
    nothing = tmp_path / "nothing"
    (nothing / ".git").mkdir(parents=True)  # a project of its own
    assert offered("profkit report t", nothing) == []
    assert list(nothing.iterdir()) == [nothing / ".git"]
