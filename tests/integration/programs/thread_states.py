"""Threads that wait without any call or source that is known to wait, and threads that work.

Arguments: the sampler and the names of functions, each of which a thread of its own runs. Prints the weights
of samples by function and state, and the share of naps in the time, as the program counts them.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import sys
import threading
import time
from collections import Counter

from profkit import profile

SOURCE = """
def naps():
    while True:
        nap(NAP_US)
        counts["naps"] += 1

def reads():
    read(pipe, 1)

def halves():
    while True:
        nap(2 * NAP_US)
        until_s = now_s() + 2 * NAP_US / 1e6
        while now_s() < until_s:
            sum(range(100))

def hashes():
    while True:
        sha256(data).digest()

def competes():
    while True:
        sum(range(100))
"""
NAP_US, WORK_S = 20_000, 3.0
COUNTS = Counter[str]()
CALLS = {
    "nap": ctypes.CDLL(None).usleep, "read": os.read, "pipe": os.pipe()[0], "sha256": hashlib.sha256,
    "data": bytes(4_000_000), "now_s": time.monotonic, "NAP_US": NAP_US, "counts": COUNTS,
}  # fmt: skip
exec(compile(SOURCE, "<generated>", "exec"), CALLS)


def run(sampler: str, names: list[str]) -> dict[str, object]:
    for number, name in enumerate(names):
        threading.Thread(target=CALLS[name], name=f"{name}-{number}", daemon=True).start()

    @profile(threads=True, sampler=sampler, rate=500)
    def work() -> None:
        begun_s, naps = time.monotonic(), COUNTS["naps"]
        while time.monotonic() < begun_s + WORK_S:
            CALLS["nap"](NAP_US)
        shares["naps"] = (COUNTS["naps"] - naps) * NAP_US / 1e6 / (time.monotonic() - begun_s)

    shares: dict[str, float] = {}
    work()
    recorded = work.last_run.profile
    weights: dict[str, Counter[str]] = {}
    for stack, thread, weight in recorded.samples:
        name = recorded.threads[thread].name.partition("-")[0]
        weights.setdefault(name, Counter())[recorded.state_of(stack).name] += weight
    return {"weights": weights, "share": shares["naps"]}


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], sys.argv[2:])))
