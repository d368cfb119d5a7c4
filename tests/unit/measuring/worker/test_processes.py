"""Finding and ending descendants, in a program of its own that adopts orphans."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from profkit.measuring.pool.jobs import SHARE, default_limit_bytes, usable_bytes
from profkit.measuring.worker import processes
from profkit.measuring.worker.processes import MemoryLimit, most_bytes, pause_s, shared_bytes

PROGRAM = """
import os, sys, time
from profkit.measuring.worker import processes
from profkit.measuring.worker.processes import adopt_orphans, descendants, end_descendants
adopt_orphans()
told, tell = os.pipe()
def start(*steps):
    pid = os.fork()
    if pid:
        return pid
    os.closerange(0, 3)  # or the test waits for those whom it should have ended
    for step in steps:
        if step == "session":
            os.setsid()
        elif os.fork():
            if step == "orphan":
                os._exit(0)
            break
    os.write(tell, b".")
    time.sleep(60)
    os._exit(0)
def await_told(count):
    while count:
        count -= len(os.read(told, count))
def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
"""


def run(text: str) -> str:
    done = subprocess.run([sys.executable, "-c", PROGRAM + text], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


FAMILY = """
spared = start()
start(); start("session"); start("child", "session"); start("session", "orphan"); start("orphan", "orphan")
await_told(7)
"""
CHECK = """
deadline_s = time.monotonic() + 30
while len(descendants(os.getpid())) != 7:  # those between are still ending
    reap()
    assert time.monotonic() < deadline_s, descendants(os.getpid())
assert end_descendants({spared}, reap, 30)
assert descendants(os.getpid()) == {spared}
assert end_descendants((), reap, 30)
assert descendants(os.getpid()) == set()
"""


@pytest.mark.parametrize("lists", ["", "processes._has_lists = lambda: False\n"], ids=["lists", "scan"])
def test_all_kinds_of_descendants_are_found_and_ended(lists: str) -> None:
    run(lists + FAMILY + CHECK)


def test_those_who_start_others_meanwhile_are_ended_too() -> None:
    run("""
for _ in range(3):
    if os.fork() == 0:
        os.write(tell, b".")
        while True:
            if os.fork():
                os._exit(0)
            time.sleep(0.0005)
await_told(3)
assert end_descendants((), reap, 30)
time.sleep(0.01)
reap()
assert descendants(os.getpid()) == set()
""")


def test_zombies_of_the_spared_are_nobodys_business() -> None:
    run("""
spared = os.fork()
if spared == 0:
    if os.fork() == 0:
        os._exit(0)
    os.write(tell, b".")
    time.sleep(60)
    os._exit(0)
await_told(1)
assert end_descendants({spared}, reap, 30)
os.kill(spared, 9)
""")


def test_who_cannot_be_ended_is_reported_at_the_deadline() -> None:
    run("""
processes.kill, kill = lambda pid: None, processes.kill
pid = start()
await_told(1)
assert not end_descendants((), reap, 0.05)
kill(pid)
""")


def test_a_process_that_is_gone_has_no_descendants(tmp_path: Path) -> None:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    assert processes.descendants(done.pid) == set()


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
