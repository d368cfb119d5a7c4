"""What a process leaves behind is kept, however it ended, and read as far as it can be."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integration.harness import (
    PREFERS_READER,
    PROGRAMS,
    await_samplers_end,
    environment,
    listed,
    profkit,
    run_program,
)
from tests.support.waiting import LIMIT_S, until

pytestmark = pytest.mark.sampler

VICTIM = str(PROGRAMS / "victim.py")


@contextmanager
def victim(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process at work in its region; killed at the end at the latest."""
    process = subprocess.Popen(
        [sys.executable, VICTIM], cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        try:
            yield process
        finally:
            process.kill()


def kept(folder: Path) -> dict[str, Any]:
    """The only run, once its session is no longer recorded: the sampler ends shortly after its target."""

    def ended() -> dict[str, Any] | None:
        (run,) = listed(folder)
        return run if run["state"] != "RUNNING" else None

    run = until(ended)
    assert run is not None
    return run


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path: Path) -> None:
    rng = random.Random(5)
    for number in range(4):
        folder = tmp_path / str(number)
        folder.mkdir()
        with victim(folder) as process:
            time.sleep(rng.uniform(0.1, 0.6))
            process.send_signal(signal.SIGKILL)
            process.wait()
        run = kept(folder)
        assert run["label"] == "victim"
        assert run["samples"] > 0
        assert list((folder / ".profkit" / "spool").glob("2*")) == []


@pytest.mark.parametrize(
    "ending", [["os._exit"], ["exec", sys.executable, "-c", "print('after')"]], ids="-".join
)
def test_ended_without_a_word(tmp_path: Path, ending: list[str]) -> None:
    done = run_program(tmp_path, [VICTIM, *ending])
    assert done.returncode == (3 if ending == ["os._exit"] else 0)
    assert done.stdout == ("begun\n" if ending == ["os._exit"] else "begun\nafter\n")
    assert kept(tmp_path)["samples"] >= 20


def test_a_session_is_shown_while_it_records(tmp_path: Path) -> None:
    with victim(tmp_path):
        (run,) = listed(tmp_path)
        assert run["state"] == "RUNNING"
        assert "victim" in profkit(tmp_path, "report", "victim").stdout
        assert len(list((tmp_path / ".profkit" / "spool").glob("2*"))) == 1
    assert kept(tmp_path)["samples"] > 0


@pytest.mark.slow
def test_two_commands_at_once_keep_each_run_once(tmp_path: Path) -> None:
    run_program(tmp_path, [VICTIM, "os._exit"])
    kept_s = [
        subprocess.Popen([sys.executable, "-m", "profkit", "list"], cwd=tmp_path, env=environment(),
                         stdout=subprocess.DEVNULL)
        for _ in range(4)
    ]  # fmt: skip
    assert [process.wait(LIMIT_S) for process in kept_s] == [0, 0, 0, 0]
    assert len(listed(tmp_path)) == 1


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """The session folder of a program that has ended."""
    run_program(tmp_path, [VICTIM, "os._exit"])
    (folder,) = (tmp_path / ".profkit" / "spool").glob("2*")
    await_samplers_end(tmp_path)
    return folder


SAMPLES = "segment-000.stacks" if PREFERS_READER else "segment-000.speedscope.json"


@pytest.mark.outside
@pytest.mark.parametrize("name", [SAMPLES, "calls.jsonl", "manifest.json"])
def test_damage_is_named_and_kept_and_the_rest_is_read(finished: Path, name: str) -> None:
    cwd = finished.parents[2]
    damaged = finished / name
    text = damaged.read_bytes() if damaged.exists() else b""
    damaged.write_bytes(text[: len(text) // 2] if name == "manifest.json" else b"{]\n" + text + b"\n")
    done = profkit(cwd, "list", "--json")
    assert name in done.stderr
    aside = list((cwd / ".profkit" / "spool" / "damaged").rglob(name))
    assert len(aside) == 1
    (run,) = json.loads(done.stdout)["runs"]
    assert run["label"] == "victim"
    assert (run["samples"] > 20) is (name != SAMPLES)


@pytest.mark.parametrize("name", ["regions.jsonl", "manifest.json"])
@pytest.mark.parametrize("how", ["empty", "missing"])
def test_what_a_power_failure_leaves_is_recovered(finished: Path, name: str, how: str) -> None:
    """The files were not yet on the disk, and the samples were."""
    (finished / name).unlink()
    if how == "empty":
        (finished / name).touch()
    minute_ago_s = time.time() - 61
    for path in finished.iterdir():
        os.utime(path, (minute_ago_s, minute_ago_s))
    done = profkit(finished.parents[2], "list", "--json")
    assert name in done.stderr
    (run,) = [one for one in json.loads(done.stdout)["runs"] if one["label"] == "victim"]
    assert run["samples"] > 20
    assert run["function"] == "work"
    assert not finished.exists()


def test_there_is_nothing_to_report(tmp_path: Path) -> None:
    assert "`profkit run app.py` or with @profkit.profile()" in profkit(tmp_path, "report", code=6).stderr
    run_program(tmp_path, [VICTIM, "os._exit"])
    kept(tmp_path)
    assert "'nobody'" in profkit(tmp_path, "report", "nobody", code=6).stderr
