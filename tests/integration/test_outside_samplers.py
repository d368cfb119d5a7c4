"""What all samplers do that are programs of their own: py-spy, and CPython's own reader of stacks."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import SamplerFailed, SamplerTimeout
from profkit.model.session import SessionState
from profkit.process import procfs
from tests.integration.outside import (
    CPYTHON,
    PYSPY,
    Outside,
    await_rounds,
    names_of,
    sampler_pid,
    stop,
    wait_for,
    weight_by_thread,
)
from tests.integration.targets import running_target
from tests.support.waiting import until

pytestmark = [pytest.mark.sampler, pytest.mark.timeout(180)]

DEEP = """
import sys
sys.setrecursionlimit(10_000)
def deeper(n):
    if n:
        return deeper(n - 1)
    print("ready", flush=True)
    while True:
        sum(range(100))
deeper(900)
"""


@pytest.fixture(params=[
    pytest.param(PYSPY, marks=pytest.mark.gil, id="pyspy"),
    pytest.param(CPYTHON, marks=pytest.mark.reader, id="cpython"),
])  # fmt: skip
def outside(request: pytest.FixtureRequest) -> Outside:
    found: Outside = request.param
    return found


def test_samples_of_every_thread_but_profkits(outside: Outside, target: int, tmp_path: Path) -> None:
    recording = outside.sample(target, tmp_path)
    profile = recording.profile
    assert {thread.name for thread in profile.threads} == {"MainThread", "waiter"}
    assert target in {thread.tid for thread in profile.threads}
    assert "spin" in names_of(profile)
    assert recording.rounds is not None
    weights = weight_by_thread(profile).values()
    assert max(weights) <= recording.rounds
    assert min(weights) >= 0.9 * recording.rounds > 20


def test_deep_stacks_are_whole(outside: Outside, tmp_path: Path) -> None:
    with running_target(DEEP) as process:
        recording = outside.sample(process.pid, tmp_path, rounds=10)
    assert min(len(stack) for stack in recording.profile.stacks) > 900


def test_stopped_the_moment_it_runs_it_always_writes(outside: Outside, target: int, tmp_path: Path) -> None:
    for index in range(20):
        stop(outside.attach(target, tmp_path, index=index))
        assert outside.read(tmp_path, index=index).rounds or outside is PYSPY


def test_a_stop_before_it_runs_loses_nothing(outside: Outside, target: int, tmp_path: Path) -> None:
    for index in range(5):
        stop(outside.sampler.attach(target, outside.plan, tmp_path, index, SYSTEM_CLOCK))
        assert outside.read(tmp_path, index=index).rounds or outside is PYSPY


def test_stopping_and_killing_again_is_harmless(outside: Outside, target: int, tmp_path: Path) -> None:
    attachment = outside.attach(target, tmp_path)
    assert attachment.resident_bytes() > 2**20
    stop(attachment)
    attachment.request_stop()
    attachment.kill()
    attachment.kill()
    assert attachment.poll() is SessionState.SUCCESS
    assert attachment.resident_bytes() == 0


def test_a_target_that_is_killed_leaves_its_samples(outside: Outside, tmp_path: Path) -> None:
    with running_target() as process:
        attachment = outside.attach(process.pid, tmp_path)
        await_rounds(attachment)
        process.kill()
        wait_for(attachment, SessionState.SUCCESS)
    assert outside.read(tmp_path).profile.total_weight > 10


def test_a_stuck_one_is_killed(outside: Outside, target: int, tmp_path: Path) -> None:
    attachment = outside.attach(target, tmp_path)
    os.kill(sampler_pid(attachment), signal.SIGSTOP)
    attachment.request_stop()
    with pytest.raises(SamplerTimeout, match="the sampler was not SUCCESS"):
        wait_for(attachment, SessionState.SUCCESS, timeout_s=0.2)
    attachment.kill()
    assert not procfs.is_running(sampler_pid(attachment))
    until(lambda: procfs.status(target)["State"][0] in "RS", "somebody holds the target")


def test_a_folder_that_goes_away(outside: Outside, target: int, tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    attachment = outside.attach(target, folder)
    shutil.rmtree(folder)
    attachment.request_stop()
    with pytest.raises(SamplerFailed, match="failed at stop"):
        wait_for(attachment, SessionState.SUCCESS)
