"""Programs that are sampled from inside: `inside.py SCENE ARGUMENT`; prints JSON."""

from __future__ import annotations

import json
import logging
import math
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import partial

from profkit import profile, profiled
from profkit.model.notes import NoteCode
from profkit.samplers.inprocess import sampler
from profkit.session import session

SPLIT = {"half": 50, "third": 30, "fifth": 20}


def burn(units: int) -> int:
    total = 0
    for number in range(100 * units):
        total += number * number % 7
    return total


def named(name: str, units: int) -> Callable[[], int]:
    code = burn.__code__.replace(co_name=name, co_qualname=name)
    return lambda: type(burn)(code, globals())(units)


STEPS = {name: named(name, units) for name, units in SPLIT.items()}


def spend(duration_s: float) -> dict[str, float]:
    """Run the steps in turn; return the time that each took."""
    spent_s = dict.fromkeys(STEPS, 0.0)
    end_s = time.perf_counter() + duration_s
    while (start_s := time.perf_counter()) < end_s:
        for name, step in STEPS.items():
            step()
            now_s = time.perf_counter()
            spent_s[name] += now_s - start_s
            start_s = now_s
    return spent_s


sampled = profile(spend, sampler="inprocess", label="spend")


def shares(duration_s: float) -> dict[str, object]:
    return shares_of(sampled(duration_s))


def in_a_thread(duration_s: float) -> dict[str, object]:
    found: list[dict[str, float]] = []
    thread = threading.Thread(
        target=lambda: found.append(sampled(duration_s)), name="worker with a long name"
    )
    thread.start()
    thread.join()
    return shares_of(found[0])


def doze(duration_s: float) -> None:
    """Sleep for short times, as the main thread of the relay does: a join would delay the timer's rounds."""
    end_s = time.perf_counter() + duration_s
    while time.perf_counter() < end_s:
        time.sleep(0.005)


@profile(sampler="inprocess", label="relay", threads=True)
def run_relay(duration_s: float) -> dict[str, object]:
    """Run two threads, one after the other; return when each began and ended."""
    start_s = time.perf_counter()
    spans: dict[str, object] = {}
    for name in ("first", "second"):
        begin_s = time.perf_counter() - start_s
        thread = threading.Thread(target=doze, args=(duration_s,), name=name)
        thread.start()
        doze(duration_s)
        thread.join()
        spans[name] = begin_s, time.perf_counter() - start_s
    return spans


def shares_of(spent_s: dict[str, float]) -> dict[str, object]:
    run = sampled.last_run
    taken = run.profile
    weights: Counter[str] = Counter()
    for sample in taken.samples:
        names = {taken.frames[frame].name for frame in taken.stacks[sample.stack]}
        weights.update({name: sample.weight for name in SPLIT if name in names})
    total_s, total = math.fsum(spent_s.values()), sum(weights.values())
    return {
        "true": {name: spent_s[name] / total_s for name in SPLIT},
        "seen": {name: weights[name] / total for name in SPLIT},
        "samples": total,
        "threads": [thread.name for thread in taken.threads],
        "notes": [dict(note.figures) | {"code": note.code.value} for note in run.info.notes],
        "achieved_hz": run.info.achieved_hz,
    }


def children(number: float) -> dict[str, object]:
    """Forks do not change the way to sample, however many there are."""
    sampler.MOST_FORKS = 10**9
    return forking(number)


def forking(number: float) -> dict[str, object]:
    failed, info = start_children(int(number)), start_children.last_run.info
    kinds = [dict(note.figures)["kind"] for note in info.notes if note.code is NoteCode.SAMPLED_INSIDE]
    return {"failed": failed, "samples": info.samples, "kinds": kinds}


@profile(sampler="inprocess", label="children")
def start_children(number: int) -> dict[str, int]:
    """Start children in all ways, now and then after a pause in which sampling begins again."""
    failed: Counter[str] = Counter()
    for turn in range(number):
        name, way = [*WAYS.items()][turn % len(WAYS)]
        failed[name] += way() != 0
        if turn % 10 == 0:
            spend(0.12)
    return +failed


def forked(work: Callable[[], object]) -> int:
    pid = os.fork()
    if not pid:
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def own_session() -> None:
    """A child is sampled, too, and ends as usual."""
    sampled(0.02)
    sys.exit(0)


WAYS: dict[str, Callable[[], int]] = {
    "fork": lambda: forked(lambda: None),
    "fork of a fork": lambda: forked(lambda: os._exit(forked(lambda: None))),
    "exec": lambda: forked(lambda: os.execv("/bin/true", ["true"])),
    "subprocess": lambda: subprocess.run(["true"], check=False).returncode,
    "preexec": lambda: subprocess.run(["true"], preexec_fn=lambda: None, check=False).returncode,
    "sampled": lambda: forked(own_session),
}


def replaced(_: float) -> dict[str, object]:
    """The program is replaced while it is sampled."""
    profile(lambda: (spend(0.7), os.execv("/bin/echo", ["echo", '{"replaced": true}'])),
            sampler="inprocess", label="replaced")()  # fmt: skip
    return {}


def killed(_: float) -> dict[str, object]:
    """Run until it is killed."""
    print("begun", flush=True)
    sampled(600)
    return {}


def receiving(_: float) -> dict[str, object]:
    """The kernel's timeout of a socket comes in time, though it is set while signals come."""
    with profiled("receiving", sampler="inprocess") as block:
        spend(0.3)
        one, other = socket.socketpair()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 300_000))
        spend(2.5)
        with one, other, suppress(BlockingIOError):
            one.recv(1)
    return {"kinds": [dict(note.figures)["kind"] for note in block.run.info.notes]}


def rotated(duration_s: float) -> dict[str, object]:
    """Segments that end in profkit's thread are continued in the same way."""
    session.SEGMENT_S = 1.0
    sampled(duration_s)
    info = sampled.last_run.info
    kinds = [dict(note.figures)["kind"] for note in info.notes if note.code is NoteCode.SAMPLED_INSIDE]
    return {"kinds": kinds, "gap_s": info.gap_s, "samples": info.samples}


class Limit(TimeoutError):
    """The time limit of the program."""


def limited(number: float, *, sampled: bool = True) -> dict[str, object]:
    """Time limits that are mostly over during a fork are raised, and no child crashes.

    CPython loses those that are over just when a hook begins, or in a hook of `logging`. Unless `sampled`,
    the same program runs alone.
    """
    sampler.MOST_FORKS = 10**9
    outcomes: Counter[str] = Counter({"lost": 0})

    def over(*_: object) -> None:
        raise Limit

    def lost(unraisable: sys.UnraisableHookArgs) -> None:
        trace = unraisable.exc_traceback
        code = None if trace is None else trace.tb_frame.f_code
        if code is None:
            sys.__unraisablehook__(unraisable)
        elif code.co_filename == logging.__file__ or trace.tb_lineno == code.co_firstlineno:
            outcomes["lost"] += 1
        else:
            sys.__unraisablehook__(unraisable)

    sys.unraisablehook = lost
    signal.signal(signal.SIGALRM, over)
    with profiled("limited", sampler="inprocess") if sampled else nullcontext():
        for turn in range(int(number)):
            spend(0.12)
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.001 * (turn % 10 + 1))
                end_s = time.monotonic() + 0.5
                while time.monotonic() < end_s:
                    outcomes["crashed"] += forked(lambda: None) != 0
            except Limit:
                outcomes["raised"] += 1
    with suppress(ChildProcessError):
        while True:
            outcomes["crashed"] += os.wait()[1] != 0
    return {**outcomes}


SCENES = {
    "shares": shares, "in_a_thread": in_a_thread, "children": children, "forking": forking,
    "replaced": replaced, "killed": killed, "receiving": receiving, "limited": limited,
    "limited_alone": partial(limited, sampled=False), "rotated": rotated, "relay": run_relay,
}  # fmt: skip

if __name__ == "__main__":
    print(json.dumps(SCENES[sys.argv[1]](float(sys.argv[2]))))
