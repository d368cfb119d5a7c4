"""Programs that end, are killed or fork while isolated calls run or wait."""

from __future__ import annotations

import subprocess
import sys
import uuid

import pytest

from tests.integration.harness import WITH_THREADS, environment
from tests.integration.pool_jobs import MARK, marked
from tests.support.waiting import until

OPENMP_MARK = f"OMP_{MARK}"
"""Zygotes have variables of this prefix from their start."""

BUSY = """
import os, sys, time
from profkit import isolated
forked, forking = os.pipe()

def daemon(pid, forking):
    import os
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with open(f"/proc/{pid}/fd/{forking}", "wb") as begun:
                begun.write(b".")
            time.sleep(600)
        os._exit(0)
    time.sleep(600)

futures = [isolated.submit(daemon, os.getpid(), forking) for _ in range(6)]
assert os.read(forked, 1) == b"."
print("begun", flush=True)
"""
EXECUTOR = """
from profkit import isolated
executor = isolated.Executor(2)
executor.submit(print, "printed in a worker")
print(executor.submit(abs, -3).result())
"""
FORKING = """
import os, time
from profkit import isolated
executor = isolated.Executor(1)
slow = executor.submit(time.sleep, 0.5)
waiting = executor.submit(abs, -1)
pid = os.fork()
result = executor.submit(abs, -2).result(30)
if pid == 0:
    os._exit(0 if result == 2 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert (slow.result(30), waiting.result(30), result) == (None, 1, 2)
print("done")
"""
UNTOUCHED = """
import os, signal, threading
from profkit import isolated
died = []
signal.signal(signal.SIGCHLD, lambda *_: died.append(1))
assert isolated.call(abs, -1) == 1
try:
    os.wait()
except ChildProcessError:
    print("no child,", len(died), "signals,", threading.active_count() <= 2)
"""


def program(text: str, mark: str) -> subprocess.Popen[str]:
    environ = environment(**{MARK: mark, OPENMP_MARK: mark})
    return subprocess.Popen(
        [sys.executable, *WITH_THREADS, "-c", text],
        env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("end", "code"), [("", 0), ("sys.exit(3)", 3), ("import os; os._exit(4)", 4), ("1 / 0", 1)]
)
def test_a_program_ends_without_its_calls_and_nothing_is_left(end: str, code: int) -> None:
    mark = uuid.uuid4().hex
    with program(BUSY + end, mark) as process:
        assert process.wait(60) == code
    until(lambda: not marked(mark))


def test_nothing_is_left_of_a_killed_program() -> None:
    mark = uuid.uuid4().hex
    with program(BUSY + "time.sleep(600)", mark) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.kill()
    until(lambda: not marked(mark))


@pytest.mark.parametrize(
    ("text", "printed"),
    [(EXECUTOR, "3\n"), (FORKING, "done\n"), (UNTOUCHED, "no child, 0 signals, True\n")],
    ids=["executor without shutdown", "fork", "untouched"],
)
def test_programs(text: str, printed: str) -> None:
    mark = uuid.uuid4().hex
    with program(text, mark) as process:
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (0, printed, "")
    until(lambda: not marked(mark))
