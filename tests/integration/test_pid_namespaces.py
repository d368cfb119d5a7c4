"""Programs whose samplers are in another PID namespace, or cannot be found in /proc: sampled from inside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.harness import run_program

PROGRAM = """
import ctypes, json, logging, sys, time
from profkit import profile

said = []
handler = logging.Handler()
handler.emit = lambda record: said.append(record.getMessage())
logging.getLogger("profkit").addHandler(handler)

def work():
    end_s = time.thread_time() + 0.5
    while time.thread_time() < end_s:
        pass

if sys.argv[1] == "unshare":
    assert ctypes.CDLL(None).unshare(0x20000000) == 0  # CLONE_NEWPID
work = profile(**json.loads(sys.argv[2]))(work)
work()
info = work.last_run.info
print(json.dumps({"said": said, "sampler": info.plan.sampler, "samples": info.samples, "error": info.error}))
"""
WITHOUT_PROC = ("unshare", "--pid", "--fork")
SCENES = [
    pytest.param(WITHOUT_PROC, "", "mount -t proc proc /proc", id="without its proc"),
    pytest.param((), "unshare", "before it calls unshare", id="children elsewhere"),
]

pytestmark = pytest.mark.sampler


def outcome(folder: Path, prefix: tuple[str, ...], scene: str, options: dict[str, object]) -> dict[str, Any]:
    done = run_program(folder, ["-c", PROGRAM, scene, json.dumps(options)], launcher=prefix)
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("prefix", "scene", "fix"), SCENES)
@pytest.mark.outside
def test_it_is_sampled_from_inside(tmp_path: Path, prefix: tuple[str, ...], scene: str, fix: str) -> None:
    found = outcome(tmp_path, prefix, scene, {})
    assert (found["sampler"], found["error"]) == ("inprocess", None)
    assert found["samples"] > 10
    line, *others = found["said"]
    assert fix in line
    # From 3.15, a subinterpreter is tried first, and cannot find its process in such a namespace either.
    assert all("a subinterpreter cannot sample" in other for other in others)


@pytest.mark.parametrize(("prefix", "scene", "fix"), SCENES)
@pytest.mark.parametrize("sampler", [pytest.param("pyspy", marks=pytest.mark.gil),
                                     pytest.param("cpython", marks=pytest.mark.reader)])  # fmt: skip
def test_a_chosen_sampler_is_refused_with_the_cause(
    tmp_path: Path, prefix: tuple[str, ...], scene: str, fix: str, sampler: str
) -> None:
    found = outcome(tmp_path, prefix, scene, {"sampler": sampler})
    assert found["sampler"] == "none"
    assert fix in found["error"]


@pytest.mark.outside
def test_with_its_own_proc_it_is_sampled_from_outside(tmp_path: Path) -> None:
    found = outcome(tmp_path, (*WITHOUT_PROC, "--mount-proc"), "", {})
    assert found["sampler"] in ("pyspy", "cpython")
    assert (found["said"], found["error"]) == ([], None)
