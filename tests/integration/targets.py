"""Python programs to attach samplers to, each a process of its own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.integration.harness import environment

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
    end = time.thread_time() + duration_s
    while time.thread_time() < end:
        sum(range(100))
"""
"""What a program that attaches py-spy to itself begins with; its argument is the folder."""


@contextlib.contextmanager
def running_target(text: str = BUSY, script: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    """A program that has printed its first line; killed afterwards. A script runs in its own folder."""
    argv, folder, environ = [sys.executable, "-c", text], None, None
    if script is not None:
        script.write_text(text)
        argv, folder, environ = [sys.executable, script.name], script.parent, environment()
    with subprocess.Popen(argv, cwd=folder, env=environ, stdout=subprocess.PIPE, text=True) as target:
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
