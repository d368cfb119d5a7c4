"""`profkit import` of what is no file, never ends, or needs more than there is: one clear line, at once."""

from __future__ import annotations

import gzip
import json
import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

PATIENCE_S = 60.0
"""For a command that takes a second, on a busy machine."""
FOLDED = b"main;f 3\nmain 1\n"
BASE_MB = 160
"""Memory that is enough for a small import."""


@dataclass(frozen=True, slots=True)
class Said:
    code: int
    out: str
    err: str
    peak_mb: int


def profkit_import(
    folder: Path, *arguments: str | Path, stdin: int = subprocess.DEVNULL, pass_fds: tuple[int, ...] = ()
) -> Said:
    """Run the command, in a process of which the memory is measured."""
    measured = (
        "import resource, subprocess, sys\n"
        "command = [sys.executable, '-m', 'profkit', 'import', *sys.argv[1:]]\n"
        "code = subprocess.call(command, close_fds=False)\n"
        "peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024\n"
        "print(f'\\n{code} {peak}', file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", measured, *map(str, arguments)],
        cwd=folder, stdin=stdin, pass_fds=pass_fds, capture_output=True, text=True, timeout=PATIENCE_S,
        check=True,
    )  # fmt: skip
    err, _, last = done.stderr.rstrip("\n").rpartition("\n")
    code, peak_mb = map(int, last.split())
    return Said(code, done.stdout, err.rstrip("\n"), peak_mb)


def refused(said: Said, problem: str) -> None:
    """Nothing is kept, and one line says why."""
    assert said.code == 2, said.err
    assert said.out == ""
    assert problem in said.err
    assert said.err.startswith("profkit: error: ")
    assert "\n" not in said.err


@pytest.fixture
def kinds(tmp_path: Path) -> Path:
    """Things that are no files, and links to them."""
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "endless").symlink_to("/dev/zero")
    (tmp_path / "link").symlink_to("fifo")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("fifo", "fifo is a named pipe, which may block forever; name a file, or pipe its content to `-`"),
        ("link", "link is a named pipe"),
        ("socket", "socket is a socket"),
        ("folder", "folder is a directory"),
        ("endless", "endless is a device"),
    ],
)
def test_what_is_no_file(name: str, problem: str, kinds: Path) -> None:
    refused(profkit_import(kinds, name), problem)


def test_a_pipe_of_the_shell(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, FOLDED)
    os.close(writing)
    with os.fdopen(reading):
        said = profkit_import(tmp_path, f"/dev/fd/{reading}", "--label", "piped", pass_fds=(reading,))
    assert said.code == 0, said.err
    assert "piped" in said.out


def test_a_compressed_pipe(tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(FOLDED))
    with (tmp_path / "x.gz").open("rb") as packed:
        said = profkit_import(tmp_path, "-", stdin=packed.fileno())
    assert said.code == 0, said.err


@pytest.mark.gil
def test_a_pipe_that_never_ends(tmp_path: Path) -> None:
    with open("/dev/zero", "rb") as zeros:
        said = profkit_import(tmp_path, "-", "--max-bytes", "32M", stdin=zeros.fileno())
    refused(said, "stdin has more than 33,554,432 bytes")
    assert said.peak_mb < BASE_MB


def test_a_pipe_that_says_nothing(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading), os.fdopen(writing, "wb"):
        said = profkit_import(tmp_path, "-", "--max-seconds", "0.5", stdin=reading)
    refused(said, "stdin takes more than 0.5 s to read")


@pytest.mark.gil
def test_a_gzip_bomb_takes_no_more_memory_than_the_limit(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "bomb.gz", "wb", compresslevel=1) as bomb:
        for _ in range(40):
            bomb.write(bytes(10 << 20))
    said = profkit_import(tmp_path, "bomb.gz", "--max-bytes", "32M")
    refused(said, "bomb.gz has more than 33,554,432 bytes, uncompressed")
    assert said.peak_mb < BASE_MB


def nested_trace(calls: int) -> object:
    return [
        {"ph": "X", "name": "f", "pid": 1, "tid": 1, "ts": n, "dur": 2 * (calls - n)} for n in range(calls)
    ]


def nested_events(calls: int) -> object:
    opened = [{"type": "O", "frame": 0, "at": n} for n in range(calls)]
    closed = [{"type": "C", "frame": 0, "at": calls + n} for n in range(calls)]
    recorded = {"type": "evented", "name": "t", "unit": "none", "startValue": 0, "endValue": 2 * calls}
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": "f"}]},
        "profiles": [recorded | {"events": opened + closed}],
    }


def nested_stacks(calls: int) -> object:
    thread = {
        "name": "t", "pid": 1, "tid": 1, "stringArray": ["f"],
        "funcTable": {"length": 1, "name": [0], "fileName": [None]},
        "frameTable": {"length": 1, "func": [0], "line": [1]},
        "stackTable": {"length": calls, "frame": [0] * calls, "prefix": [None, *range(calls - 1)]},
        "samples": {"length": calls, "stack": list(range(calls))},
    }  # fmt: skip
    return {"meta": {"preprocessedProfileVersion": 50, "interval": 1}, "threads": [thread]}


@pytest.mark.parametrize("nested", [nested_trace, nested_events, nested_stacks])
@pytest.mark.slow
def test_nested_calls_take_no_quadratic_memory(nested: object, tmp_path: Path) -> None:
    """12,000 calls in each other are a megabyte of JSON, and were stacks of 580 MB."""
    assert callable(nested)
    (tmp_path / "x.json").write_text(json.dumps(nested(12_000)))
    said = profkit_import(tmp_path, "x.json")
    assert said.code == 0, said.err
    assert "Some stacks are too deep to be stored whole" in said.err
    assert said.peak_mb < 2 * BASE_MB
    refused(profkit_import(tmp_path, "--max-depth", "9000", "x.json"), "a stack of more than 9,000 frames")


@pytest.mark.gil
@pytest.mark.slow
def test_too_little_memory(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"".join(b"main;f%d 1\n" % n for n in range(700_000)))
    limited = "import resource, runpy, sys; LIMITS = 400 << 20, resource.RLIM_INFINITY; "
    limited += "resource.setrlimit(resource.RLIMIT_AS, LIMITS); "
    command = f"{limited}sys.argv[1:] = ['import', 'x.txt']; runpy.run_module('profkit', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S
    )
    refused(Said(done.returncode, done.stdout, done.stderr.rstrip("\n"), 0), "x.txt needs more memory")
