"""`profkit dump` of several processes, and of the ranks of a job."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.harness import await_samplers_end, environment
from tests.integration.test_dump import dump

pytestmark = pytest.mark.sampler

PROGRAM = """
import os, sys, subprocess, threading
def collective():
    threading.Event().wait()
def load():
    print("ready", flush=True)
    while True:
        sum(range(1000))
def train():
    if os.environ.get("RANK") == "2":
        load()
    worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        print("ready", flush=True)
        collective()
    finally:
        worker.kill()
train()
"""


@contextlib.contextmanager
def ranks(folder: Path, job: str, size: int, *before: str) -> Iterator[list[subprocess.Popen[str]]]:
    """Ranks of a job as torchrun starts them; rank 2 is elsewhere, the others have a worker each."""
    script = folder / "train.py"
    script.write_text(PROGRAM)
    with contextlib.ExitStack() as stack:
        started = []
        for rank in range(size):
            environ = environment(
                PROFKIT_JOB=job, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(size),
                MASTER_ADDR="127.0.0.1", MASTER_PORT="29500",
            )  # fmt: skip
            one = stack.enter_context(
                subprocess.Popen(
                    [*before, sys.executable, str(script)], env=environ, stdout=subprocess.PIPE, text=True,
                    cwd=folder, process_group=0,
                )
            )  # fmt: skip
            stack.callback(os.killpg, one.pid, 9)
            started.append(one)
        for one in started:
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n"
        yield started


def test_the_ranks_of_a_job(tmp_path: Path) -> None:
    with ranks(tmp_path, "one", 4) as started:
        done = dump(tmp_path, "--job", "one")
        named = dump(tmp_path, *(str(one.pid) for one in started), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    head, first, second, *_ = done.stdout.splitlines()
    assert "4 of 4 ranks on 1 host" in head
    assert first.startswith("Rank 2 works in load")
    assert second.startswith("Ranks 0–1 and 3 wait ")
    found = json.loads(named.stdout)
    assert [one["process"]["pid"] for one in found["processes"]] == [one.pid for one in started]


def test_a_shell_that_starts_a_rank_is_none(tmp_path: Path) -> None:
    shell = ("/bin/sh", "-c", '"$@"; exit $?', "sh")
    with ranks(tmp_path, "shells", 2, *shell):
        done = dump(tmp_path, "--job", "shel", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["processes"]
    assert [one["process"]["member"]["rank"] for one in found] == [0, 1]
    assert all("train.py" in " ".join(one["process"]["argv"]) for one in found)


def test_neither_profkit_nor_the_samplers_of_ranks_are_ranks(tmp_path: Path) -> None:
    with ranks(tmp_path, "sampled", 2, sys.executable, "-m", "profkit", "run", "--quiet", "--"):
        done = dump(tmp_path, "--job", "sampled", "--json")
    await_samplers_end(tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [one["process"]["member"]["rank"] for one in document["processes"]] == [0, 1]
    assert document["unread"] == []


def test_other_machines_share_their_stacks(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    with ranks(tmp_path, "wide", 2):
        assert dump(tmp_path, "--job", "wide", "--share", str(shared)).returncode == 0
        (file,) = shared.iterdir()
        other = json.loads(file.read_text())
        for one in other["processes"]:
            one["process"]["host"] = "elsewhere"
            one["process"]["member"] |= {"rank": one["process"]["member"]["rank"] + 2, "world_size": 4}
        (shared / "wide@elsewhere.stacks.json").write_text(json.dumps(other))
        (shared / "wide@broken.stacks.json").write_text("{")
        done = dump(tmp_path, "--job", "wide", "--share", str(shared))
    assert done.returncode == 0, done.stderr
    assert "4 of 4 ranks on 2 hosts" in done.stdout
    assert "broken" in done.stderr


def test_a_process_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with ranks(tmp_path, "half", 1) as started:
        done = dump(tmp_path, str(started[0].pid), "4194303")
    assert done.returncode == 0, done.stderr
    assert "there is no process 4194303" in done.stdout


@pytest.mark.parametrize(("arguments", "said"), [
    (["--job", "nothing-of-this-name"], "no job 'nothing-of-this-name' runs on this machine"),
    (["--job", "x", "1"], "leave out the pids"),
    (["1", "--share", "x"], "add --job"),
    (["4194303", "4194302"], "no process could be read"),
])  # fmt: skip
def test_what_cannot_be_shown(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = dump(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
