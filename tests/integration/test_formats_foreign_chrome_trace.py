"""Chrome traces that other tools write are read as what ran. (speedscope reads profkit's: see there.)"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from profkit.formats import chrome_trace
from profkit.units import Unit

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
