"""What the real py-spy writes about a real program is read as what the program is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from profkit.formats.speedscope import read_speedscope
from profkit.model.profile import Profile, Thread

pytestmark = [pytest.mark.sampler, pytest.mark.gil]

ODD_NAME = 'we"ird; na\nme "x\\ é日😀'
TARGET = f"""
import threading, time

def wait():
    time.sleep(60)

def spin():
    while True:
        sum(n for n in range(100))

odd = threading.Thread(target=wait, name={ODD_NAME!r}, daemon=True)
odd.start()
print(odd.native_id, flush=True)
spin()
"""


@pytest.fixture
def target(tmp_path: Path) -> Iterator[tuple[int, int, Path]]:
    """A program's pid, the id of its oddly named thread, and its file."""
    script = tmp_path / "target.py"
    script.write_text(TARGET, "utf-8")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.pid, int(process.stdout.readline()), script
        process.kill()


def record(pid: int, output: Path, *options: str) -> Profile:
    """What py-spy recorded in a second at 100 rounds per second."""
    command = [Path(sys.executable).with_name("py-spy"), "record", "--pid", str(pid), "--duration", "1"]
    wanted = ["--format", "speedscope", "--full-filenames", "--idle", "--output", str(output), *options]
    with (output.with_suffix(".log")).open("w") as log:
        subprocess.run([*command, *wanted], check=True, stdout=log, stderr=log)
    return read_speedscope(output, os.getpid())


def names_of(profile: Profile, thread: Thread) -> set[str]:
    number = profile.threads.index(thread)
    stacks = {sample.stack for sample in profile.samples if sample.thread == number}
    return {profile.frames[frame].name for stack in stacks for frame in profile.stacks[stack]}


@pytest.mark.parametrize(
    "options", [(), ("--threads",), ("--native",), ("--nonblocking",), ("--gil",), ("--nolineno",)]
)
def test_threads_frames_and_period(
    target: tuple[int, int, Path], options: tuple[str, ...], tmp_path: Path
) -> None:
    pid, odd_tid, script = target
    profile = record(pid, tmp_path / "out.json", *options)
    main = Thread(os.getpid(), pid, "MainThread")
    expected = {main} if options == ("--gil",) else {main, Thread(os.getpid(), odd_tid, ODD_NAME)}
    assert set(profile.threads) == expected
    assert {"<module>", "spin"} <= names_of(profile, main)
    assert profile.period_ns == pytest.approx(1e7)
    spin = {frame for frame in profile.frames if frame.name == "spin"}
    assert {frame.file for frame in spin} == {str(script)}
    assert all((frame.line == 0) == (options == ("--nolineno",)) for frame in spin)


def test_threads_of_subprocesses_show_their_process(target: tuple[int, int, Path], tmp_path: Path) -> None:
    pid, odd_tid, _ = target
    profile = record(pid, tmp_path / "out.json", "--subprocesses")
    assert set(profile.threads) == {Thread(pid, pid, "MainThread"), Thread(pid, odd_tid, ODD_NAME)}


def test_one_sample_is_one_round_of_a_thread(target: tuple[int, int, Path], tmp_path: Path) -> None:
    pid, odd_tid, _ = target
    profile = record(pid, tmp_path / "out.json")
    odd = profile.threads.index(Thread(os.getpid(), odd_tid, ODD_NAME))
    rounds = [0, 0]
    for sample in profile.samples:
        rounds[sample.thread == odd] += sample.weight
    assert rounds[0] == pytest.approx(rounds[1], abs=2)
    assert len([sample for sample in profile.samples if sample.thread == odd]) == 1, (
        "a thread that only waits"
    )
