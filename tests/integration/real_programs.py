"""Real programs, run with and without `profkit run`: what they print, how they end, and their open files."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.integration.harness import ROOT, environment

PROFKIT_RUN = ("-m", "profkit", "run", "-q")
# Python imports it at the start, and calls what it registers last.
OPEN_FILES = """
import atexit, gc, os, sys
@atexit.register
def write(place=os.environ["OPEN_FILES"], pid=os.getpid()):
    words = " ".join(sys.orig_argv)
    if pid != os.getpid() or "profkit run" in words or "multiprocessing" in words:
        return  # the launcher, or a process that a pool may end before
    gc.collect()  # else it depends on allocations whether files of garbage are open
    files = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            files[int(name)] = os.readlink(f"/proc/self/fd/{name}").partition(":[")[0]
        except OSError:
            pass
    with open(os.path.join(place, str(os.getpid())), "w") as file:
        print(sorted(files.items()), file=file)
"""
VARIES = re.compile(r"0x[0-9a-f]+|\d\d:\d\d:\d\d|\d+(?:\.\d+)? ?(?:[num]?sec|[num\u03bc]?s)\b|\d{4,}")

Seen = tuple[str, str, int, list[str]]
"""Output, errors, exit code, and the open files at the end of each Python program."""


def run(folder: Path, before: Sequence[str], arguments: Sequence[str]) -> Seen:
    with TemporaryDirectory(dir=folder.parent) as place:
        site = Path(place, "site")
        site.mkdir()
        (site / "sitecustomize.py").write_text(OPEN_FILES)
        done = subprocess.run(
            [sys.executable, *before, *arguments],
            cwd=folder, env=environment(OPEN_FILES=place, PYTHONPATH=f"{ROOT}:{site}"),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        files = [file.read_text() for file in Path(place).iterdir() if file.name.isdigit()]
    return VARIES.sub("N", done.stdout), VARIES.sub("N", done.stderr), done.returncode, sorted(files)


def serve(folder: Path, command: Sequence[str], path: str, answer: str) -> tuple[str, int]:
    """Run a server that prints its port and each request, ask it once, and end it as Ctrl-C does."""
    server = subprocess.Popen(
        [sys.executable, "-u", *command],
        cwd=folder, env=environment(NO_COLOR="1"), start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    lines: list[str] = []

    def read_until(pattern: str) -> re.Match[str]:
        while (found := re.search(pattern, "".join(lines))) is None:
            lines.append(server.stdout.readline())
            assert lines[-1], lines
        return found

    port = read_until(r"(?:port |127\.0\.0\.1:)(\d+)")[1]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}") as answered:
        assert answered.read().decode() == answer
    read_until(path)
    os.killpg(server.pid, signal.SIGINT)
    with server:
        printed = "".join([*lines, *server.stdout])
    return VARIES.sub("N", re.sub(r"\[\d.*?\]", "", printed)), server.returncode
