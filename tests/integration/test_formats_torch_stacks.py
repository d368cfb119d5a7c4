"""Stacks that torch.profiler exports are read with its times."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from profkit.cli.files import runs_of_file
from profkit.model.run import Run
from profkit.transforms.tables import function_rows
from profkit.units import Unit

PROGRAM = """
import torch
from torch._C._profiler import _ExperimentalConfig
from torch.profiler import ProfilerActivity, profile

def inner(x):
    return torch.mm(x, x).relu()

def outer(x):
    for _ in range(3):
        x = inner(x)
    return x

x = torch.ones(100, 100)
with profile(
    activities=[ProfilerActivity.CPU], with_stack=True, experimental_config=_ExperimentalConfig(verbose=True)
) as profiler:
    outer(x)
profiler.export_stacks("stacks.txt", "self_cpu_time_total")
"""


@pytest.mark.torch
@pytest.mark.slow
def test_exported_stacks(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, check=True, capture_output=True, timeout=300)
    (run,) = runs_of_file(tmp_path / "stacks.txt")
    assert isinstance(run, Run)
    assert run.profile is not None
    assert run.info.imported is not None
    assert (run.info.imported.format, run.info.imported.tool) == ("collapsed", "torch.profiler")
    lines = (tmp_path / "stacks.txt").read_text("utf-8").splitlines()
    spent_us = sum(int(line.rpartition(" ")[2]) for line in lines)
    assert (run.profile.unit, run.profile.total_weight) == (Unit.NANOSECONDS, 1000 * spent_us)
    rows = {row.name: row for row in function_rows(run.profile)}
    assert rows["outer"].total_weight >= rows["inner"].total_weight > 0
    assert Path(rows["inner"].file).name == "program.py"
    in_mm = [row for name, row in rows.items() if name.startswith("<built-in_method_mm_")]
    assert len(in_mm) == 1
    assert in_mm[0].total_weight <= rows["inner"].total_weight
