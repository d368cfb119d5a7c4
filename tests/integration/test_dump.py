"""`profkit dump`: the stacks of a running process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.harness import await_samplers_end, environment
from tests.integration.targets import running_target

pytestmark = pytest.mark.sampler

PROGRAM = """
import threading
lock = threading.Lock()
lock.acquire()
def blocked():
    with lock:
        pass
def spin():
    while True:
        sum(number * number for number in range(2000))
def main():
    threading.Thread(target=blocked, name="blocked one", daemon=True).start()
    threading.Thread(target=threading.Event().wait, name="waiting", daemon=True).start()
    print("ready", flush=True)
    spin()
main()
"""


@pytest.fixture
def program(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with running_target(PROGRAM, tmp_path / "app.py") as started:
        yield started


def dump(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    place = folder / "elsewhere"
    place.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-m", "profkit", "dump", *arguments],
        cwd=place, env=environment(TMPDIR=str(place)), timeout=60,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_stacks_of_all_threads(tmp_path: Path, program: subprocess.Popen[str]) -> None:
    done = dump(tmp_path, str(program.pid))
    assert (done.returncode, done.stderr) == (0, "")
    head, *threads = done.stdout.strip().split("\n\n")
    assert head.startswith(f"process {program.pid}")
    assert "3 threads" in head
    assert [thread.splitlines()[0].partition(" (")[0] for thread in threads] == [
        "thread MainThread", "thread blocked one", "thread waiting"
    ]  # fmt: skip
    main = [line.split()[0] for line in threads[0].splitlines()[1:]]
    assert main[-3:] == ["spin", "main", "<module>"]
    assert threads[0].splitlines()[0].endswith("working")
    assert all(thread.splitlines()[0].endswith("waiting") for thread in threads[1:])
    await_samplers_end(tmp_path)
    assert os.listdir(tmp_path / "elsewhere") == []
    assert program.poll() is None


def test_the_stacks_as_json(tmp_path: Path, program: subprocess.Popen[str]) -> None:
    done = dump(tmp_path, str(program.pid), "--json")
    found = json.loads(done.stdout)
    assert found["schema"] == "profkit.stacks/1"
    assert found["process"]["pid"] == program.pid
    by_name = {thread["name"]: thread for thread in found["threads"]}
    frames = by_name["blocked one"]["frames"]
    assert (frames[0]["name"], frames[0]["source"]) == ("blocked", "with lock:")
    assert by_name["MainThread"]["tid"] == program.pid


@pytest.mark.parametrize(("arguments", "code", "said"), [
    (["4194303"], 2, "there is no process"),
    (["0"], 2, "0"),
    (["x"], 2, "x"),
    ([], 2, "PID"),
])  # fmt: skip
def test_no_process(tmp_path: Path, arguments: list[str], code: int, said: str) -> None:
    done = dump(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert os.listdir(tmp_path / "elsewhere") == []
