"""CPython's own reader of stacks, on real programs."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import AttachDenied, DamagedFile, SamplerError, SamplerFailed
from profkit.model.notes import NoteCode
from profkit.model.session import SessionState
from profkit.process import procfs
from profkit.samplers.base import output_path
from profkit.samplers.cpython import DEFAULT_RATE_HZ, fastest
from profkit.samplers.options import SamplerOptions
from profkit.samplers.stack_journal import read_journal
from tests.integration.harness import PROGRAMS, run_program
from tests.integration.outside import (
    CPYTHON,
    SMALL,
    await_rounds,
    sampler_pid,
    stop,
    wait_for,
    weight_by_thread,
)
from tests.integration.targets import run_attaching, running_target
from tests.support import seccomp_filters

pytestmark = [pytest.mark.sampler, pytest.mark.reader, pytest.mark.timeout(180)]

SAMPLER, PLAN = CPYTHON.sampler, CPYTHON.plan
FORKING = """
import os, subprocess, sys
def parent_spins():
    while True:
        sum(range(100))
def child_spins(parent):
    while os.getppid() == parent:
        sum(range(100))
if os.fork() == 0:
    child_spins(os.getppid())
    os._exit(0)
waiting = subprocess.Popen(["sleep", "60"])
print("ready", flush=True)
parent_spins()
"""
EXECUTING = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
print("ready", flush=True)
signal.sigwait({signal.SIGUSR1})
os.execv("/bin/sleep", ["sleep", "30"])
"""
SHARING = """
import hashlib, threading
def hashes():
    data = bytes(4_000_000)
    while True:
        hashlib.sha256(data).digest()
def spins():
    while True:
        sum(range(100))
threading.Thread(target=hashes, name="hashes", daemon=True).start()
print("ready", flush=True)
spins()
"""
"""Two busy threads, of which one hardly ever holds the GIL."""
CHANGING = """
import itertools
print("ready", flush=True)
for number in itertools.count():
    exec(f"def function_{number}(): sum(range(100_000))\\nfunction_{number}()")
"""
"""A stack that no earlier sample had, each time."""
STARVING = """
import _thread, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
print("ready", flush=True)
signal.sigwait({signal.SIGUSR1})
_thread.start_new_thread(print, ("begun", ))
def holds_the_gil():
    sum(range(10**12))
holds_the_gil()
"""
"""A thread that cannot begin, since another one never releases the GIL."""


def test_it_counts_among_the_samplers_of_the_host(target: int, tmp_path: Path) -> None:
    attachment = CPYTHON.attach(target, tmp_path)
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / str(sampler_pid(attachment))).symlink_to(f"/proc/{sampler_pid(attachment)}")
    load = procfs.count_samplers(str(tmp_path / "proc"))
    attachment.kill()
    assert load == 1


def test_a_termination_ends_it_with_its_output(target: int, tmp_path: Path) -> None:
    attachment = CPYTHON.attach(target, tmp_path)
    await_rounds(attachment)
    os.kill(sampler_pid(attachment), signal.SIGTERM)
    wait_for(attachment, SessionState.SUCCESS)
    assert CPYTHON.read(tmp_path).profile.total_weight > 10


@pytest.mark.full  # it depends on how busy the machine is
def test_killed_it_loses_less_than_a_second(target: int, tmp_path: Path) -> None:
    attachment = CPYTHON.attach(target, tmp_path)
    SYSTEM_CLOCK.sleep(2.0)
    os.kill(sampler_pid(attachment), signal.SIGKILL)
    with pytest.raises(SamplerFailed, match=r"failed at sampling: .* signal 9"):
        wait_for(attachment, SessionState.SUCCESS)
    rounds = CPYTHON.read(tmp_path).rounds
    assert rounds is not None
    assert rounds > 1.0 * PLAN.rate_hz * 0.8


def test_a_program_that_becomes_another_is_given_up(tmp_path: Path) -> None:
    with running_target(EXECUTING) as process:
        attachment = CPYTHON.attach(process.pid, tmp_path)
        await_rounds(attachment)
        process.send_signal(signal.SIGUSR1)
        with pytest.raises(SamplerFailed, match=r"failed at sampling: .*make sure that it still runs"):
            wait_for(attachment, SessionState.SUCCESS)
    recording = CPYTHON.read(tmp_path)
    assert recording.rounds is not None
    assert recording.rounds > 10
    assert NoteCode.SAMPLER_INTERRUPTED in [note.code for note in recording.notes]


def test_a_disk_that_fills_up(tmp_path: Path) -> None:
    folder = tmp_path / "full"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder], check=True)
    try:
        with running_target(CHANGING) as process:
            attachment = CPYTHON.attach(process.pid, folder)
            with pytest.raises(SamplerFailed, match="the disk is full; free space"):
                wait_for(attachment, SessionState.SUCCESS)
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_a_process_that_is_gone(tmp_path: Path) -> None:
    attachment = SAMPLER.attach(2**22 - 1, PLAN, tmp_path, 0, SYSTEM_CLOCK)
    with pytest.raises(SamplerError):
        wait_for(attachment, SessionState.RUNNING)


def test_a_program_that_is_no_python(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        attachment = SAMPLER.attach(process.pid, PLAN, tmp_path, 0, SYSTEM_CLOCK)
        with pytest.raises(SamplerFailed, match=r"did not answer as expected|cannot be read"):
            wait_for(attachment, SessionState.RUNNING)
        process.kill()


@pytest.mark.outside
def test_a_denied_read_is_explained(tmp_path: Path) -> None:
    program = """
from profkit.samplers.cpython import CPythonSampler
from profkit.samplers.cpython import DEFAULT_RATE_HZ, fastest
SAMPLER = CPythonSampler()
PLAN = SAMPLER.plan(SamplerOptions(), LiveStacks(1, 1))
try:
    start(PLAN)
except ProfkitError as error:
    print(type(error).__name__, error)
"""
    printed = run_attaching(program, tmp_path, prefix=seccomp_filters.launcher(seccomp_filters.READ))
    assert printed.startswith(AttachDenied.__name__)
    assert "seccomp" in printed


def test_subprocesses_are_distinguished(tmp_path: Path) -> None:
    plan = replace(PLAN, subprocesses=True)
    with running_target(FORKING) as process:
        recording = CPYTHON.sample(process.pid, tmp_path, plan, rounds=1500)
    profile = recording.profile
    pids = {thread.pid for thread in profile.threads}
    assert len(pids) == 2
    assert process.pid in pids
    roots = {profile.frames[stack[0]].name for stack in profile.stacks}
    (child,) = pids - {process.pid}
    assert any(name.endswith(f"[pid {child}]") for name in roots)
    of_child = [number for number, thread in enumerate(profile.threads) if thread.pid == child]
    stacks = {sample.stack for sample in profile.samples if sample.thread in of_child}
    assert any(
        profile.frames[frame].name == "child_spins" for stack in stacks for frame in profile.stacks[stack]
    )
    assert [note.code for note in recording.notes if note.code is NoteCode.CHILDREN_LEFT_OUT], "of sleep"


@pytest.mark.states
@pytest.mark.gil
def test_a_thread_that_waits_for_the_gil_to_begin_hides_no_other(tmp_path: Path) -> None:
    with running_target(STARVING) as process:
        attachment = CPYTHON.attach(process.pid, tmp_path)
        process.send_signal(signal.SIGUSR1)
        await_rounds(attachment, 1000)
        stop(attachment)
    recording = CPYTHON.read(tmp_path)
    samples = Counter[str]()
    for sample in recording.profile.samples:
        leaf = recording.profile.frames[recording.profile.stacks[sample.stack][-1]].name
        samples[leaf] += sample.weight
    assert recording.rounds is not None
    assert recording.errors is not None
    assert recording.errors < 0.1 * recording.rounds
    assert samples["holds_the_gil"] > 0.7 * recording.rounds
    assert NoteCode.ROUNDS_PARTIAL in {note.code for note in recording.notes}


@pytest.mark.states
def test_waiting_threads_can_be_left_out(target: int, tmp_path: Path) -> None:
    plan = SAMPLER.plan(SamplerOptions(rate_hz=500, idle=False), SMALL)
    weights = weight_by_thread(CPYTHON.sample(target, tmp_path, plan, rounds=100).profile)
    assert weights["MainThread"] > 50
    assert weights.get("waiter", 0) < weights["MainThread"] / 10


@pytest.mark.states
def test_only_time_with_the_gil_can_be_sampled(tmp_path: Path) -> None:
    weights = []
    for index, options in enumerate((SamplerOptions(rate_hz=500, gil=True), SamplerOptions(rate_hz=500))):
        plan = SAMPLER.plan(options, SMALL)
        with running_target(SHARING) as process:
            recording = CPYTHON.sample(process.pid, tmp_path, plan, index, rounds=300)
        weights.append(weight_by_thread(recording.profile))
    with_gil, in_all = weights
    assert with_gil["MainThread"] > 50
    assert with_gil.get("hashes", 0) < 0.1 * with_gil["MainThread"]
    assert in_all["hashes"] > 0.5 * in_all["MainThread"]


NAMED = """
import threading, time
from profkit import profile
@profile(threads=True, sampler="cpython", rate=200)
def work():
    deadline = time.monotonic() + 2.5
    while time.monotonic() < deadline:
        sum(range(100))
for name in ("connection-pool-worker-1", "connection-pool-worker-2", "Rückübergrößenträger", "short"):
    threading.Thread(target=time.sleep, args=(9,), name=name, daemon=True).start()
work()
print(ascii({thread.name for thread in work.last_run.profile.threads}))
"""


def test_threads_have_their_whole_names(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", NAMED], cwd=tmp_path, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PROFKIT_SPOOL": str(tmp_path / "spool")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    names = {"connection-pool-worker-1", "connection-pool-worker-2", "Rückübergrößenträger", "short"}
    assert ast.literal_eval(done.stdout) == {"MainThread", *names}


CHAINS = {"of_gather": "outer", "of_group": "inner", "of_task": "other"}


@pytest.mark.states
def test_a_region_has_the_samples_of_the_tasks_that_it_awaits(tmp_path: Path) -> None:
    done = run_program(tmp_path, [str(PROGRAMS / "awaiting.py"), "500"])
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    weights = {region: Counter[str]() for region in ("inner", "outer", "other")}
    for region, stacks in told["stacks"].items():
        for names, weight in stacks:
            (leaf,) = {*CHAINS, "alone"}.intersection(names) or {""}
            weights[region][leaf] += weight
            assert names[0] == region
            assert leaf != "of_group" or [*names[names.index("inner") :][:3]] == [
                "inner", "TaskGroup.__aexit__", "TaskGroup._aexit"
            ]  # fmt: skip
    assert weights["inner"].keys() <= {"of_group", ""}
    assert weights["outer"].keys() <= {"of_gather", "of_group", ""}
    assert weights["other"].keys() <= {"of_task", ""}
    assert sum(map(sum, (counted.values() for counted in weights.values()))) > 500
    assert weights["outer"]["of_group"] == weights["inner"]["of_group"] > 100
    assert told["torn"] == 0


def test_a_damaged_journal_is_named(target: int, tmp_path: Path) -> None:
    stop(CPYTHON.attach(target, tmp_path))
    path = output_path(tmp_path, 0, "cpython")
    path.write_bytes(path.read_bytes().replace(b"\nt ", b"\n? ", 1))
    with pytest.raises(DamagedFile, match=r"segment-000\.stacks .*line \d+ is damaged"):
        CPYTHON.read(tmp_path)


@pytest.mark.full
@pytest.mark.alone
@pytest.mark.parametrize(
    ("rate_hz", "fewest"), [(DEFAULT_RATE_HZ, 0.6), (fastest(sys.version_info[:2]), 0.5)]
)
def test_it_keeps_its_rate(rate_hz: int, fewest: float, target: int, tmp_path: Path) -> None:
    """A busy machine delays rounds, which are skipped then: one of three seconds is enough."""
    shares = (share_of_rounds(target, tmp_path, rate_hz, index) for index in range(3))
    assert any(share >= fewest for share in shares)


def share_of_rounds(target: int, folder: Path, rate_hz: int, index: int) -> float:
    """Rounds in a second, as a share of those that were asked for."""
    start_s = time.monotonic()
    attachment = CPYTHON.attach(target, folder, SAMPLER.plan(SamplerOptions(rate_hz=rate_hz), SMALL), index)
    running_s = time.monotonic()
    SYSTEM_CLOCK.sleep(1.0)
    sampled_s = time.monotonic() - running_s
    stop(attachment)
    journal = read_journal(output_path(folder, index, "cpython").read_bytes())
    assert journal.rounds + journal.skipped <= rate_hz * (time.monotonic() - start_s)
    assert journal.profile.period_ns == pytest.approx(1e9 / rate_hz)
    return journal.rounds / sampled_s / rate_hz


def test_it_is_the_version_of_this_python() -> None:
    assert SAMPLER.version() == sys.version.split()[0].rstrip("+")
