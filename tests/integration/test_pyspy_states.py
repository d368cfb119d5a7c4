"""States of the threads of real programs, as they are read beside py-spy."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.model.profile import Profile, ThreadState
from profkit.samplers.base import LiveStacks, Recording
from profkit.samplers.options import SamplerOptions
from profkit.samplers.pyspy import PySpySampler
from tests.integration.outside import Outside, stop

pytestmark = [pytest.mark.sampler, pytest.mark.gil, pytest.mark.alone, pytest.mark.timeout(180)]

SAMPLER = PySpySampler()
ALTERNATING = """
import os, sys, time
asked, answers = os.pipe(), os.pipe()
if os.fork() == 0:
    while os.read(asked[0], 1):
        time.sleep(0.03)
        os.write(answers[1], b".")
def read():
    return os.read(answers[0], 1)
def work():
    end_s = time.thread_time() + 0.03
    while time.thread_time() < end_s:
        sum(range(3000))
while True:
    os.write(asked[1], b".")
    read()
    work()
    print("done", flush=True)
"""
CYCLES = 60


@pytest.fixture
def alternating() -> Iterator[subprocess.Popen[bytes]]:
    """A program that works for 30 ms and waits for another process for 30 ms; it prints each such cycle."""
    with subprocess.Popen(
        [sys.executable, "-c", ALTERNATING], stdout=subprocess.PIPE, start_new_session=True
    ) as program:
        await_cycles(program, 1)
        yield program
        os.killpg(program.pid, signal.SIGKILL)


def await_cycles(program: subprocess.Popen[bytes], cycles: int) -> None:
    assert program.stdout is not None
    for _ in range(cycles):
        assert program.stdout.readline() == b"done\n"


def record(
    program: subprocess.Popen[bytes], folder: Path, options: SamplerOptions, go_on: Callable[[], None]
) -> Recording:
    """Sample a program while it goes on."""
    sampling = Outside(SAMPLER, SAMPLER.plan(options, LiveStacks(1, 1)))
    attachment = sampling.attach(program.pid, folder)
    try:
        go_on()
        stop(attachment)
    finally:
        attachment.kill()
    return sampling.read(folder)


def states_by_function(profile: Profile) -> dict[str, Counter[ThreadState]]:
    found: dict[str, Counter[ThreadState]] = {}
    for stack, _, weight in profile.samples:
        name = profile.frames[profile.stacks[stack][-1]].name
        found.setdefault(name, Counter())[profile.state_of(stack)] += weight
    return found


@pytest.mark.full  # it asserts shares
@pytest.mark.parametrize("blocking", [False, True])
def test_a_thread_that_alternates_between_work_and_a_pipe(
    blocking: bool, alternating: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    options = SamplerOptions(rate_hz=100, blocking=blocking)
    recording = record(alternating, tmp_path, options, lambda: await_cycles(alternating, CYCLES))
    states = states_by_function(recording.profile)
    assert states["read"].total() >= CYCLES, states
    assert states["work"].total() >= CYCLES, states
    assert states["read"][ThreadState.WAITING] >= 0.6 * states["read"].total(), states
    assert states["work"][ThreadState.WORKING] >= 0.6 * states["work"].total(), states
    assert not any(of_function[ThreadState.UNKNOWN] for of_function in states.values())
    assert recording.rounds is not None
    assert recording.profile.total_weight <= recording.rounds


def test_a_process_that_is_stopped_is_not_sampled(
    alternating: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    def go_on() -> None:
        await_cycles(alternating, 10)
        os.kill(alternating.pid, signal.SIGSTOP)
        SYSTEM_CLOCK.sleep(1.0)
        os.kill(alternating.pid, signal.SIGCONT)
        await_cycles(alternating, 10)

    recording = record(alternating, tmp_path, SamplerOptions(rate_hz=100, blocking=False), go_on)
    assert recording.rounds is not None
    assert recording.unseen_ns >= 0.5e9
    assert recording.profile.total_weight <= recording.rounds
