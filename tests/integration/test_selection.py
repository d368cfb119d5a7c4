from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
CONFTEST = """
from tests.support.selection import SelectionReport

def pytest_configure(config):
    config.pluginmanager.register(SelectionReport())
"""


@pytest.mark.parametrize("processes", [0, 2])
@pytest.mark.slow
def test_deselected_tests_are_counted(processes: int, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text("".join(f"def test_{name}(): pass\n" for name in ("a", "b", "c")))
    command = [sys.executable, "-m", "pytest", "-n", str(processes), "-k", "not a", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, str(tmp_path), f"--rootdir={tmp_path}"], cwd=CHECKOUT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout
    assert "3 collected, 1 deselected" in run.stdout.splitlines()
    assert "2 passed" in run.stdout
