"""How much memory processes use, and how much they may."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from profkit.measuring.pool.jobs import SHARE, default_limit_bytes, usable_bytes
from profkit.measuring.worker.processes import MemoryLimit, most_bytes, pause_s, shared_bytes

MIB = 1 << 20
GIB = 1 << 30


@pytest.mark.parametrize(("room", "pause"), [(-GIB, 0.05), (0, 0.05), (GIB, 0.125), (64 * GIB, 1.0)])
def test_looks_are_rare_while_there_is_room(room: int, pause: float) -> None:
    assert pause_s(room) == pause


@pytest.mark.gil
def test_memory_that_is_written_to_counts_and_reserved_does_not() -> None:
    before = most_bytes([os.getpid()])
    reserved = mmap.mmap(-1, 256 * MIB)
    assert most_bytes([os.getpid()]) - before < 64 * MIB
    written = b"x" * (128 * MIB)
    assert most_bytes([os.getpid()]) - before > 120 * MIB
    reserved.close()
    del written


def test_pages_that_processes_share_count_once() -> None:
    program = """
import os, sys
held = b"x" * (64 << 20)
reading, writing = os.pipe()
pids = []
for _ in range(4):
    pids.append(os.fork())
    if not pids[-1]:
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
print(*pids, flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        pids = [process.pid, *map(int, process.stdout.readline().split())]
        assert most_bytes(pids) > 5 * 64 * MIB
        assert 64 * MIB < shared_bytes(pids) < 2 * 64 * MIB
        assert MemoryLimit(150 * MIB).excess(pids) is None
        excess = MemoryLimit(60 * MIB).excess(pids)
        assert excess is not None
        assert 64 * MIB < excess < 2 * 64 * MIB
        process.communicate("")


def test_processes_that_are_gone_use_nothing() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert most_bytes([process.pid]) == shared_bytes([process.pid]) == 0


def machine(root: Path, total_kb: int, groups: str, limits: dict[str, str]) -> Path:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text(f"MemTotal:  {total_kb} kB\nMemFree:  1 kB\n")
    (root / "proc/self/cgroup").write_text(groups)
    for name, limit in limits.items():
        file = root / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(limit)
    return root


@pytest.mark.parametrize(
    ("groups", "limits", "usable"),
    [
        ("", {}, 8 * GIB),
        ("0::/\n", {"memory.max": "max\n"}, 8 * GIB),
        ("0::/a/b\n", {"a/b/memory.max": "max\n", "a/memory.max": f"{GIB}\n"}, GIB),
        ("0::/a/b\n", {"a/b/memory.max": f"{2 * GIB}\n", "a/memory.max": f"{4 * GIB}\n"}, 2 * GIB),
        ("0::/../other\n", {"memory.max": f"{GIB}\n"}, GIB),
        ("4:memory:/x\n0::/\n", {"memory/x/memory.limit_in_bytes": f"{GIB}\n"}, GIB),
        ("4:memory:/x\n", {"memory/memory.limit_in_bytes": "9223372036854771712\n"}, 8 * GIB),
        ("4:cpu,memory:/\n", {"memory/memory.limit_in_bytes": f"{GIB}"}, GIB),
    ],
)
def test_a_container_has_what_its_groups_may_use(
    tmp_path: Path, groups: str, limits: dict[str, str], usable: int
) -> None:
    assert usable_bytes(machine(tmp_path, 8 << 20, groups, limits)) == usable


def test_a_worker_may_use_half_of_this_machine() -> None:
    assert default_limit_bytes() == int(usable_bytes() * SHARE)
