"""Facts about processes, real ones and files as /proc has them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from profkit.model.session import SamplerPlan
from profkit.process import procfs
from profkit.process.procfs import count_samplers, quota_of_process, usable_processors
from profkit.samplers import cpython
from tests.support.folders import write_files

NOBODY = 2**22 + 1
"""Above the largest pid that Linux gives out."""
V2, V1 = "sys/fs/cgroup", "sys/fs/cgroup/cpu,cpuacct"


def test_a_process_is_itself_and_no_other():
    ticks = procfs.start_ticks(os.getpid())
    assert ticks is not None
    assert procfs.is_same_process(os.getpid(), ticks)
    assert not procfs.is_same_process(os.getpid(), ticks + 1)


def test_ticks_are_those_of_psutil():
    ticks = procfs.start_ticks(os.getpid())
    started_s = psutil.Process().create_time() - psutil.boot_time()
    assert ticks == pytest.approx(started_s * os.sysconf("SC_CLK_TCK"), abs=2)


def test_no_process_is_an_answer():
    assert procfs.start_ticks(NOBODY) is None
    assert not procfs.is_running(NOBODY)
    assert not procfs.is_same_process(NOBODY, 1)
    assert procfs.command_line(NOBODY) == ()
    assert procfs.status(NOBODY) == {}
    assert not procfs.catches_signal(NOBODY, signal.SIGINT)
    assert procfs.resident_bytes(NOBODY) == 0


def test_a_zombie_counts_as_gone():
    child = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    ticks = procfs.start_ticks(child.pid)
    assert ticks is not None
    assert not procfs.is_running(child.pid)
    assert not procfs.is_same_process(child.pid, ticks)
    child.wait()


def test_a_name_with_brackets_and_blanks_does_not_confuse(tmp_path: Path):
    program = tmp_path / "a) R (b"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([str(program), "60"]) as child:
        ticks = procfs.start_ticks(child.pid)
        child.kill()
    assert ticks is not None
    assert ticks > 1000


def test_signals_that_are_caught():
    before = signal.signal(signal.SIGUSR2, lambda *_: None)
    try:
        assert procfs.catches_signal(os.getpid(), signal.SIGUSR2)
    finally:
        signal.signal(signal.SIGUSR2, before)
    assert not procfs.catches_signal(os.getpid(), signal.SIGUSR2)


def test_the_command_line_keeps_empty_arguments():
    text = "print(flush=True); input()"
    argv = [sys.executable, "-c", text, "", "x y"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert procfs.command_line(child.pid)[-3:] == (text.encode(), b"", b"x y")


def test_this_process():
    assert procfs.resident_bytes(os.getpid()) == pytest.approx(psutil.Process().memory_info().rss, rel=0.2)
    link = os.readlink("/proc/self/ns/pid")
    assert link == f"pid:[{procfs.pid_namespace_inode(os.getpid())}]"
    assert all(map(procfs.is_dumpable, (os.getpid(), os.getppid(), NOBODY)))
    assert not procfs.is_of_other_namespace()
    assert not procfs.has_foreign_children()
    assert count_samplers() >= 0


def test_the_processor_has_a_frequency():
    frequency_hz = procfs.cpu_frequency_hz()
    assert frequency_hz is None or 1e8 < frequency_hz < 1e10


def test_frequency_from_cpuinfo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(psutil, "cpu_freq", lambda: None)
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\ncpu MHz\t\t: 2000.125\nprocessor\t: 1\ncpu MHz\t\t: 2500.5\n")
    assert procfs.cpu_frequency_hz(cpuinfo) == 2500.5e6
    cpuinfo.write_text("processor\t: 0\nBogoMIPS\t: 50.00\n")
    assert procfs.cpu_frequency_hz(cpuinfo) is None
    assert procfs.cpu_frequency_hz(tmp_path / "missing") is None


def test_a_machine_has_the_model_and_number_of_its_processors(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: AMD EPYC 7B13\nmodel name\t: AMD EPYC 7B13\n")
    assert procfs.machine_kind(cpuinfo) == f"AMD EPYC 7B13 × {os.cpu_count()}"
    assert procfs.machine_kind(tmp_path / "missing") == f"{os.uname().machine} × {os.cpu_count()}"


@pytest.mark.parametrize(
    ("text", "wait_s"), [("900000000 6000000 3\n", 0.002), ("0 0 0\n", 0.0), ("0\n", 0.0), (None, 0.0)]
)
def test_the_wait_for_a_processor(tmp_path: Path, text: str | None, wait_s: float):
    if text is not None:
        (tmp_path / "7").mkdir()
        (tmp_path / "7" / "schedstat").write_text(text)
    assert procfs.processor_wait_s(7, str(tmp_path)) == wait_s


def test_whose_namespace_a_proc_folder_shows(tmp_path: Path):
    assert not procfs.is_of_other_namespace(str(tmp_path / "missing"))
    (tmp_path / "self").symlink_to("77")
    assert procfs.is_of_other_namespace(str(tmp_path))


def test_where_children_start(tmp_path: Path):
    assert not procfs.has_foreign_children(str(tmp_path))  # Linux before 4.12
    namespaces = tmp_path / "self" / "ns"
    namespaces.mkdir(parents=True)
    for name, target in (("pid", "pid:[1]"), ("pid_for_children", "pid:[2]")):
        (namespaces / name).symlink_to(target)
    assert procfs.has_foreign_children(str(tmp_path))


def add_process(proc: Path, pid: int, program: str | None, *arguments: str) -> None:
    folder = proc / str(pid)
    folder.mkdir()
    if program is not None:
        (folder / "exe").symlink_to(program)
    (folder / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in arguments))


def test_processes_of_py_spy(tmp_path: Path) -> None:
    add_process(tmp_path, 10, "/venv/bin/py-spy", "py-spy", "record", "-p", "7", "-r", "100", "-d", "605")
    add_process(tmp_path, 11, "/usr/local/bin/py-spy", "py-spy", "record", "-r", "20", "--idle")
    add_process(tmp_path, 12, "/venv/bin/py-spy", "py-spy", "dump", "-p", "7")
    watchdog = ("python", "watchdog.py", "/venv/bin/py-spy", "-r", "100", "x")
    add_process(tmp_path, 13, "/usr/bin/python3.11", *watchdog)
    add_process(tmp_path, 14, None)
    (tmp_path / "self").mkdir()
    assert count_samplers(str(tmp_path)) == 2


HELPER = ("-I", "-S", "/venv/lib/python3.15/site-packages/profkit/samplers/helper/__main__.py", "--pid=7")


def test_processes_of_the_cpython_sampler(tmp_path: Path) -> None:
    python = "/usr/bin/python3.15"
    add_process(
        tmp_path, 10, python, python, *HELPER, "--rate=1000", "--only=all", "/spool/segment-000.stacks"
    )
    add_process(tmp_path, 11, python, python, *HELPER, "--rate=2.5", "/spool/segment-001.stacks")
    add_process(tmp_path, 12, python, python, "-I", "-S", "watchdog.py", python, *HELPER, "--rate=1000", "x")
    add_process(tmp_path, 13, python, python, "-c", "print()", *HELPER[2:], "--rate=1000")
    add_process(tmp_path, 14, "/usr/bin/setsid", "setsid", *HELPER, "--rate=1000")
    add_process(tmp_path, 15, python, python, *HELPER)
    add_process(tmp_path, 16, "/venv/bin/py-spy", "py-spy", "record", "-r", "20", "--idle")
    assert count_samplers(str(tmp_path)) == 3


def test_the_command_line_of_the_cpython_sampler_is_found(tmp_path: Path) -> None:
    plan = replace(SamplerPlan.unknown("cpython", scope="call", rate_hz=60.0), max_duration_s=600.0)
    words = cpython.command("/usr/bin/python3", 7, plan, tmp_path / "segment-000.stacks")
    add_process(tmp_path, 10, "/usr/bin/python3.14", *words)
    assert count_samplers(str(tmp_path)) == 1


def quota_files(folder: str, quota: int, period: int = 100_000) -> dict[str, str]:
    """Return the files of a quota of version 1."""
    return {f"{folder}/cpu.cfs_quota_us": f"{quota}\n", f"{folder}/cpu.cfs_period_us": f"{period}\n"}


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"proc/self/cgroup": "0::/app.slice\n", f"{V2}/app.slice/cpu.max": "150000 100000\n"}, 1.5),
        ({"proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "50000 100000\n"}, 0.5),
        ({f"{V2}/cpu.max": "max 100000\n"}, None),
        # A group above has the least quota.
        (
            {
                "proc/self/cgroup": "0::/pod.slice/app.scope\n",
                f"{V2}/pod.slice/app.scope/cpu.max": "400000 100000\n",
                f"{V2}/pod.slice/cpu.max": "150000 100000\n",
                f"{V2}/cpu.max": "max 100000\n",
            },
            1.5,
        ),
        (
            {
                "proc/self/cgroup": "0::/pod.slice/app.scope\n",
                f"{V2}/pod.slice/app.scope/cpu.max": "max 100000\n",
                f"{V2}/pod.slice/cpu.max": "300000 100000\n",
            },
            3,
        ),
        # The own group is outside the namespace that is visible.
        ({"proc/self/cgroup": "0::/../other\n", f"{V2}/cpu.max": "50000 100000\n"}, 0.5),
        (quota_files(f"{V2}/cpu", 25_000), 0.25),
        (quota_files(f"{V2}/cpu", -1), None),
        (quota_files(V1, 50_000), 0.5),
        # Version 1: the own path of the controller `cpu`, and what is above it.
        (
            {
                "proc/self/cgroup": "9:memory:/m\n4:cpu,cpuacct:/a/b\n0::/c\n",
                **quota_files(f"{V1}/a/b", 75_000),
            },
            0.75,
        ),
        (
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/a/b\n1:name=systemd:/c\n",
                **quota_files(f"{V1}/a/b", 200_000),
                **quota_files(f"{V1}/a", 75_000),
                **quota_files(V1, -1),
            },
            0.75,
        ),
        ({"proc/self/cgroup": "3:cpu:/a\n", **quota_files(f"{V2}/cpu/a", 10_000)}, 0.1),
        # A container sees its own group as the topmost one.
        ({"proc/self/cgroup": "4:cpu,cpuacct:/docker/01\n", **quota_files(V1, 50_000)}, 0.5),
        ({f"{V2}/cpu.max": "50000 0\n"}, None),
        ({}, None),
    ],
)
def test_quotas(files: dict[str, str], quota: float | None, tmp_path: Path) -> None:
    assert quota_of_process(write_files(tmp_path, files)) == quota


@pytest.mark.parametrize(
    ("quota", "expected"), [(50_000, 0.5), (10**9, os.cpu_count()), (-1, os.cpu_count())]
)
def test_a_quota_limits_the_processors(quota: int, expected: float, tmp_path: Path) -> None:
    assert usable_processors(write_files(tmp_path, quota_files(V1, quota))) == expected
