"""pytest-xdist and pytest-cov: a suite of decorated functions has the same results and the same coverage."""

from __future__ import annotations

import json
import re
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.neighbours.harness import both, seen

COVERAGE = ["--cov=decorated_code", "--cov-branch", "--cov-report=json", "--cov-report=term"]
CONFIGURATION = {
    "neither": ["-p", "no:xdist", "-p", "no:cov"],
    "xdist": ["-n", "2", "-p", "no:cov"],
    "cov": ["-p", "no:xdist", *COVERAGE],
    "both": ["-n", "2", *COVERAGE],
}
FILES = ["decorated_code.py", "suite_of_decorated.py"]


def said(done: CompletedProcess[str]) -> str:
    """The output without durations; lines in an order of their own, since workers take turns."""
    text = re.sub(r"/(bare|profiled)\b", "/FOLDER", done.stdout + done.stderr)
    text = re.sub(r"\[gw\d\] |in [\d.]+s|0x[0-9a-f]+", "", text)
    lines = [line.strip("= ") for line in text.splitlines() if "/profkit/" not in line]
    return "\n".join(sorted(re.sub(r"^[.FEs]+ +\[.*%\]$", "", line) for line in lines))


@pytest.mark.parametrize("plugins", CONFIGURATION)
def test_same_results(tmp_path: Path, plugins: str) -> None:
    argv = ["-m", "pytest", "-p", "no:cacheprovider", "--tb=line", "-rA", *CONFIGURATION[plugins]]
    pair = both(tmp_path, [*argv, "suite_of_decorated.py"], copy=FILES)
    assert said(pair.profiled) == said(pair.bare)
    assert pair.profiled.returncode == pair.bare.returncode == 1
    found = seen(pair.folder)
    assert found["classify"].calls == 8
    assert found["numbers"].calls == 2
    assert found["wait"].calls == 2
    assert found["fails"].raised == 2
    if plugins in ("cov", "both"):
        assert coverage_of(pair.folder) == coverage_of(pair.folder.parent / "bare")


def coverage_of(folder: Path) -> object:
    """The executed and missing lines and branches of each file."""
    return json.loads((folder / "coverage.json").read_text("utf-8"))["files"]
