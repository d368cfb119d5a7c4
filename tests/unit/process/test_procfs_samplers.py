"""Which processes count as samplers, by files as /proc has them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from profkit.model.session import SamplerPlan
from profkit.process.procfs import count_samplers
from profkit.samplers import cpython_process


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
    add_process(
        tmp_path, 13, "/usr/bin/python3.11", "python", "watchdog.py", "/venv/bin/py-spy", "-r", "100", "x"
    )
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
    words = cpython_process.command("/usr/bin/python3", 7, plan, tmp_path / "segment-000.stacks")
    add_process(tmp_path, 10, "/usr/bin/python3.14", *words)
    assert count_samplers(str(tmp_path)) == 1


def test_this_machine() -> None:
    assert count_samplers() >= 0
