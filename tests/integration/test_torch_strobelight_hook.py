"""PyTorch's hook for profiling compilations takes FunctionProfiler in place of its own class.

The hook keeps its state on a class and cannot be swapped once enabled: each test runs a program.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.harness import environment
from tests.integration.torch_graphs import GRAPHS

pytestmark = [pytest.mark.sampler, pytest.mark.torch]

ENABLED = """
import torch
from torch._strobelight.compile_time_profiler import StrobelightCompileTimeProfiler as Hook
from profkit import FunctionProfiler

Hook.enable(profiler_class=FunctionProfiler)
assert Hook.enabled and type(Hook.profiler) is FunctionProfiler
ones = torch.ones(4)
"""


def run(folder: Path, program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENABLED + program],
        cwd=folder, env=environment(), timeout=240, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_every_compilation_is_a_success_with_a_result(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
@torch.compile(backend="eager")
def f(x):
    return x.sin() + 1

@torch.compile(backend="eager", fullgraph=True)
def g(x):
    return x.cos() * 2

assert torch.equal(f(ones), ones.sin() + 1)
assert (Hook.success_profile_count, Hook.failed_profile_count) == (1, 0)
assert torch.equal(g(ones), ones.cos() * 2)
assert torch.equal(f(torch.ones(2, 3)), torch.ones(2, 3).sin() + 1)
assert (Hook.success_profile_count, Hook.failed_profile_count) == (3, 0)
lines = Hook.profiler.profile_result
assert lines and all(isinstance(line, str) for line in lines)
assert Hook.profiler.current_run_id is not None
assert not Hook.inside_profile_compile_time and Hook.ignored_profile_runs == 0
""",
    )


@pytest.mark.slow
def test_graphs_are_those_without_the_hook(tmp_path: Path) -> None:
    run(
        tmp_path,
        GRAPHS
        + """
hooked = numbers()
assert Hook.success_profile_count == 2
Hook.enabled = False
assert numbers() == hooked
""",
    )


@pytest.mark.slow
def test_export_is_a_phase_too(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
class Twice(torch.nn.Module):
    def forward(self, x):
        return x * 2

program = torch.export.export(Twice(), (ones,))
assert torch.equal(program.module()(ones), ones * 2)
assert Hook.current_phase == "export"
assert Hook.success_profile_count >= 1 and Hook.failed_profile_count == 0
""",
    )


@pytest.mark.slow
def test_a_compilation_that_raises_does_not_leave_the_hook_stuck(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
@torch.compile(backend="eager", fullgraph=True)
def refused(x):
    torch._dynamo.graph_break()
    return x

try:
    refused(ones)
except torch._dynamo.exc.Unsupported:
    pass
else:
    raise AssertionError("fullgraph=True takes no graph break")
assert not Hook.inside_profile_compile_time

@torch.compile(backend="eager")
def fine(x):
    return x + 1

before = Hook.success_profile_count
assert torch.equal(fine(ones), ones + 1)
assert Hook.success_profile_count == before + 1 and Hook.ignored_profile_runs == 0
""",
    )


@pytest.mark.slow
def test_only_its_own_profiler_lets_the_hook_go(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
def fail():
    raise LookupError("mine")

Hook.inside_profile_compile_time = True  # a compilation is at work, under the hook's profiler
try:
    FunctionProfiler(label="another").profile(fail)
except LookupError:
    pass
assert Hook.inside_profile_compile_time
""",
    )


@pytest.mark.slow
def test_compilations_are_kept_as_runs(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
@torch.compile(backend="eager")
def f(x):
    return x.sin() + 1

f(ones)
run = Hook.profiler.last_run
assert run is not None and run.info.calls == 1
assert run.info.region.user.startswith("pt2-profiler/")
assert run.info.region.tags == (Hook.identifier,)
""",
    )


@pytest.mark.slow
def test_options_arrive_as_pytorch_passes_them(tmp_path: Path) -> None:
    """`sample_tags` comes as a set, `sample_each` in cycles."""
    run(
        tmp_path,
        """
profiler = FunctionProfiler(
    sample_each=1e7, max_profile_duration_sec=1800, stack_max_len=500, async_stack_max_len=500,
    run_user_name="pt2-profiler/me", sample_tags={"a tag"},
)
assert profiler.profile(lambda a, b=1: a + b, 1, b=2) == 3
assert profiler.profile_result is not None
""",
    )
