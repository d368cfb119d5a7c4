"""Launchers, supervisors, zygotes and workers that somebody stops: each is replaced like a killed one."""

from __future__ import annotations

import signal
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from profkit.errors import WorkerDied
from profkit.measuring.pool.pool import Pool
from tests.integration.pool_jobs import job, kind, marked
from tests.support.waiting import until

NOTICED_S = 20.0
"""A stopped process is noticed within two seconds of silence; the rest is for busy machines."""

Chosen = Callable[[psutil.Process], psutil.Process]

MARKED = uuid.uuid4().hex
KIND = kind(MARKED)


def zygote_itself(zygote: psutil.Process) -> psutil.Process:
    return zygote


def its_supervisor(zygote: psutil.Process) -> psutil.Process:
    return zygote.parents()[0]


def its_launcher(zygote: psutil.Process) -> psutil.Process:
    return zygote.parents()[1]


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool()
    made.submit(KIND, job("pass")).result(60)
    yield made
    made.close()
    assert not marked(MARKED)


def zygote_of(pool: Pool) -> psutil.Process:
    (zygote,) = pool.zygotes()
    return psutil.Process(zygote.pid)


def is_gone(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("chosen", [zygote_itself, its_supervisor])
def test_a_job_of_a_stopped_helper_is_done_by_another(pool: Pool, chosen: Chosen) -> None:
    stopped, zygote = chosen(zygote_of(pool)), zygote_of(pool)
    stopped.send_signal(signal.SIGSTOP)
    assert pool.submit(KIND, job("pass", timeout_s=30)).result(60).message["ok"]
    assert is_gone(stopped)
    assert is_gone(zygote)


@pytest.mark.parametrize("chosen", [zygote_itself, its_supervisor])
def test_a_helper_stopped_during_a_job_is_replaced_and_the_job_done_again(
    pool: Pool, tmp_path: Path, chosen: Chosen
) -> None:
    tries = tmp_path / "tries"
    stmt = f"""
import time
with open({str(tries)!r}, "a+") as file:
    file.write("x")
    file.seek(0)
    first = file.read() == "x"
time.sleep(4 if first else 0)
"""
    reply = pool.submit(KIND, job(stmt))
    until(lambda: tries.exists() and tries.read_text() == "x")
    chosen(zygote_of(pool)).send_signal(signal.SIGSTOP)
    assert reply.result(60).message["ok"]
    assert tries.read_text() == "xx"


def test_a_zygote_stopped_for_longer_than_a_short_timeout_loses_no_job(pool: Pool) -> None:
    zygote = zygote_of(pool)
    zygote.send_signal(signal.SIGSTOP)
    assert pool.submit(KIND, job("pass", timeout_s=0.5)).result(60).message["ok"]
    assert is_gone(zygote)


def test_a_stopped_launcher_is_replaced(pool: Pool) -> None:
    launcher = its_launcher(zygote_of(pool))
    launcher.send_signal(signal.SIGSTOP)
    other = kind(MARKED, draw="another")
    assert pool.submit(other, job("pass")).result(60).message["ok"]
    assert is_gone(launcher)


@pytest.mark.parametrize("chosen", [zygote_itself, its_supervisor, its_launcher])
def test_closing_waits_for_nobody_who_is_stopped(pool: Pool, chosen: Chosen) -> None:
    process = chosen(zygote_of(pool))
    process.send_signal(signal.SIGSTOP)
    begun_s = time.monotonic()
    pool.close()
    assert time.monotonic() - begun_s < NOTICED_S
    until(lambda: is_gone(process))


def test_a_stopped_worker_is_reported(pool: Pool) -> None:
    serial = pool.zygotes()[0].facts.serial
    with pytest.raises(WorkerDied, match=r"was stopped by a signal \(SIGSTOP\)"):
        pool.submit(KIND, job("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)")).result(60)
    assert pool.submit(KIND, job("pass")).result(60).zygote.serial == serial


def test_a_job_may_stop_what_it_starts(pool: Pool) -> None:
    stmt = "process.wait()"
    setup = """
import subprocess
process = subprocess.Popen(["sh", "-c", "(sleep 4; kill -CONT $$) & kill -STOP $$; exit 0"])
"""
    assert pool.submit(KIND, job(stmt, setup=setup, warm=0)).result(60).message["ok"]


def test_a_short_stop_ends_nobody(pool: Pool) -> None:
    zygote = zygote_of(pool)
    reply = pool.submit(KIND, job("import time; time.sleep(3)"))
    for _ in range(3):
        zygote.suspend()
        time.sleep(0.3)
        zygote.resume()
        time.sleep(0.9)
    assert reply.result(60).message["ok"]
    assert zygote_of(pool).pid == zygote.pid


ODD_FIRST = """#!{python}
import json, os, pathlib, signal, socket, sys, time
tries = pathlib.Path({tries!r})
tries.write_text(tries.read_text() + "x" if tries.exists() else "x")
if tries.read_text() == "x":
    {odd}
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
STOPPED_AT_START = "os.kill(os.getpid(), signal.SIGSTOP)"
SILENT = """
    ready = {"ready": True, "pid": os.getpid(), "python": "3.11.0", "packages": []}
    socket.socket(fileno=os.dup(0)).send(json.dumps(ready).encode())
    time.sleep(600)
"""


@pytest.mark.parametrize("odd", [STOPPED_AT_START, SILENT], ids=["stopped at start", "silent"])
def test_a_zygote_that_never_serves_is_replaced(pool: Pool, tmp_path: Path, odd: str) -> None:
    python, tries = tmp_path / "python", tmp_path / "tries"
    python.write_text(ODD_FIRST.format(python=sys.executable, tries=str(tries), odd=odd))
    python.chmod(0o755)
    reply = pool.submit(kind(MARKED, command=(str(python),)), job("print('done')", timeout_s=3.0)).result(60)
    assert reply.output == "done\n"
    assert tries.read_text() == "xx"
