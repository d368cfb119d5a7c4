"""Finding and ending descendants, in a program of its own that adopts orphans."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from profkit.measuring.worker import processes

PROGRAM = """
import os, sys, time
from profkit.measuring.worker import processes
from profkit.measuring.worker.libc import adopt_orphans
from profkit.measuring.worker.processes import descendants, end_descendants
adopt_orphans()
told, tell = os.pipe()
def start(*steps):
    pid = os.fork()
    if pid:
        return pid
    os.closerange(0, 3)  # or the test waits for those whom it should have ended
    for step in steps:
        if step == "session":
            os.setsid()
        elif os.fork():
            if step == "orphan":
                os._exit(0)
            break
    os.write(tell, b".")
    time.sleep(60)
    os._exit(0)
def await_told(count):
    while count:
        count -= len(os.read(told, count))
def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
"""


def run(text: str) -> str:
    done = subprocess.run([sys.executable, "-c", PROGRAM + text], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


FAMILY = """
spared = start()
start(); start("session"); start("child", "session"); start("session", "orphan"); start("orphan", "orphan")
await_told(7)
"""
CHECK = """
deadline_s = time.monotonic() + 30
while len(descendants(os.getpid())) != 7:  # those between are still ending
    reap()
    assert time.monotonic() < deadline_s, descendants(os.getpid())
assert end_descendants({spared}, reap, 30)
assert descendants(os.getpid()) == {spared}
assert end_descendants((), reap, 30)
assert descendants(os.getpid()) == set()
"""


@pytest.mark.parametrize("lists", ["", "processes._has_lists = lambda: False\n"], ids=["lists", "scan"])
def test_all_kinds_of_descendants_are_found_and_ended(lists: str) -> None:
    run(lists + FAMILY + CHECK)


def test_those_who_start_others_meanwhile_are_ended_too() -> None:
    run("""
for _ in range(3):
    if os.fork() == 0:
        os.write(tell, b".")
        while True:
            if os.fork():
                os._exit(0)
            time.sleep(0.0005)
await_told(3)
assert end_descendants((), reap, 30)
time.sleep(0.01)
reap()
assert descendants(os.getpid()) == set()
""")


def test_zombies_of_the_spared_are_nobodys_business() -> None:
    run("""
spared = os.fork()
if spared == 0:
    if os.fork() == 0:
        os._exit(0)
    os.write(tell, b".")
    time.sleep(60)
    os._exit(0)
await_told(1)
assert end_descendants({spared}, reap, 30)
os.kill(spared, 9)
""")


def test_who_cannot_be_ended_is_reported_at_the_deadline() -> None:
    run("""
processes.kill, kill = lambda pid: None, processes.kill
pid = start()
await_told(1)
assert not end_descendants((), reap, 0.05)
kill(pid)
""")


def test_a_process_that_is_gone_has_no_descendants(tmp_path: Path) -> None:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    assert processes.descendants(done.pid) == set()
