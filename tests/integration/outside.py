"""Samplers that are programs of their own: attaching one to a process, and reading what it recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK
from profkit.model.profile import Profile
from profkit.model.session import SamplerPlan, Segment, SessionState
from profkit.samplers.base import Attachment, LiveStacks, Recording, Sampler, await_state
from profkit.samplers.cpython import CPythonSampler
from profkit.samplers.options import SamplerOptions
from profkit.samplers.pyspy import PySpySampler
from tests.integration.programs.spinning import SWITCHES_PER_ROUND, switches_of
from tests.support.spool_folders import open_folder
from tests.support.waiting import LIMIT_S, until

SMALL = LiveStacks(threads=1, frames=5)
ROUNDS = 50


@dataclass(frozen=True)
class Outside:
    """A sampler, and the plan that tests use unless they give another."""

    sampler: Sampler
    plan: SamplerPlan

    def attach(self, pid: int, folder: Path, plan: SamplerPlan | None = None, index: int = 0) -> Attachment:
        """Return an attachment that is RUNNING."""
        attachment = self.sampler.attach(pid, plan or self.plan, folder, index, SYSTEM_CLOCK)
        try:
            wait_for(attachment, SessionState.RUNNING)
        except BaseException:
            attachment.kill()
            raise
        return attachment

    def read(self, folder: Path, plan: SamplerPlan | None = None, index: int = 0) -> Recording:
        with open_folder(folder) as opened:
            return self.sampler.read(opened, Segment(index, 0), plan or self.plan)

    def sample(
        self, pid: int, folder: Path, plan: SamplerPlan | None = None, index: int = 0, rounds: int = ROUNDS
    ) -> Recording:
        """Return a recording of so many rounds at least."""
        attachment = self.attach(pid, folder, plan, index)
        await_rounds(attachment, rounds)
        stop(attachment)
        return self.read(folder, plan, index)


def _outside(sampler: Sampler, options: SamplerOptions) -> Outside:
    return Outside(sampler, sampler.plan(options, SMALL))


PYSPY = _outside(PySpySampler(), SamplerOptions(rate_hz=500, blocking=True))
CPYTHON = _outside(CPythonSampler(), SamplerOptions(rate_hz=500))


def wait_for(attachment: Attachment, wanted: SessionState, timeout_s: float = LIMIT_S) -> None:
    reached = await_state(attachment, wanted, timeout_s, SYSTEM_CLOCK, "the test's patience", "the sampler")
    assert reached is wanted


def await_rounds(attachment: Attachment, rounds: int = ROUNDS) -> None:
    """Wait until a sampler that is RUNNING has made so many rounds at least."""
    await_rounds_of(sampler_pid(attachment), rounds)


def await_rounds_of(pid: int, rounds: int = ROUNDS) -> None:
    """Wait until a sampler with this pid has made so many rounds at least."""
    enough = switches_of(pid) + rounds * SWITCHES_PER_ROUND
    until(lambda: switches_of(pid) >= enough, "the sampler makes no rounds")


def stop(attachment: Attachment) -> None:
    attachment.request_stop()
    wait_for(attachment, SessionState.SUCCESS)


def sampler_pid(attachment: Attachment) -> int:
    pid = attachment.segment().pid
    assert pid is not None
    return pid


def weight_by_thread(profile: Profile) -> Mapping[str, int]:
    weights = Counter[str]()
    for sample in profile.samples:
        weights[profile.threads[sample.thread].name] += sample.weight
    return weights


def names_of(profile: Profile) -> set[str]:
    return {frame.name for frame in profile.frames}
