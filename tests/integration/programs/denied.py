"""A function and a block while samplers may not attach: `denied.py OPTIONS SCENE`, OPTIONS as JSON.

Prints as JSON what was logged, and each run.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator

from profkit import profile, profiled
from profkit.process.prctl import set_dumpable
from profkit.render.views.notes import note_text

OPTIONS, SCENE = json.loads(sys.argv[1]), sys.argv[2]
CALLS = 3
CAP_SYS_PTRACE = 19
TRACER = """
import ctypes, os
libc, pid = ctypes.CDLL(None), os.getppid()
assert libc.ptrace(0x4206, pid, 0, 0) == 0  # PTRACE_SEIZE
print("ready", flush=True)
while True:
    _, status = os.waitpid(pid, 0x40000000)  # __WALL
    libc.ptrace(7, pid, 0, os.WSTOPSIG(status))  # PTRACE_CONT: a traced process stops at each signal
"""


spun_s: list[float] = []
"""How long each call took."""


def spin(duration_s: float = 0.1) -> None:
    began_s = now_s = time.monotonic()
    while now_s < began_s + duration_s:
        now_s = time.monotonic()
    spun_s.append(now_s - began_s)


def drop_from_children(capability: int) -> None:
    """Keep a capability that programs that this process starts do not get."""
    assert ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) == 0  # PR_CAPBSET_DROP


def become(user: int) -> None:
    """Change the effective user and keep all capabilities, so that root's Python can be read."""
    assert ctypes.CDLL(None).prctl(28, 1 << 2, 0, 0, 0) == 0  # PR_SET_SECUREBITS, NO_SETUID_FIXUP
    os.seteuid(user)


@contextlib.contextmanager
def scene() -> Iterator[None]:
    if SCENE == "not dumpable":
        assert set_dumpable(dumpable=False)
    if SCENE == "another user":
        become(65534)
    if SCENE == "more capable":
        drop_from_children(CAP_SYS_PTRACE)
    if SCENE != "traced":
        yield
        return
    with subprocess.Popen([sys.executable, "-c", TRACER], stdout=subprocess.PIPE) as tracer:
        assert tracer.stdout is not None
        tracer.stdout.readline()
        yield
        tracer.kill()


def main() -> dict[str, object]:
    function = profile(spin, label="function", **OPTIONS)
    for _ in range(CALLS):
        function()
    for _ in range(CALLS):
        with profiled("block", **OPTIONS) as block:
            spin()
    runs = {"function": function.last_run, "block": block.run}
    return {
        "spun_s": sum(spun_s),
        "runs": {
            label: {
                "calls": run.info.calls, "wall_s": run.info.wall_s, "samples": run.info.samples,
                "sampler": run.info.plan.sampler, "blocking": run.info.plan.blocking,
                "error": run.info.error, "notes": [note_text(note) for note in run.info.notes],
            }
            for label, run in runs.items()
        },
    }  # fmt: skip


if __name__ == "__main__":
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    logging.getLogger("profkit").addHandler(handler)
    with scene():
        found = main()
    print(json.dumps(found | {"said": said}))
