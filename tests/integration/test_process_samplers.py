"""What py-spy and CPython's own reader have in common as processes that sample real programs."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import SamplerError, SamplerFailed, SamplerTimeout
from profkit.model.session import SessionState
from profkit.process import procfs
from profkit.samplers.base import LiveStacks, Sampler
from profkit.samplers.cpython import CPythonSampler
from profkit.samplers.options import SamplerOptions
from profkit.samplers.pyspy import PySpySampler
from tests.integration.pool_jobs import await_true
from tests.integration.targets import Sampling, running_target, sampler_pid, weight_by_thread

pytestmark = [pytest.mark.sampler, pytest.mark.timeout(180)]


@pytest.fixture(
    params=[
        pytest.param((PySpySampler(), True), id="pyspy", marks=pytest.mark.gil),
        pytest.param((CPythonSampler(), "auto"), id="cpython", marks=pytest.mark.reader),
    ]
)
def sampling(request: pytest.FixtureRequest) -> Sampling:
    sampler: Sampler
    sampler, blocking = request.param
    options = SamplerOptions(rate_hz=500, blocking=blocking)
    return Sampling(sampler, sampler.plan(options, LiveStacks(threads=1, frames=5)))


@pytest.fixture
def target() -> Iterator[int]:
    with running_target() as process:
        yield process.pid


def test_samples_of_every_thread_but_profkits(sampling: Sampling, target: int, tmp_path: Path) -> None:
    attachment = sampling.attach(target, tmp_path)
    SYSTEM_CLOCK.sleep(0.5)
    sampling.stop(attachment)
    recording = sampling.read(tmp_path)
    profile = recording.profile
    assert {thread.name for thread in profile.threads} == {"MainThread", "waiter"}
    assert {(thread.pid, thread.tid) for thread in profile.threads} >= {(0, target)}
    assert "spin" in {profile.frames[stack[-1]].name for stack in profile.stacks if stack}
    assert recording.rounds is not None
    weights = weight_by_thread(profile).values()
    assert max(weights) <= recording.rounds
    assert min(weights) >= 0.9 * recording.rounds > 5


def test_stopped_the_moment_it_runs_it_always_writes(
    sampling: Sampling, target: int, tmp_path: Path
) -> None:  # fmt: skip
    for index in range(20):
        sampling.stop(sampling.attach(target, tmp_path, index=index))
        assert sampling.read(tmp_path, index).rounds or sampling.sampler.name == "pyspy", (
            "py-spy may take none"
        )


def test_a_stop_before_it_runs_loses_nothing(sampling: Sampling, target: int, tmp_path: Path) -> None:
    for index in range(5):
        sampling.stop(sampling.sampler.attach(target, sampling.plan, tmp_path, index, SYSTEM_CLOCK))
        assert sampling.read(tmp_path, index).rounds or sampling.sampler.name == "pyspy", (
            "py-spy may take none"
        )


def test_stopping_and_killing_again_is_harmless(sampling: Sampling, target: int, tmp_path: Path) -> None:
    attachment = sampling.attach(target, tmp_path)
    assert attachment.resident_bytes() > 2**20
    sampling.stop(attachment)
    attachment.request_stop()
    attachment.kill()
    attachment.kill()
    assert attachment.poll() is SessionState.SUCCESS
    assert attachment.resident_bytes() == 0


def test_a_target_that_is_killed_leaves_its_samples(sampling: Sampling, tmp_path: Path) -> None:
    with running_target() as process:
        attachment = sampling.attach(process.pid, tmp_path)
        SYSTEM_CLOCK.sleep(0.2)
        process.kill()
        sampling.wait_for(attachment, SessionState.SUCCESS)
    assert sampling.read(tmp_path).profile.total_weight > 10


def test_a_stuck_one_is_killed(sampling: Sampling, target: int, tmp_path: Path) -> None:
    attachment = sampling.attach(target, tmp_path)
    os.kill(sampler_pid(attachment), signal.SIGSTOP)
    attachment.request_stop()
    with pytest.raises(SamplerTimeout, match=f"{sampling.sampler.name} was not SUCCESS"):
        sampling.wait_for(attachment, SessionState.SUCCESS, timeout_s=0.2)
    attachment.kill()
    assert not procfs.is_running(sampler_pid(attachment))
    # The thread of the sampler that holds the process may end after the others.
    await_true(lambda: procfs.status(target)["State"][0] in "RS")


def test_a_folder_that_goes_away(sampling: Sampling, target: int, tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    attachment = sampling.attach(target, folder)
    shutil.rmtree(folder)
    attachment.request_stop()
    with pytest.raises(SamplerFailed, match="failed at stop"):
        sampling.wait_for(attachment, SessionState.SUCCESS)


def test_a_process_that_is_gone(sampling: Sampling, tmp_path: Path) -> None:
    attachment = sampling.sampler.attach(2**22 - 1, sampling.plan, tmp_path, 0, SYSTEM_CLOCK)
    with pytest.raises(SamplerError):
        sampling.wait_for(attachment, SessionState.RUNNING)
