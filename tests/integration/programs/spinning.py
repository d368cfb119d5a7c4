"""Work for programs under test, in frames that samples can name.

It takes a time of its thread's own on a processor: the busier the machine, the longer the sampler has for it.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path

SWITCHES_PER_ROUND = 4
"""Twice the most that were seen: a sampler sleeps, or waits for its thread that reads."""
_LIMIT_S = 60.0


def spin(duration_s: float) -> int:
    """Turn round and round; never the same number of times, so do not print what it gives."""
    end, turns = time.thread_time() + duration_s, 0
    while time.thread_time() < end:
        turns = turn(turns)
    return turns


def turn(turns: int) -> int:
    return turns + 1


def spin_until_sampled(rounds: int = 50) -> None:
    """Spin until the sampler of this process, a program of its own, has made so many rounds at least."""
    end_s, sampler = time.monotonic() + _LIMIT_S, sampler_of(os.getpid())
    enough = switches_of(sampler) + rounds * SWITCHES_PER_ROUND
    while switches_of(sampler) < enough:
        assert time.monotonic() < end_s, "the sampler makes no rounds"
        spin(0.01)


def spin_beside_sampler(duration_s: float, rate_hz: float, work: Callable[[float], object] = spin) -> None:
    """Work for this time, and longer if the sampler of this process's session has had no time for its rounds.

    A busy machine may keep a sampler from a processor for longer than the whole of a short work.
    """
    from profkit.session.manager import MANAGER

    session = MANAGER.session
    sampler = None if session is None or session.attachment is None else session.attachment.segment().pid
    enough = _rounds_of(sampler) + round(duration_s * rate_hz)
    work(duration_s)
    end_s = time.monotonic() + _LIMIT_S
    while _rounds_of(sampler) < enough and time.monotonic() < end_s:
        work(0.001)


def _rounds_of(sampler: int | None) -> float:
    """Return about how many rounds a sampler has made; infinitely many if it has ended."""
    try:
        return math.inf if sampler is None else switches_of(sampler)
    except (FileNotFoundError, ProcessLookupError):
        return math.inf


def switches_of(pid: int) -> int:
    """Return how often a process has slept: a sampler does in each round."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])


def sampler_of(pid: int, folder: Path = Path()) -> int:
    """Return the pid of the newest sampler of a process whose spool is in this folder."""
    manifests = [
        json.loads(path.read_text()) for path in sorted(folder.glob(".profkit/spool/2*/manifest.json"))
    ]
    mine = [manifest for manifest in manifests if manifest["process"]["pid"] == pid]
    sampler: int = mine[-1]["segments"][-1]["pid"]
    return sampler
