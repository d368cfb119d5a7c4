"""Which Python a command starts."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import pytest

from profkit.measuring.programs.executions import started_python


def script(folder: Path, first_line: str) -> Path:
    file = folder / "tool"
    file.write_text(f"{first_line}\nprint('hi')\n")
    file.chmod(0o755)
    return file


def test_an_interpreter_is_known_by_its_name() -> None:
    found = started_python([sys.executable, "app.py", "-x"], os.environ)
    assert found is not None
    assert found.version == platform.python_version()
    assert found.command([sys.executable, "app.py"], ["-X", "perf"]) == (
        *(sys.executable, "-X", "perf"),
        "app.py",
    )


@pytest.mark.parametrize("before", ["", "/usr/bin/env ", "/usr/bin/env -S "])
def test_a_script_names_its_interpreter(tmp_path: Path, before: str) -> None:
    python = sys.executable
    if before:
        (tmp_path / "python3").symlink_to(sys.executable)
        python = "python3"
    tool = script(tmp_path, f"#!{before}{python}{' -I' if '-S' in before else ''}")
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    found = started_python([str(tool), "-x"], environ)
    assert found is not None
    assert found.version == platform.python_version()
    command = found.command([str(tool), "-x"], ["-X", "perf"])
    assert command[-4:] == ("-X", "perf", str(tool), "-x")
    assert ("-I" in command) == ("-S" in before)


@pytest.mark.parametrize("first_line", ["#!/bin/sh", "import sys", "#!", "#!/no/such/python3"])
def test_other_programs_are_not_known(tmp_path: Path, first_line: str) -> None:
    assert started_python([str(script(tmp_path, first_line))], os.environ) is None


def test_a_command_that_does_not_exist_is_not_known() -> None:
    assert started_python(["no-such-command"], os.environ) is None
