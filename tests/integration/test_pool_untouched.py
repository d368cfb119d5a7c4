"""What the program itself sees of the pool: nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.harness import ROOT, WITH_THREADS, environment

BEGIN = """
import os, signal, sys, threading, time
from profkit.errors import WorkerTimeout
from profkit.measuring.pool.pool import Pool
from tests.integration.pool_jobs import FAMILY, job, kind, marked
from tests.support.waiting import until
"""
KINDS_OF_WORK = """
pool.submit(kind(), job("pass")).result(60)
try:
    pool.submit(kind(), job("time.sleep(600)", setup=FAMILY, timeout_s=0.2)).result(60)
except WorkerTimeout:
    pass
else:
    raise AssertionError("a job without an end was done")
os.kill(pool.zygotes()[0].pid, 9)
pool.submit(kind(), job("pass")).result(60)
pool.submit(kind(draw="a"), job("pass")).result(60)
"""
PROGRAMS = {
    "no children": """
def children():
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return "none"
pool = Pool()
assert children() == "none"
WORK
assert children() == "none"
pool.close()
assert children() == "none"
""",
    "no SIGCHLD": """
heard = []
signal.signal(signal.SIGCHLD, lambda *_: heard.append(1))
pool = Pool()
WORK
pool.close()
assert not heard, heard
""",
    "os.wait sees the program's own child": """
pool = Pool()
pool.warm([kind()])
pid = os.fork()
if pid == 0:
    time.sleep(0.5)
    os._exit(7)
def work():
    for name in "ab":
        pool.submit(kind(draw=name), job("pass")).result(60)
worker = threading.Thread(target=work)
worker.start()
assert os.wait() == (pid, 7 << 8)
worker.join()
pool.close()
""",
    "masks and handlers": """
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
def state():
    signums = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
    return signal.pthread_sigmask(signal.SIG_BLOCK, ()), {n: signal.getsignal(n) for n in signums}
before = state()
pool = Pool()
WORK
assert state() == before
pool.close()
assert state() == before
""",
    "signals still reach the main thread": """
pool = Pool()
WORK
heard = []
signal.signal(signal.SIGALRM, lambda *_: heard.append(threading.current_thread()))
signal.setitimer(signal.ITIMER_REAL, 0.2)
signal.pause()
assert heard == [threading.main_thread()]
pool.close()
""",
    "a pipe that breaks": """
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
pool = Pool()
WORK
pool.close()
""",
    "descriptors": """
def descriptors():
    return sorted(int(name) for name in os.listdir("/proc/self/fd"))
before = descriptors()
pool = Pool()
WORK
new = set(descriptors()) - set(before)
assert not any(os.get_inheritable(number) for number in new if os.path.exists(f"/proc/self/fd/{number}"))
pool.close()
assert descriptors() == before
assert threading.active_count() == 1
""",
    "no descriptor of the program gets into a job": """
reading, writing = os.pipe()
for number in (reading, writing):
    os.set_inheritable(number, True)
pool = Pool()
pool.submit(kind(), job("pass")).result(60)
os.close(writing)
assert os.read(reading, 1) == b""
pool.close()
""",
    "closed standard streams": """
for number in (0, 1, 2):
    os.close(number)
pool = Pool()
WORK
pool.close()
""",
    "Ctrl-C": """
pool = Pool()
running = pool.submit(kind(), job("import time; time.sleep(0.5); print('done')"))
until(running.running)
try:
    os.killpg(0, signal.SIGINT)
    time.sleep(60)
except KeyboardInterrupt:
    pass
assert running.result(60).output == "done\\n"
pool.close()
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_the_program_sees_nothing_of_the_pool(tmp_path: Path, program: str) -> None:
    done = subprocess.run(
        [sys.executable, *WITH_THREADS, "-c", BEGIN + program.replace("WORK\n", KINDS_OF_WORK)],
        cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=120, start_new_session=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
