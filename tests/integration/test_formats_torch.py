"""Files that torch.profiler and py-spy write: stacks, and traces of Chrome's format."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from profkit.cli.files import runs_of_file
from profkit.formats import chrome_trace
from profkit.model.run import Run
from profkit.transforms.tables import function_rows
from profkit.units import Unit

STACKS = """
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
    (tmp_path / "program.py").write_text(STACKS, "utf-8")
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


TRACED = """
import sys
import torch

def train():
    return torch.ones(64, 64) @ torch.ones(64, 64)

with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], with_stack=True) as profiler:
    train()
profiler.export_chrome_trace(sys.argv[1])
"""

SPINNING = """
import time

def spin():
    end = time.thread_time() + 0.5
    while time.thread_time() < end:
        sum(range(100))

spin()
"""


@pytest.mark.sampler
@pytest.mark.gil
def test_what_py_spy_writes_is_read(tmp_path: Path) -> None:
    script, output = tmp_path / "spinning.py", tmp_path / "py-spy.trace.json"
    script.write_text(SPINNING)
    program = Path(sys.executable).with_name("py-spy")
    command = [str(program), "record", "-f", "chrometrace", "--full-filenames", "-o", str(output), "--"]
    subprocess.run([*command, sys.executable, str(script)], check=True, timeout=60)
    data = output.read_bytes()
    assert chrome_trace.sniff(data)
    assert chrome_trace.origin_of(data).tool == "py-spy"
    profile = chrome_trace.decode(data, output)
    assert {frame.file for frame in profile.frames if frame.name == "spin"} == {str(script)}
    spinning = [stack for stack in profile.stacks if profile.frames[stack[-1]].name == "spin"]
    assert {profile.frames[stack[-2]].name for stack in spinning} == {"<module>"}


@pytest.mark.torch
@pytest.mark.slow
def test_what_torch_writes_is_read(tmp_path: Path) -> None:
    script, output = tmp_path / "traced.py", tmp_path / "torch.trace.json"
    script.write_text(TRACED)
    subprocess.run([sys.executable, str(script), str(output)], check=True, timeout=120)
    data = output.read_bytes()
    assert chrome_trace.sniff(data)
    assert chrome_trace.origin_of(data).tool == "torch.profiler"
    profile = chrome_trace.decode(data, output)
    assert profile.unit is Unit.NANOSECONDS
    stacks = [[profile.frames[frame].name for frame in stack] for stack in profile.stacks]
    (product,) = {tuple(stack[: stack.index("aten::mm") + 1]) for stack in stacks if "aten::mm" in stack}
    assert product[-2:] == ("aten::matmul", "aten::mm")
    assert "train" in product
    (train,) = (frame for frame in profile.frames if frame.name == "train")
    assert (Path(train.file).name, train.line) == ("traced.py", 5)
    # One thread ran, and nothing stands for the capture itself.
    assert len(profile.threads) == 1
    assert not any(frame.name.startswith("PyTorch Profiler") for frame in profile.frames)
