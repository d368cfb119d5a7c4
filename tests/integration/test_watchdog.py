"""py-spy's watchdog: whoever stops or kills whichever of them, the program goes on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import SamplerFailed
from profkit.model.session import SamplerPlan, SessionState
from profkit.process import procfs, watchdog
from profkit.process.detached import Detached, kill_marked, start_detached
from profkit.samplers.base import Attachment, LiveStacks, await_state, log_path, output_path
from profkit.samplers.options import SamplerOptions
from profkit.samplers.pyspy import PySpySampler, is_whole
from profkit.session.session import EARLY_S
from profkit.store.spool import read_session, session_folders
from tests.integration.harness import await_samplers_end, environment, listed
from tests.integration.programs.spinning import switches_of
from tests.support.waiting import until

pytestmark = [pytest.mark.sampler, pytest.mark.timeout(180)]

SAMPLER = PySpySampler()
PLAN = SAMPLER.plan(SamplerOptions(rate_hz=1000, blocking=True), LiveStacks(1, 1))
COUNTING = """
import mmap, os, sys
descriptor = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.ftruncate(descriptor, 8)
shared = memoryview(mmap.mmap(descriptor, 8)).cast("Q")
def deep(level):
    if level:
        return deep(level - 1)
    while True:
        shared[0] += 1
        if shared[0] == 1:
            print("ready", flush=True)
deep(100)
"""
"""Counts in a file that it shares, on a deep stack: to read it takes a millisecond."""


@contextmanager
def counting(folder: Path) -> Iterator[tuple[int, Callable[[], int]]]:
    """A program, and what shows how far it is."""
    file = folder / "count"
    argv = [sys.executable, "-c", COUNTING, str(file)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        try:
            yield program.pid, lambda: int.from_bytes(file.read_bytes(), sys.byteorder)
        finally:
            program.kill()


def attach(pid: int, folder: Path, plan: SamplerPlan = PLAN) -> tuple[Attachment, int, int]:
    """A sampler that is RUNNING, its pid and its watchdog's."""
    attachment = SAMPLER.attach(pid, plan, folder, 0, SYSTEM_CLOCK)
    await_state(attachment, SessionState.RUNNING, 30, SYSTEM_CLOCK, "-")
    sampler = attachment.segment().pid
    assert sampler is not None
    watchdog = procfs.parent(sampler)
    assert watchdog is not None
    assert b"watchdog.py" in b"".join(procfs.command_line(watchdog))
    return attachment, sampler, watchdog


def is_held(pid: int) -> bool:
    """Whether a process is stopped by one that traces it."""
    return procfs.status(pid)["State"].startswith("t")


@pytest.mark.gil
@pytest.mark.slow
def test_a_program_that_a_stopped_sampler_holds_goes_on(tmp_path: Path) -> None:
    moments, held = random.Random(9), 0
    with counting(tmp_path) as (pid, count):
        for number in range(60):
            if number >= 12 and held >= 2:
                break
            folder = tmp_path / str(number)
            folder.mkdir()
            attachment, sampler, watchdog = attach(pid, folder)
            SYSTEM_CLOCK.sleep(moments.uniform(0.02, 0.1))
            os.kill(sampler, signal.SIGSTOP)
            until(lambda sampler=sampler: procfs.status(sampler)["State"].startswith("T"))
            held += is_held(pid)
            at_stop = count()
            until(lambda at_stop=at_stop: count() > at_stop)
            until(lambda sampler=sampler: not procfs.is_running(sampler))
            until(lambda watchdog=watchdog: not procfs.is_running(watchdog))
            assert attachment.poll() is SessionState.SUCCESS
            assert is_whole(output_path(folder, 0, "pyspy")), "what was sampled until then is kept"
            assert "stopped by signal 19 (SIGSTOP)" in (attachment.warning() or "")
    assert held >= 2, "most moments were no danger: raise the rate"


@pytest.mark.full  # on a busy machine, the moment may take half a second
@pytest.mark.gil
def test_a_sampler_that_is_stopped_for_a_moment_goes_on(tmp_path: Path) -> None:
    with counting(tmp_path) as (pid, _):
        attachment, sampler, _ = attach(pid, tmp_path)
        for _ in range(5):
            os.kill(sampler, signal.SIGSTOP)
            SYSTEM_CLOCK.sleep(0.1)
            os.kill(sampler, signal.SIGCONT)
            SYSTEM_CLOCK.sleep(0.2)
        assert attachment.poll() is SessionState.RUNNING
        attachment.request_stop()
        await_state(attachment, SessionState.SUCCESS, 30, SYSTEM_CLOCK, "-")
        assert attachment.warning() is None


@pytest.mark.gil
def test_without_its_watchdog_a_sampler_goes_on(tmp_path: Path) -> None:
    with counting(tmp_path) as (pid, _):
        attachment, sampler, watchdog = attach(pid, tmp_path)
        os.kill(watchdog, signal.SIGKILL)
        until(lambda: not procfs.is_running(watchdog))
        assert attachment.poll() is SessionState.RUNNING
        attachment.request_stop()
        await_state(attachment, SessionState.SUCCESS, 30, SYSTEM_CLOCK, "-")
        assert not procfs.is_running(sampler)


@pytest.mark.parametrize(
    "signum",
    [
        signal.SIGTERM,
        *(pytest.param(n, marks=pytest.mark.full) for n in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)),
    ],
)
@pytest.mark.gil
def test_the_watchdog_outlives_what_ends_programs(tmp_path: Path, signum: signal.Signals) -> None:
    with counting(tmp_path) as (pid, _):
        attachment, sampler, watchdog = attach(pid, tmp_path)
        os.kill(watchdog, signum)
        os.kill(sampler, signal.SIGSTOP)
        until(lambda: not procfs.is_running(sampler), "nobody ends a sampler that is stopped")
        assert attachment.poll() is SessionState.SUCCESS
        until(lambda: not procfs.is_running(watchdog))


@pytest.mark.gil
def test_how_a_sampler_was_killed_is_said(tmp_path: Path) -> None:
    with counting(tmp_path) as (pid, _):
        attachment, sampler, _ = attach(pid, tmp_path)
        os.kill(sampler, signal.SIGTERM)
        until(lambda: not procfs.is_running(sampler))
        with pytest.raises(
            SamplerFailed, match=r"without its output, by signal 15 \(SIGTERM\), after printing"
        ):
            attachment.poll()


STUBBORN = (
    "import signal, time; signal.signal(2, lambda *_: None); print(1, flush=True)\nwhile True: time.sleep(9)"
)


def test_a_program_that_is_stopped_again_is_killed(tmp_path: Path) -> None:
    begun = start(STUBBORN, tmp_path)
    os.kill(begun.pid, signal.SIGSTOP)
    until(lambda: "interrupted, because" in (tmp_path / "log").read_text())
    until(lambda: procfs.status(begun.pid)["State"].startswith("S"))
    os.kill(begun.pid, signal.SIGSTOP)
    until(lambda: "ended by signal 9\n" in (tmp_path / "log").read_text())


TRACER = """
import ctypes, signal, sys, time
if sys.argv[2] == "stubborn":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
libc = ctypes.CDLL(None, use_errno=True)
SEIZE, INTERRUPT, TRACEEXIT = 0x4206, 0x4207, 0x40
assert libc.ptrace(SEIZE, int(sys.argv[1]), 0, TRACEEXIT) == 0
assert libc.ptrace(INTERRUPT, int(sys.argv[1]), 0, 0) == 0
print(1, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("variant", ["obedient", "stubborn"])
def test_a_program_that_is_killed_within_a_sample_ends(tmp_path: Path, variant: str) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as program:
        begun = start(TRACER, tmp_path, str(program.pid), variant, target=program.pid)
        until(lambda: is_held(program.pid))
        program.kill()
        until(lambda: is_held(program.pid), "the kernel waits for the tracer no longer: do without")
        assert program.wait(10) == -signal.SIGKILL
    until(lambda: not procfs.is_running(begun.pid))
    assert f"interrupted, because it held process {program.pid}\n" in (tmp_path / "log").read_text()


def test_a_program_that_is_sampled_slowly_is_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as program:
        begun = start(TRACER, tmp_path, str(program.pid), "obedient", target=program.pid)
        until(lambda: is_held(program.pid))
        assert begun.watchdog_pid is not None
        polls = switches_of(begun.watchdog_pid) + 8
        until(lambda: switches_of(begun.watchdog_pid) >= polls)
        assert procfs.is_running(begun.pid)
        os.kill(begun.pid, signal.SIGKILL)
        program.kill()


def test_killing_by_mark_reaches_the_watchdog(tmp_path: Path) -> None:
    begun = start(STUBBORN, tmp_path)
    kill_marked(str(tmp_path / "mark"), SYSTEM_CLOCK)
    for pid in (begun.pid, begun.watchdog_pid):
        assert pid is not None
        assert not procfs.is_running(pid)


def start(text: str, folder: Path, *arguments: str, target: int | None = None) -> Detached:
    mark, log = str(folder / "mark"), folder / "log"
    argv = (sys.executable, "-c", text, *arguments, mark)
    options = () if target is None else (f"{watchdog.TARGET}{target}",)
    begun = start_detached(argv, mark, log, SYSTEM_CLOCK, 30, options)
    assert begun is not None
    until(lambda: "\n1\n" in log.read_text())
    return begun


CALLING = """
import sys, time
from profkit import profile
@profile(rate=1000, blocking=True)
def work():
    end = time.monotonic() + 0.01
    while time.monotonic() < end:
        sum(range(100))
for line in sys.stdin:
    end = time.monotonic() + float(line)
    calls = 0
    while time.monotonic() < end:
        work()
        calls += 1
    print(calls, flush=True)
"""


@pytest.mark.full  # it waits for ten seconds
@pytest.mark.gil
def test_a_session_whose_sampler_is_stopped_fails_with_the_reason_and_keeps_its_samples(
    tmp_path: Path,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CALLING], cwd=tmp_path, env=environment(), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as program:  # fmt: skip
        assert program.stdin is not None
        assert program.stdout is not None
        call(program, 0.1)
        call(program, EARLY_S + 0.2)  # since the sampler runs, so that its end is no failure to start
        (folder,) = session_folders(tmp_path / ".profkit" / "spool")
        (segment,) = read_session(folder).manifest.segments
        assert segment.pid is not None
        os.kill(segment.pid, signal.SIGSTOP)
        assert call(program, 3.0) > 50
        told = program.communicate()[1]
    assert "py-spy was stopped by signal 19 (SIGSTOP)" in told
    assert len(told.splitlines()) <= 2, told
    await_samplers_end(tmp_path)
    manifest, log = read_session(folder).manifest, log_path(folder, 0).read_text()
    assert manifest.state is SessionState.FAILED
    assert "was stopped by signal 19 (SIGSTOP)" in (manifest.error or "")
    samples = {run["session"]["id"]: run["samples"] for run in listed(tmp_path)}
    assert samples[folder.name] > 50, (manifest, log)
    assert len(samples) == 2, "the next call started another session"


def call(program: subprocess.Popen[str], duration_s: float) -> int:
    assert program.stdin is not None
    assert program.stdout is not None
    program.stdin.write(f"{duration_s}\n")
    program.stdin.flush()
    return int(program.stdout.readline())
