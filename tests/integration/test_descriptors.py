"""Programs that close descriptors which they never opened, reuse them, or have some above their limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.harness import await_samplers_end, listed, run_program

pytestmark = [pytest.mark.sampler, pytest.mark.timeout(120)]

HEAD = """
import os, resource, sys, time
from profkit import profile

@profile(rate=100)
def work(duration_s=0.02):
    end = time.thread_time() + duration_s
    while time.thread_time() < end:
        sum(range(100))
"""
CLOSING = """
work(0.6)
for _ in range(3):
    os.closerange(3, 256)
    mine = [os.open(os.devnull, os.O_RDWR) for _ in range(30)]
    assert mine == list(range(3, 33)), mine
    work(1.2)  # the background thread writes each second
    for number in mine:
        assert os.readlink(f"/proc/self/fd/{number}") == os.devnull
        os.write(number, b"x")
work.runs
for number in mine:
    os.close(number)
print("done")
"""
ABOVE_THE_LIMIT = """
readable, writable = os.pipe()
os.dup2(writable, 900, inheritable=True)
os.close(writable)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 4096))
work(0.6)
os.close(900)
os.set_blocking(readable, False)
print("done", os.read(readable, 1))
"""


@pytest.mark.outside
@pytest.mark.parametrize(
    ("program", "printed", "calls"), [(CLOSING, "done\n", 4), (ABOVE_THE_LIMIT, "done b''\n", 1)]
)
def test_the_program_and_its_profile_are_whole(
    tmp_path: Path, program: str, printed: str, calls: int
) -> None:
    (tmp_path / "program.py").write_text(HEAD + program)
    done = run_program(tmp_path, ["program.py"])
    assert (done.stdout, done.stderr, done.returncode) == (printed, "", 0)
    await_samplers_end(tmp_path)
    (run,) = listed(tmp_path)
    assert (run["calls"], run["error"]) == (calls, None)
    of_busy_machines = {"rounds-dropped", "rounds-partial", "rounds-repeated", "nonblocking-busy"}
    assert {note["code"] for note in run["notes"]} <= of_busy_machines
    assert run["samples"] > 20


@pytest.mark.parametrize(
    "options",
    [
        pytest.param("rate=100", marks=pytest.mark.gil),  # the timer of the inprocess sampler imports it
        "rate=100, blocking=True",
        "mode='timer', quick=True",
        pytest.param("mode='callgrind', quick=True", marks=pytest.mark.full),
    ],
)
def test_ctypes_is_not_imported(tmp_path: Path, options: str) -> None:
    """With libffi 3.5, a program that imports it keeps the library's file open."""
    at_exit = "import atexit\natexit.register(lambda: print('ctypes' in sys.modules))\n"
    (tmp_path / "program.py").write_text(at_exit + HEAD.replace("rate=100", options) + "work()\n")
    done = run_program(tmp_path, ["program.py"])
    assert (done.stdout, done.returncode) == ("False\n", 0), done.stderr
