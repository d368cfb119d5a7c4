"""Which processes count as samplers, by files as /proc has them."""

from __future__ import annotations

from pathlib import Path

from profkit.process.procfs import SamplerLoad, sampler_load


def add_process(proc: Path, pid: int, program: str | None, *arguments: str) -> None:
    folder = proc / str(pid)
    folder.mkdir()
    if program is not None:
        (folder / "exe").symlink_to(program)
    (folder / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in arguments))


def test_samplers_and_their_rates(tmp_path: Path) -> None:
    add_process(tmp_path, 10, "/venv/bin/py-spy", "py-spy", "record", "-p", "7", "-r", "100", "-d", "605")
    add_process(tmp_path, 11, "/usr/local/bin/py-spy", "py-spy", "record", "-r", "20", "--idle")
    add_process(tmp_path, 12, "/venv/bin/py-spy", "py-spy", "dump", "-p", "7")
    add_process(
        tmp_path, 13, "/usr/bin/python3.11", "python", "watchdog.py", "/venv/bin/py-spy", "-r", "100", "x"
    )
    add_process(tmp_path, 14, None)
    (tmp_path / "self").mkdir()
    assert sampler_load(str(tmp_path)) == SamplerLoad(count=2, rate_hz=120.0)


def test_this_machine() -> None:
    load = sampler_load()
    assert load.count >= 0
    assert load.rate_hz >= load.count
