"""What reports say about child processes and machine code, as py-spy records them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.sampler

WORKER = """
import sys, time
def spin(until):
    while time.thread_time() < until: pass
spin(time.thread_time() + 1)
"""
PARENT = """
import subprocess, sys
import profkit

@profkit.profile(subprocesses=True, threads={threads}, rate=100)
def work():
    subprocess.run([sys.executable, "worker.py", "x" * 150], check=True)

work()
"""
NATIVE = """
import os, zlib
import profkit

@profkit.profile(native=True, rate=100)
def work():
    data = os.urandom(1 << 20)
    for _ in range(12):
        zlib.compress(data)

work()
"""


def run_and_report(folder: Path, program: str) -> tuple[dict[str, Any], str]:
    """Run a program, and return the report of its newest run as JSON and as text."""
    (folder / "program.py").write_text(program, "utf-8")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PROFKIT_")}

    def run(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("program.py")
    return json.loads(run("-m", "profkit", "report", "work", "--json")), run(
        "-m", "profkit", "report", "work"
    )


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.slow
def test_children_are_shown_under_a_node_of_their_own(tmp_path: Path, threads: bool) -> None:
    (tmp_path / "worker.py").write_text(WORKER, "utf-8")
    document, text = run_and_report(tmp_path, PARENT.format(threads=threads))
    children = document["tree"]["children"]
    (node,) = [child for child in children if " [pid " in child["name"]]
    # py-spy 0.4 reads a command once: between fork and exec it is that of the parent.
    seen_before_exec = node["name"].startswith("python program.py [pid ")
    assert seen_before_exec or "worker.py [pid " in node["name"]
    assert node["total_samples"] >= 20
    spin = next(row for row in document["functions"] if row["name"] == "spin")
    assert spin["self_samples"] >= 20
    assert spin["total_samples"] <= node["total_samples"]
    # The calls of the parent are shown from the region on, as without children.
    assert "work" in {child["name"] for child in children}
    assert max(len(child["name"]) for child in children) < 60
    # Commands are in the details, not in names.
    assert "x" * 50 not in text.split("Hottest lines")[0]
    assert ("x" * 150 in node["file"]) is not seen_before_exec


@pytest.mark.gil
def test_machine_code_without_symbols_has_the_name_of_its_library(tmp_path: Path) -> None:
    document, _ = run_and_report(tmp_path, NATIVE)
    names = {row["name"] for row in document["functions"]}
    assert document["run"]["samples"] >= 10
    assert not [name for name in names if name.startswith("0x")]
    libz = sum(row["self_samples"] for row in document["functions"] if "libz.so" in row["file"])
    assert libz >= 0.5 * document["run"]["samples"]
