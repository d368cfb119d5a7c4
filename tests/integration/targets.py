"""Python programs to attach samplers to, each a process of its own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK
from profkit.model.profile import Profile
from profkit.model.session import SamplerPlan, Segment, SessionState
from profkit.samplers.base import Attachment, Recording, Sampler, await_state
from tests.support.spool_folders import open_folder

BUSY = """
import os, sys, threading, time
from profkit.process.background import BackgroundThread
def spin():
    while True:
        sum(range(100))
def wait():
    time.sleep(600)
threading.Thread(target=wait, name="waiter", daemon=True).start()
BackgroundThread(wait).start()
print("ready", flush=True)
spin()
"""
"""One busy thread, one that waits, and one that is profkit's own."""

ATTACHING = """
import os, signal, sys, threading, time
from pathlib import Path
from profkit.clock import SYSTEM_CLOCK as CLOCK
from profkit.errors import ProfkitError
from profkit.model.session import SessionState
from profkit.samplers.base import LiveStacks, await_state
from profkit.samplers.options import SamplerOptions
from profkit.samplers.pyspy import PySpySampler
FOLDER = Path(sys.argv[1])
SAMPLER = PySpySampler()
PLAN = SAMPLER.plan(SamplerOptions(rate_hz=1000, blocking=True), LiveStacks(1, 1))
def start(plan=PLAN, index=0):
    attachment = SAMPLER.attach(os.getpid(), plan, FOLDER, index, CLOCK)
    await_state(attachment, SessionState.RUNNING, 30, CLOCK, "-")
    return attachment
def stop(attachment):
    attachment.request_stop()
    return await_state(attachment, SessionState.SUCCESS, 30, CLOCK, "-")
def spin(duration_s):
    end = time.monotonic() + duration_s
    while time.monotonic() < end:
        sum(range(100))
"""
"""What a program that attaches py-spy to itself begins with; its argument is the folder."""


@contextlib.contextmanager
def running_target(text: str = BUSY) -> Iterator[subprocess.Popen[str]]:
    """A program that has printed its first line; killed afterwards."""
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as target:
        assert target.stdout is not None
        assert target.stdout.readline() == "ready\n"
        try:
            yield target
        finally:
            target.kill()


def run_attaching(
    text: str, folder: Path, *, prefix: Sequence[str] = (), environ: Mapping[str, str] | None = None
) -> str:
    """What a program prints that attaches py-spy to itself; it must end well."""
    done = subprocess.run(
        [*prefix, sys.executable, "-c", ATTACHING + text, str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **(environ or {})},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@dataclass(frozen=True)
class Sampling:
    """A sampler that is a process, and its usual plan."""

    sampler: Sampler
    plan: SamplerPlan

    def attach(
        self, pid: int, folder: Path, plan: SamplerPlan | None = None, index: int = 0
    ) -> Attachment:  # fmt: skip
        attachment = self.sampler.attach(pid, plan or self.plan, folder, index, SYSTEM_CLOCK)
        try:
            assert self.wait_for(attachment, SessionState.RUNNING) is SessionState.RUNNING
        except BaseException:
            attachment.kill()
            raise
        return attachment

    def wait_for(self, attachment: Attachment, wanted: SessionState, timeout_s: float = 60) -> SessionState:
        return await_state(
            attachment, wanted, timeout_s, SYSTEM_CLOCK, "the test's patience", self.sampler.name
        )

    def stop(self, attachment: Attachment) -> None:
        attachment.request_stop()
        assert self.wait_for(attachment, SessionState.SUCCESS) is SessionState.SUCCESS

    def read(self, folder: Path, index: int = 0, plan: SamplerPlan | None = None) -> Recording:
        with open_folder(folder) as opened:
            found = self.sampler.read(opened, Segment(index, 0), plan or self.plan)
        assert found is not None
        return found


def sampler_pid(attachment: Attachment) -> int:
    pid = attachment.segment().pid
    assert pid is not None
    return pid


def weight_by_thread(profile: Profile) -> Mapping[str, int]:
    weights = Counter[str]()
    for sample in profile.samples:
        weights[profile.threads[sample.thread].name] += sample.weight
    return weights
