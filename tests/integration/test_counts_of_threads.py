"""Calls of many threads at once are all counted, with and without a GIL."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.harness import listed, run_program

pytestmark = pytest.mark.sampler

THREADS, CALLS = 8, 20_000
PROGRAM = f"""
import json, threading, time
from profkit import profile, profiled

options = {{"sampler": "none"}}
function = profile(lambda: None, label="function", **options)

@profile(label="generator", **options)
def generator():
    yield 1
    yield 2

@profile(label="raises", **options)
def raises():
    raise KeyError

@profile(label="nested", **options)
def nested(depth):
    return depth and nested(depth - 1)

barrier = threading.Barrier({THREADS})

def work():
    barrier.wait()
    for number in range({CALLS}):
        function()
        if number % 10 == 0:
            assert list(generator()) == [1, 2]
            nested(3)
            try:
                raises()
            except KeyError:
                pass
            with profiled("block", **options) as block:
                pass
        if number % 2000 == 0:
            time.sleep(0.15)  # the thread that takes the counts works meanwhile

threads = [threading.Thread(target=work) for _ in range({THREADS})]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_every_call_is_counted(tmp_path: Path) -> None:
    done = run_program(tmp_path, ["-c", PROGRAM])
    assert (done.returncode, done.stderr) == (0, "")
    runs = listed(tmp_path)
    counted = {label: [0, 0, 0] for label in ("function", "generator", "raises", "nested", "block")}
    for run in runs:
        for place, name in enumerate(("calls", "nested", "raised")):
            counted[run["label"]][place] += run[name]
    calls, some = THREADS * CALLS, THREADS * CALLS // 10
    assert counted == {
        "function": [calls, 0, 0], "generator": [some, 0, 0], "raises": [some, 0, some],
        "nested": [4 * some, 3 * some, 0], "block": [some, 0, 0],
    }  # fmt: skip
