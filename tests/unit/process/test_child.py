"""Short-lived children: real ones, some in a program of their own that counts what it notices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from profkit.process.child import Captured, capture, plain_python, run_child
from profkit.process.procfs import is_running
from tests.support.waiting import until

PYTHON = (sys.executable, "-I", "-S", "-c")
COUNTING = """
import os, resource, signal, subprocess, sys, threading
from pathlib import Path
from profkit.process import child
from profkit.process.child import run_child
heard = []
signal.signal(signal.SIGCHLD, lambda *_: heard.append(1))
log = Path(sys.argv[1])
"""


def run_program(text: str, log: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", text, str(log)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_code_and_output(tmp_path: Path):
    log = tmp_path / "log"
    for code in (0, 3):
        ended = run_child(
            (*PYTHON, f"import sys; print('to stderr', file=sys.stderr); sys.exit({code})"), log, 30
        )
        assert ended.code == code
    assert log.read_text() == "to stderr\n" * 2
    assert log.stat().st_mode & 0o077 == 0


def test_death_by_signal(tmp_path: Path):
    assert run_child((*PYTHON, "import os; os.kill(os.getpid(), 9)"), tmp_path / "log", 30).code == -9


def test_a_program_that_is_not_there(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        run_child((str(tmp_path / "nothing"),), tmp_path / "log", 30)


def test_too_slow_a_child_is_killed_with_its_children(tmp_path: Path):
    log = tmp_path / "log"
    slow = "import os, time; pid = os.fork(); print(os.getpid(), flush=True); time.sleep(600)"
    with pytest.raises(TimeoutError, match=r"within 0\.5 s"):
        run_child((*PYTHON, slow), log, 0.5)
    pids = [int(line) for line in log.read_text().split()]
    assert len(pids) == 2
    for pid in pids:
        assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_it_has_no_files_and_no_terminal_of_ours(tmp_path: Path):
    log = tmp_path / "log"
    readable, writable = os.pipe()
    os.set_inheritable(writable, True)
    try:
        run_child(
            (*PYTHON, "import os; print(os.listdir('/proc/self/fd'), os.readlink('/proc/self/fd/0'))"),
            log,
            30,
        )
        # 3 is the listing itself.
        assert log.read_text() == "['0', '1', '2', '3'] /dev/null\n"
    finally:
        os.close(readable)
        os.close(writable)


def test_it_blocks_and_ignores_nothing_and_leads_its_group(tmp_path: Path):
    state = (
        "import os, signal; print(os.getpgrp() == os.getpid(), signal.pthread_sigmask(0, ()), "
        "[n for n in (1, 2, 15) if signal.getsignal(n) == signal.SIG_IGN])"
    )
    program = f"""
signal.pthread_sigmask(signal.SIG_BLOCK, {{1, 2, 15, 17}})
signal.signal(1, signal.SIG_IGN)
run_child({(*PYTHON, state)!r}, log, 30)
print(*map(int, sorted(signal.pthread_sigmask(0, ()))))
"""
    assert run_program(COUNTING + program, tmp_path / "log") == "1 2 15 17"
    assert (tmp_path / "log").read_text() == "True set() []\n"


NOTHING = """
for _ in range(20): run_child(("/bin/true",), log, 30)
print(len(heard))
"""
OWN_CHILD = """
own = subprocess.Popen(["/bin/sleep", "600"])
end_it = f"kill -9 {own.pid}; until grep -q ') Z' /proc/{own.pid}/stat; do :; done"
run_child(("/bin/sh", "-c", end_it), log, 30)
print(len(heard), own.wait())
"""
PENDING = """
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
own = subprocess.Popen(["/bin/true"])
os.waitid(os.P_PID, own.pid, os.WEXITED | os.WNOWAIT)
run_child(("/bin/true",), log, 30)
print(signal.SIGCHLD in signal.sigpending(), len(heard))
"""
WAITS_FOR_ALL = """
def wait_for_all():
    while not done:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            done_event.wait(0.0002)
done, done_event = [], threading.Event()
thread = threading.Thread(target=wait_for_all)
thread.start()
codes = {run_child(("/bin/true",), log, 30).code for _ in range(50)}
done.append(1)
thread.join()
print(codes <= {0, None})
"""
IGNORED = """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print(run_child(('/bin/true',), log, 30).code)
"""
INTERRUPTED = """
child._has_ended = lambda pid: signal.raise_signal(signal.SIGINT)
try:
    run_child(("/bin/sleep", "600"), log, 30)
except KeyboardInterrupt:
    try:
        os.waitpid(-1, 0)
    except ChildProcessError:
        print("nothing left", signal.pthread_sigmask(0, ()))
"""
LOWERED_LIMIT = """
os.dup2(0, 900, inheritable=True)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 4096))
print(run_child(("/bin/true",), log, 30).code)
"""
CLOSES_ALL = """
codes, runs, has_ended = [], threading.Event(), child._has_ended
child._has_ended = lambda pid: runs.set() or has_ended(pid)
def run():
    wait = f"until [ -e {log}.closed ]; do sleep 0.01; done"
    codes.append(run_child(("/bin/sh", "-c", wait), log, 30).code)
thread = threading.Thread(target=run)
thread.start()
runs.wait()
os.closerange(3, 64)
mine = [os.open("/dev/null", os.O_RDONLY) for _ in range(20)]
Path(f"{log}.closed").touch()
thread.join()
print(codes, len([os.fstat(number) for number in mine]))
"""


@pytest.mark.parametrize(
    ("program", "output"),
    [
        (NOTHING, "0"), (OWN_CHILD, "1 -9"), (PENDING, "True 0"), (WAITS_FOR_ALL, "True"), (IGNORED, "None"),
        (INTERRUPTED, "nothing left set()"), (LOWERED_LIMIT, "0"), (CLOSES_ALL, "[0] 20"),
    ],
    ids=[
        "its handler hears nothing", "its handler hears of its own child", "a pending signal stays",
        "it waits for everything", "it ignores children", "it is interrupted", "it lowers the limit of files",
        "it closes and reuses each descriptor",
    ],
)  # fmt: skip
def test_what_a_program_notices(program: str, output: str, tmp_path: Path):
    assert run_program(COUNTING + program, tmp_path / "log") == output


@pytest.mark.parametrize(
    "patch", ["from gevent import monkey; monkey.patch_all()", "import eventlet; eventlet.monkey_patch()"]
)
def test_a_program_whose_system_calls_were_replaced(tmp_path: Path, patch: str):
    program = f"{patch}{COUNTING}\nprint(run_child(('/bin/true',), log, 10).code)"
    assert run_program(program, tmp_path / "log") == "0"


@pytest.mark.parametrize(
    ("name", "is_python"), [("python3.13t", True), ("Python", True), ("server", False), ("", False)]
)
def test_an_interpreter_or_another_program(name: str, is_python: bool, monkeypatch: pytest.MonkeyPatch):
    assert plain_python() == sys.executable
    monkeypatch.setattr("sys.executable", name)
    assert plain_python() == (name if is_python else None)
    monkeypatch.setattr("sys.frozen", True, raising=False)
    assert plain_python() is None


def test_a_command_that_ends() -> None:
    assert capture(("/bin/sh", "-c", "echo out; echo err >&2; exit 3")) == Captured(3, "out", "err")
    assert capture(("/bin/sh", "-c", "kill -9 $$")).code == -9


def test_a_command_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        capture((str(tmp_path / "missing"),))


def test_a_command_that_does_not_end_is_ended_with_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    text = f"sleep 60 & echo $! $$ > {pids}; wait"
    with pytest.raises(TimeoutError, match="did not end within"):
        capture(("/bin/sh", "-c", text), timeout_s=0.5)
    until(lambda: not any(is_running(int(pid)) for pid in pids.read_text().split()))
