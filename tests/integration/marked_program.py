"""A program that wraps its own functions in markers made by hand, and records itself with py-spy.

    marked_program.py SPOOL (blocking | nonblocking) (ends | killed)

It leaves a session folder in SPOOL as a profiled program does; `killed` ends it by SIGKILL in a call.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK
from profkit.model.histogram import histogram_of
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.session import CallDelta, Manifest, ProcessInfo, SamplerPlan, Segment, SessionState
from profkit.process.procfs import start_ticks
from profkit.samplers.base import await_state
from profkit.samplers.pyspy import PySpySampler
from profkit.store import spool as files
from profkit.transforms.origin import OWN_CODE

ROUNDS = 25
DURATIONS: dict[str, list[int]] = {}


def spin(duration_s: float) -> int:
    end, turns = time.perf_counter() + duration_s, 0
    while time.perf_counter() < end:
        turns = step(turns)
    return turns


def step(turns: int) -> int:
    return turns + 1


def train(depth: int = 2) -> None:
    spin(0.006)
    if depth:
        train(depth - 1)


def load() -> None:
    spin(0.010)


def outer() -> None:
    spin(0.004)
    wrapped_load()


def block() -> None:
    spin(0.004)
    start = time.perf_counter_ns()
    spin(0.006)
    wrapped_load()
    DURATIONS.setdefault(BLOCK.id, []).append(time.perf_counter_ns() - start)


def region(function: types.FunctionType, kind: RegionKind = RegionKind.FUNCTION) -> Region:
    code = function.__code__
    key = RegionKey("__main__", code.co_qualname, code.co_firstlineno, code.co_name)
    return Region(key, kind, code.co_filename, expected=(code.co_qualname, code.co_filename))


def marked(wrapped: Region, function: Callable[[], None]) -> Callable[[], None]:
    """`function` under a frame that bears the region's marker, in a file of the recording code."""
    source = "def marker():\n    start = now()\n    function()\n    note(now() - start)\n"
    noted = DURATIONS.setdefault(wrapped.id, [])
    names = {"function": function, "now": time.perf_counter_ns, "note": noted.append}
    exec(compile(source, f"{OWN_CODE.packages[0]}/calls/importlib_bootstrap/markers.py", "exec"), names)
    code = names["marker"].__code__.replace(co_name=wrapped.marker, co_qualname=wrapped.marker)  # type: ignore[attr-defined]
    return types.FunctionType(code, names, wrapped.marker)


first = block.__code__.co_firstlineno
BLOCK = replace(region(block, RegionKind.BLOCK), expected=None, body=(first + 3, first + 4))
REGIONS = (region(train), region(load), region(outer), BLOCK)
wrapped_train, wrapped_load, wrapped_outer = (
    marked(one, function) for one, function in zip(REGIONS, (train, load, outer), strict=False)
)


def help_out(start: threading.Event) -> None:
    start.wait()
    for _ in range(ROUNDS):
        wrapped_load()


def work(end: str, helper: threading.Thread) -> None:
    """A thread in `load` beside a loop over everything; the last call may be the process's last."""
    for _ in range(ROUNDS):
        wrapped_train()
        wrapped_outer()
        block()
    helper.join()
    if end == "killed":
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGKILL)).start()
        while True:
            wrapped_train()


def session(spool: Path, plan: SamplerPlan, end: str) -> None:
    now_ns, pid = SYSTEM_CLOCK.unix_ns, os.getpid()
    process = ProcessInfo(pid, start_ticks(pid) or 0, os.uname().nodename, os.getcwd(), tuple(sys.argv), "3",
                          None, "0", None)  # fmt: skip
    segment = Segment(0, started_ns=now_ns())
    manifest = Manifest(
        f"session-{pid}", SessionState.PREPARING, now_ns(), process, plan, segments=(segment,)
    )
    folder = files.create_folder(spool, manifest.session)
    files.write_manifest(folder, manifest)
    files.append(folder, REGIONS)
    # It runs before it is sampled: py-spy has no name for a thread that it first sees while it starts.
    start = threading.Event()
    helper = threading.Thread(target=help_out, args=(start,), name="helper", daemon=True)
    helper.start()
    attachment = PySpySampler().attach(pid, plan, folder, 0, SYSTEM_CLOCK)
    await_state(attachment, SessionState.RUNNING, 60, SYSTEM_CLOCK, "")
    seen = attachment.segment()
    segment = replace(segment, running_ns=now_ns(), pid=seen.pid, start_ticks=seen.start_ticks)
    manifest = replace(manifest, state=SessionState.RUNNING, segments=(segment,))
    files.write_manifest(folder, manifest)

    start.set()
    work(end, helper)

    attachment.request_stop()
    segment = replace(segment, stopped_ns=now_ns())
    await_state(attachment, SessionState.SUCCESS, 60, SYSTEM_CLOCK, "")
    deltas = [CallDelta(one, now_ns(), histogram_of(times)) for one, times in DURATIONS.items()]
    files.append(folder, deltas)
    files.write_manifest(
        folder, replace(manifest, state=SessionState.SUCCESS, segments=(segment,), ended_ns=now_ns())
    )


if __name__ == "__main__":
    where, how, end = sys.argv[1:]
    session(
        Path(where),
        SamplerPlan("pyspy", 250.0, how == "blocking", True, False, False, "call", 120.0),
        end,
    )
