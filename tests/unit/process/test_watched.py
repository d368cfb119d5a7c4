from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from profkit.process import procfs
from profkit.process.watched import Watched, watch

NOBODY = 2**22 + 1


def test_a_living_process_and_its_end():
    with subprocess.Popen(["/bin/sleep", "600"]) as child:
        process = watch(child.pid)
        assert process is not None
        assert process.alive()
        assert not process.wait(0.0)
        assert process.signal(signal.SIGKILL)
        assert process.wait(30)
        assert not process.alive()
    assert not process.signal(signal.SIGKILL)
    process.close()
    assert not process.alive()
    assert process.wait(0.0)
    assert not process.signal(signal.SIGKILL)


def test_nobody_to_watch():
    assert watch(NOBODY) is None


def test_it_holds_no_descriptor():
    before = os.listdir("/proc/self/fd")
    process = watch(os.getpid())
    assert process is not None
    assert process.alive()
    assert os.listdir("/proc/self/fd") == before
    process.close()
    process.close()
    assert not process.alive()


def test_a_later_process_with_its_pid_is_another():
    with subprocess.Popen(["/bin/sleep", "600"]) as child:
        ticks = procfs.start_ticks(child.pid)
        assert ticks is not None
        earlier = Watched(child.pid, ticks - 1)
        assert not earlier.alive()
        assert not earlier.signal(signal.SIGKILL)
        earlier.close()
        assert child.poll() is None
        child.kill()


def test_where_proc_shows_nothing_the_kernel_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with subprocess.Popen(["/bin/sleep", "600"]) as child:
        process = watch(child.pid)
        assert process is not None
        monkeypatch.setattr(procfs, "PROC", str(tmp_path))  # as after chroot
        assert process.alive()
        assert process.signal(signal.SIGKILL)
        child.wait()
        assert process.wait(30)


def test_without_a_free_descriptor_it_can_be_ended():
    with subprocess.Popen(["/bin/sleep", "600"]) as child:
        process = watch(child.pid)
        assert process is not None
        with no_free_descriptor():
            assert process.alive()
            assert process.signal(signal.SIGKILL)
        child.wait()
        assert process.wait(30)


@contextlib.contextmanager
def no_free_descriptor() -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_orphans_of_a_subreaper_are_reaped(tmp_path: Path):
    program = f"""
import ctypes, os, signal, sys
from pathlib import Path
from profkit.clock import SYSTEM_CLOCK
from profkit.process.detach import start_detached
from profkit.process.watched import watch
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
mark = {str(tmp_path / "mark")!r}
argv = (sys.executable, "-c", "import time; time.sleep(600)", mark)
begun = start_detached(argv, mark, Path(mark + ".log"), SYSTEM_CLOCK, 30)
process, watchdog = watch(begun.pid), watch(begun.watchdog_pid)
assert os.waitpid(watchdog.pid, os.WNOHANG) == (0, 0), "it is our child here"
process.signal(signal.SIGKILL)
for watched in (process, watchdog):
    watched.wait(30)
    watched.close()
try:
    os.wait()
except ChildProcessError:
    print("reaped")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "reaped\n", done.stderr
