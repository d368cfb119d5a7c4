"""Isolated calls in a program of gevent or eventlet, whose green threads go on meanwhile."""

from __future__ import annotations

import importlib
import sys

if sys.argv[1] == "gevent":
    importlib.import_module("gevent.monkey").patch_all()
else:
    importlib.import_module("eventlet").monkey_patch()

import threading
import time

from profkit import isolated
from profkit.measuring.pool.pool import process_pool

ticks: list[float] = []


def tick() -> None:
    while True:
        ticks.append(time.monotonic())
        time.sleep(0.01)


threading.Thread(target=tick, daemon=True).start()
print(
    [isolated.call(abs, -1)] + [future.result(60) for future in [isolated.submit(abs, -2) for _ in range(9)]]
)
(first, *_) = pids = [zygote.pid for zygote in process_pool().zygotes()]
time.sleep(0.5)
print(isolated.call(abs, -3), [zygote.pid for zygote in process_pool().zygotes()] == pids)
before = len(ticks)
try:
    isolated.call(time.sleep, 600, timeout_s=0.5)
except isolated.WorkerTimeout:
    print("timed out", len(ticks) - before > 10)
future = isolated.submit(time.sleep, 600)
while not future.running():
    time.sleep(0.01)
print(future.cancel())
while not future.done():
    time.sleep(0.01)
print(future.cancelled())
