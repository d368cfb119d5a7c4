"""Stacks that CPython's reader does not support: said, and sampled by the next sampler from then on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.harness import run_program

PROGRAM = """
import json, logging, sys, time
from profkit import profile

said = []
handler = logging.Handler()
handler.emit = lambda record: said.append(record.getMessage())
logging.getLogger("profkit").addHandler(handler)
sys.setrecursionlimit(10_000)

def deep(levels, duration_s):
    if levels:
        return deep(levels - 1, duration_s)
    end_s = time.thread_time() + duration_s
    while time.thread_time() < end_s:
        pass

@profile()
def work(duration_s):
    deep(3000, duration_s)

work(3.5)
first = work.last_run.info
work(1.5)
second = work.last_run.info
print(json.dumps({"said": said, "samplers": [first.plan.sampler, second.plan.sampler],
                  "samples": second.samples, "error": first.error}))
"""


@pytest.mark.sampler
@pytest.mark.states
@pytest.mark.gil
def test_a_program_with_deep_stacks_is_sampled_by_py_spy(tmp_path: Path) -> None:
    done = run_program(tmp_path, ["-c", PROGRAM])
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["samplers"][-1] == "pyspy"
    assert found["samples"] > 3
    assert any("cannot read stacks as deep" in line and "sampler='pyspy'" in line for line in found["said"])
