"""A program in a process of its own, sampled for a while by one of profkit's samplers."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from profkit.clock import SYSTEM_CLOCK
from profkit.model.profile import Profile
from profkit.model.session import Segment, SessionState
from profkit.samplers import cpython, registry
from profkit.samplers.base import Attachment, LiveStacks, Recording, await_state
from profkit.samplers.options import SamplerOptions
from profkit.store.files import open_spool

HAS_READER = sys.version_info >= (3, 14)
"""True if this Python has the reader of the sampler `cpython`."""
PREFERS_READER = sys.version_info >= (3, 15)
"""True if this reader follows stacks through C code, so that `auto` prefers it to py-spy."""
_TIMEOUT_S = 30.0
_LIVE = LiveStacks(threads=1, frames=5)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a sampler recorded, and how long it took until it was RUNNING."""

    recording: Recording
    start_s: float

    @property
    def profile(self) -> Profile:
        """The stacks."""
        return self.recording.profile


@contextmanager
def running(program: str) -> Iterator[subprocess.Popen[str]]:
    """Run a program that prints a line when it has begun, and reads a line to end."""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def sampled(pid: int, options: SamplerOptions, duration_s: float, retries: int = cpython.RETRIES) -> Recorded:
    """Sample a process for some time; `retries` are those of the sampler `cpython`."""
    sampler = registry.resolve(options.sampler)
    plan = sampler.plan(options, _LIVE)
    with tempfile.TemporaryDirectory(prefix="profkit-benchmark-") as name:
        folder, begun_s = Path(name), perf_counter()
        if sampler.name == cpython.NAME:
            process = cpython.CPythonProcess(sampler.find(), pid, plan, folder, 0, SYSTEM_CLOCK, retries)
            attachment: Attachment = process.start()
        else:
            attachment = sampler.attach(pid, plan, folder, 0, SYSTEM_CLOCK)
        try:
            await_state(attachment, SessionState.RUNNING, _TIMEOUT_S, SYSTEM_CLOCK, "-")
            start_s = perf_counter() - begun_s
            SYSTEM_CLOCK.sleep(duration_s)
            attachment.request_stop()
            await_state(attachment, SessionState.SUCCESS, _TIMEOUT_S, SYSTEM_CLOCK, "-")
        finally:
            attachment.kill()
        with open_spool(folder, None) as files:
            recording = sampler.read(files, Segment(0, 0), plan)
    assert recording is not None
    return Recorded(recording, start_s)
