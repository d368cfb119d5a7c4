"""Process trees, real ones: a child, a grandchild, one in its own session, one that nobody is parent of."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from profkit.process.tree import end_tree

FAMILY = """
import os, sys, time
def start(*, daemon=False, session=False):
    if child := os.fork():
        if daemon:
            os.waitpid(child, 0)
    else:
        if session:
            os.setsid()
        if daemon and os.fork():
            os._exit(0)
        if not daemon and not session:
            os.fork()
        os.write(1, b"%d\\n" % os.getpid())
        time.sleep(600)
        os._exit(0)
"""
STARTED = "start(); start(session=True); start(daemon={daemon})\nos.write(1, b'%d\\n' % os.getpid())\n"
SUBREAPER = "import ctypes; ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)\n"


def start_family(text: str, members: int) -> tuple[subprocess.Popen[str], list[int]]:
    family = subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert family.stdout is not None
    return family, [int(family.stdout.readline()) for _ in range(members)]


def is_running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


@pytest.mark.parametrize(("daemon", "prelude"), [(False, ""), (True, SUBREAPER)])
def test_nobody_survives(daemon: bool, prelude: str):
    members = 6 - daemon
    text = prelude + FAMILY + STARTED.format(daemon=daemon) + "time.sleep(600)"
    family, pids = start_family(text, members)
    with family:
        assert len(set(pids)) == members
        end_tree(family.pid)
        assert not [pid for pid in pids if is_running(pid)]


def test_a_family_that_starts_others_in_their_place():
    text = (
        FAMILY
        + """
print(os.getpid(), flush=True)
while True:
    if os.fork() == 0:
        time.sleep(600)
        os._exit(0)
    os.wait() if len(open(f"/proc/self/task/{os.getpid()}/children").read().split()) >= 3 else None
"""
    )
    family, (pid,) = start_family(text, 1)
    with family:
        end_tree(pid)
        assert not is_running(pid)


def test_descendants_that_start_others_all_the_time():
    """Each child starts the next and ends; none is left without a parent by which it would be found."""
    text = (
        SUBREAPER
        + FAMILY
        + """
print(os.getpid(), flush=True)
deadline = time.monotonic() + 30
if os.fork():
    time.sleep(600)
while time.monotonic() < deadline:
    if os.fork():
        os._exit(0)
os._exit(0)
"""
    )
    family, (pid,) = start_family(text, 1)
    with family:
        end_tree(pid)
    names = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
    assert not [name for name in names if name and text in name]


def test_a_process_that_is_gone_is_no_error():
    end_tree(2**22 + 1)


def test_a_stopped_process_is_ended_too():
    with subprocess.Popen(["/bin/sleep", "600"]) as child:
        psutil.Process(child.pid).suspend()
        end_tree(child.pid)
    assert not is_running(child.pid)
