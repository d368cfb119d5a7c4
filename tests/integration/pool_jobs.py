"""Jobs for pools, and looking for what is left of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.jobs import Job
from profkit.model.measurement import Preload, Tool

MARK = "POOL_TEST_MARK"
"""An environment variable that a zygote, and everything below it, has from its start."""

FAMILY = """
import itertools, os, time
def start(*, session, daemon):
    if os.fork():
        return
    if session:
        os.setsid()
    if daemon and os.fork():
        os._exit(0)
    time.sleep(600)
    os._exit(0)
for session in (False, True):
    for daemon in (False, True):
        start(session=session, daemon=daemon)
"""
"""A setup that leaves four processes: a child and a daemon, each also with a session of its own."""
FAMILY_SIZE = 4
LOOP_IN_C = "all(itertools.repeat(True))"


def kind(mark: str = "", **changes: object) -> ZygoteKind:
    """The stdlib zygote, unless changed."""
    env = {"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", MARK: mark}
    given = {"command": (sys.executable,), "tool": Tool.NONE, "preload": Preload.NOTHING}
    return ZygoteKind(**{**given, "env": tuple(env.items()), **changes})  # type: ignore[arg-type]


def job(stmt: str, *, timeout_s: float = 60.0, payload: int | None = None, **changes: object) -> Job:
    """Executes a statement once."""
    setup = str(changes.pop("setup", ""))
    case = {
        "stmt": stmt, "setup": setup, "global_setup": "", "language": "python", "level": "function",
        "payload": False, "library": None,
    }  # fmt: skip
    message: Mapping[str, object] = {
        "mode": "timer", "cwd": os.getcwd(), "path": sys.path, "env": dict(os.environ), "num_threads": 1,
        "cores": [], "memory_limit_bytes": None, "imports": [], "cases": [case], "number": [1], "blocks": 1,
        "block_s": 0.002, "min_run_time_s": 0.0, "runs": 1, "seed": 0, "repeats": 2, "warm": 1,
    }  # fmt: skip
    return Job(stmt, {**message, **changes}, timeout_s, payload)


def marked(mark: str) -> list[int]:
    """Living processes that were started with this mark, or forked off such."""
    wanted = f"{MARK}={mark}\0".encode()
    return [
        int(name)
        for name in os.listdir("/proc")
        if name.isdecimal() and _has_mark(Path("/proc", name), wanted)
    ]


def _has_mark(folder: Path, wanted: bytes) -> bool:
    try:
        return wanted in (folder / "environ").read_bytes()  # a zombie's is empty
    except OSError:
        return False
