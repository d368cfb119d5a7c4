"""A function and a block while samplers may not attach: `denied.py OPTIONS SCENE`, OPTIONS as JSON.

Prints as JSON what was logged, each run, and how long the first call took to begin.
"""

from __future__ import annotations

import contextlib
import json
import logging
import subprocess
import sys
import time
from collections.abc import Iterator

from profkit import profile, profiled
from profkit.process.prctl import is_self_dumpable, set_dumpable
from profkit.render.views.notes import note_text

OPTIONS, SCENE = json.loads(sys.argv[1]), sys.argv[2]
CALLS = 3
TRACER = """
import ctypes, os, time
assert ctypes.CDLL(None).ptrace(0x4206, os.getppid(), 0, 0) == 0  # PTRACE_SEIZE
print("ready", flush=True)
time.sleep(600)
"""


def spin(duration_s: float = 0.1) -> float:
    """Busy for a while; returns when it began."""
    began_s = time.monotonic()
    while time.monotonic() < began_s + duration_s:
        pass
    return began_s


@contextlib.contextmanager
def scene() -> Iterator[None]:
    if SCENE == "not dumpable":
        assert set_dumpable(dumpable=False)
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
    asked_s = time.monotonic()
    delay_s = function() - asked_s
    for _ in range(CALLS - 1):
        function()
    during = is_self_dumpable()
    for _ in range(CALLS):
        with profiled("block", **OPTIONS) as block:
            spin()
    runs = {"function": function.last_run, "block": block.run}
    return {
        "delay_s": delay_s,
        "dumpable": [during, is_self_dumpable()],
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
