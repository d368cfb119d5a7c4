"""Time the first call where samplers are denied, then py-spy by hand until it fails: `denied_start.py SCENE`.

SCENE is `plain`, `not dumpable` or `traced`. Prints both times in seconds, and the call's sampler, as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from profkit import profile
from profkit.process.prctl import set_dumpable
from profkit.samplers.pyspy import PySpySampler

PLAIN, NOT_DUMPABLE, TRACED = "plain", "not dumpable", "traced"
_TRACER = """
import ctypes, os
libc, pid = ctypes.CDLL(None), os.getppid()
assert libc.ptrace(0x4206, pid, 0, 0) == 0  # PTRACE_SEIZE
print("ready", flush=True)
while True:
    _, status = os.waitpid(pid, 0x40000000)  # __WALL
    libc.ptrace(7, pid, 0, os.WSTOPSIG(status))  # PTRACE_CONT: a traced process stops at each signal
"""


@contextmanager
def scene(name: str) -> Iterator[None]:
    """Prepare this process: `not dumpable`, or `traced` by a child."""
    if name == NOT_DUMPABLE and not set_dumpable(dumpable=False):
        raise RuntimeError("this process cannot be made not dumpable")
    if name != TRACED:
        yield
        return
    command = [sys.executable, "-c", _TRACER]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as tracer:
        assert tracer.stdout is not None
        try:
            if not tracer.stdout.readline():
                raise RuntimeError("this process cannot be traced")
            yield
        finally:
            tracer.kill()


def first_call() -> dict[str, object]:
    """Return how long the first call is held up, and its sampler; nothing but the import came before."""
    first = profile(perf_counter, label="first", rate=100.0)
    start_s = perf_counter()
    call_s = first() - start_s
    run = first.last_run
    if run is None or run.info.error is not None:
        raise RuntimeError(f"nothing was sampled: {run.info.error if run else 'no session'}")
    return {"call_s": call_s, "sampler": run.info.plan.sampler, "blocking": run.info.plan.blocking}


def by_hand_s(folder: Path) -> float:
    """Return how long py-spy takes until it fails."""
    command = [
        PySpySampler().find(), "record", "--pid", str(os.getpid()), "--rate", "100",
        "--duration", "1", "--format", "raw", "--output", str(folder / "by-hand.txt"),
    ]  # fmt: skip
    start_s = perf_counter()
    done = subprocess.run(command, capture_output=True, check=False)
    taken_s = perf_counter() - start_s
    if done.returncode == 0:
        raise RuntimeError("py-spy was not denied")
    return taken_s


if __name__ == "__main__":
    with scene(sys.argv[1]), tempfile.TemporaryDirectory() as hand:
        print(json.dumps(first_call() | {"by_hand_s": by_hand_s(Path(hand))}))
