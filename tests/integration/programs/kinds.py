"""Every kind of region under one condition: `kinds.py works|raises|missing|dies|denied|busy`.

Prints what each region gave, what became of its run, and what profkit logged, as JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from spinning import spin_beside_sampler

from profkit import profile, profiled
from profkit.render.views.notes import note_text

CONDITION = sys.argv[1]
OPTIONS = {
    "works": {"rate": 100.0},
    "raises": {"rate": 100.0},
    "busy": {"rate": 50.0, "on_busy": "skip"},
}.get(CONDITION, {})
HOLD_S = {"works": 0.15, "raises": 0.15, "dies": 1.3}.get(CONDITION, 0.01)
PR_SET_DUMPABLE = 4


class Expected(Exception):
    """What every region raises under `raises`."""


def work() -> int:
    """Busy for a while; the sampler dies within, where it is to."""
    if CONDITION == "dies":
        kill_sampler()
    spin_beside_sampler(HOLD_S, OPTIONS.get("rate", 0.0))
    if CONDITION == "raises":
        raise Expected("asked for")
    return 42


def kill_sampler() -> None:
    for manifest in sorted(Path(".profkit/spool").glob("*/manifest.json"))[-1:]:
        pid = json.loads(manifest.read_text())["segments"][-1]["pid"]
        if pid is not None:  # after the first death, calls and wall times alone are recorded
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@profile(label="sync", **OPTIONS)
def sync() -> int:
    return work()


@profile(label="async", **OPTIONS)
async def coroutine() -> int:
    await asyncio.sleep(0.01)
    return work()


@profile(label="generator", **OPTIONS)
def generator():
    yield work()


@profile(label="async generator", **OPTIONS)
async def async_generator():
    await asyncio.sleep(0.01)
    yield work()


class Owner:
    @profile(label="method", **OPTIONS)
    def method(self) -> int:
        return work()


def block() -> int:
    handle = profiled("block", **OPTIONS)
    BLOCKS.append(handle)
    with handle:
        return work()


async def first_of(stream) -> int:
    items = [item async for item in stream]
    return items[0]


BLOCKS: list[profiled] = []
KINDS: dict[str, tuple[Callable[[], int], Callable[[], object]]] = {
    "sync": (sync, lambda: sync.last_run),
    "async": (lambda: asyncio.run(coroutine()), lambda: coroutine.last_run),
    "generator": (lambda: sum(generator()), lambda: generator.last_run),
    "async generator": (lambda: asyncio.run(first_of(async_generator())), lambda: async_generator.last_run),
    "method": (Owner().method, lambda: Owner.method.last_run),
    "block": (block, lambda: BLOCKS[-1].run),
}


@contextlib.contextmanager
def condition():
    """Set the scene."""
    if CONDITION == "denied":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    if CONDITION != "busy":
        yield
        return
    inside, done = threading.Event(), threading.Event()

    @profile(label="holder")
    def hold() -> None:
        inside.set()
        done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait()
    yield
    done.set()
    holder.join()


def outcome(call: Callable[[], int]) -> str:
    try:
        return repr(call())
    except Expected as error:
        return repr(error)


def main() -> None:
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    logging.getLogger("profkit").addHandler(handler)
    results = {}
    with condition():
        for name, (call, _) in KINDS.items():
            results[name] = {"outcome": outcome(call)}
    for name, (_, last_run) in KINDS.items():
        run = last_run()
        results[name]["run"] = None if run is None else {
            "calls": run.info.calls, "raised": run.info.raised, "samples": run.info.samples,
            "skipped": run.info.skipped, "state": run.info.state.value, "error": run.info.error,
            "notes": [note_text(note) for note in run.info.notes], "sampler": run.info.plan.sampler,
            "functions": sorted({frame.name for frame in run.profile.frames}) if run.profile else [],
        }  # fmt: skip
    print(json.dumps({"results": results, "said": said, "threads": threading.active_count()}))


main()
