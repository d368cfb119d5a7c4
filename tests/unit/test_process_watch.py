from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from profkit.process.watch import watch

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


def open_pidfds() -> list[int]:
    numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    return [number for number in numbers if "pidfd" in link_of(number)]


def link_of(number: int) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{number}")
    except FileNotFoundError:  # of the listing itself
        return ""


def test_closing_leaves_no_descriptor():
    before = open_pidfds()
    process = watch(os.getpid())
    assert process is not None
    (pidfd,) = set(open_pidfds()) - set(before)
    assert not os.get_inheritable(pidfd)
    process.close()
    process.close()
    assert open_pidfds() == before


def test_orphans_of_a_subreaper_are_reaped(tmp_path: Path):
    program = f"""
import ctypes, os, signal, sys
from pathlib import Path
from profkit.clock import SYSTEM_CLOCK
from profkit.process.detach import start_detached
from profkit.process.watch import watch
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
mark = {str(tmp_path / "mark")!r}
argv = (sys.executable, "-c", "import time; time.sleep(600)", mark)
pid = start_detached(argv, mark, Path(mark + ".log"), SYSTEM_CLOCK, 30)
process = watch(pid)
assert os.waitpid(pid, os.WNOHANG) == (0, 0), "it is our child here"
process.signal(signal.SIGKILL)
process.wait(30)
process.close()
try:
    os.wait()
except ChildProcessError:
    print("reaped")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "reaped\n", done.stderr
