"""Compilations of real PyTorch as runs: by `torch_compile.enable()` and by `profkit run --torch-compile`.

PyTorch's hook keeps its state on a class: each test runs a program.
"""

from __future__ import annotations

import ast
import json
import subprocess
from pathlib import Path

import pytest

from tests.integration.harness import environment, run_program

pytestmark = [pytest.mark.sampler, pytest.mark.torch]

BEGINNING = """
import torch
from torch._strobelight.compile_time_profiler import StrobelightCompileTimeProfiler as Hook
from profkit.integrations import torch_compile

ones = torch.ones(4)
def phases(compilations):
    found = [(run.info.region.key.qualname, run.info.region.compilation) for run in compilations.runs]
    return [(name, one.frame, one.phase, one.inside) for name, one in found]
"""
GRAPHS = """
from torch._dynamo.utils import counters

def broken(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return y + 1

def numbers():
    torch._dynamo.reset()
    counters.clear()
    graphs = []
    def backend(graph, inputs):
        graphs.append(graph.code)
        return graph.forward
    assert torch.equal(torch.compile(broken, backend=backend)(ones), ones.sin() + 1)
    return graphs, sum(counters["graph_break"].values()), dict(counters["frames"])
"""
"""Defines `numbers`, which compiles a function with a graph break anew."""


def python(folder: Path, program: str, *argv: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program, or a module given by `argv`, with a spool and a store of its own."""
    places = {"PROFKIT_SPOOL": str(folder / "spool"), "PROFKIT_STORE": f"sqlite:///{folder}/runs.db"}
    return run_program(
        folder, argv or ["-c", BEGINNING + program], environ=environment(**places, **variables)
    )


def test_each_frame_and_phase_is_a_run(tmp_path: Path) -> None:
    done = python(
        tmp_path,
        """
compilations = torch_compile.enable(rate=200)
assert compilations.active and compilations.runs == ()

def broken(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return y + 1

class Net(torch.nn.Module):
    def forward(self, x):
        return x * 2

for backend in ("eager", "aot_eager"):
    torch._dynamo.reset()
    compiled = torch.compile(broken, backend=backend)
    assert torch.equal(compiled(ones), ones.sin() + 1)
    assert torch.equal(compiled(ones), ones.sin() + 1)  # nothing is compiled again
found = phases(compilations)
assert found[0] == ("broken", "0/0", "compile_inner", ""), found
assert found[1][1:] == ("1/0", "compile_inner", ""), found
assert len(found) == 2 and found[1][0].startswith("torch_dynamo_resume_in_broken"), found
assert [run.info.calls for run in compilations.runs] == [2, 2]

compiled(torch.ones(2, 3))  # both frames again, with another shape
assert {frame for _, frame, _, _ in phases(compilations)} == {"0/0", "1/0", "0/1", "1/1"}

torch.export.export(Net(), (ones,))
assert phases(compilations)[-1] == ("Net", "", "export", "")

def exporting(graph, inputs):
    torch.export.export(Net(), (ones,))
    return graph.forward

def outer(x):
    return x + 5

assert torch.equal(torch.compile(outer, backend=exporting)(ones), ones + 5)
frame = phases(compilations)[-2][1]
assert phases(compilations)[-2:] == [
    ("outer", frame, "compile_inner", ""), ("Net", frame, "export", f"outer {frame} compile_inner"),
], phases(compilations)

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
assert not Hook.inside_profile_compile_time and Hook.ignored_profile_runs == 0
raised = [run for run in compilations.runs if run.info.raised]
assert [run.info.region.key.qualname for run in raised] == ["refused"]

before = len(compilations.runs)
assert torch.equal(torch.compile(lambda x: x - 1, backend="eager")(ones), ones - 1)
assert len(compilations.runs) == before + 1
assert Hook.failed_profile_count == 0, Hook.failed_profile_count
assert "frames in" in compilations.report()

compilations.disable()
assert not compilations.active and not Hook.enabled
assert torch.equal(torch.compile(lambda x: x - 2, backend="eager")(ones), ones - 2)
assert len(compilations.runs) == before + 1

with torch_compile.enable() as again:
    assert again.active and not compilations.active
    assert torch.equal(torch.compile(lambda x: x - 3, backend="eager")(ones), ones - 3)
assert not again.active and [phase for _, _, phase, _ in phases(again)] == ["compile_inner"]
""",
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "strobelight" not in done.stderr  # the hook's own messages

    shown = python(tmp_path, "", "-m", "profkit", "report", "--compile", "--json")
    document = json.loads(shown.stdout)
    assert {frame["function"] for frame in document["frames"]} >= {"broken", "Net", "refused"}
    (failed,) = (frame for frame in document["frames"] if frame["function"] == "refused")
    assert failed["phases"][0]["raised"] == 1
    assert sum(stage["share"] for stage in document["stages"]) == pytest.approx(1)
    assert document["total_s"] > 0


@pytest.mark.slow
def test_graphs_are_those_without_the_hook(tmp_path: Path) -> None:
    done = python(
        tmp_path,
        GRAPHS
        + """
plain = numbers()
with torch_compile.enable():
    assert numbers() == plain
assert numbers() == plain
""",
    )
    assert done.returncode == 0, done.stderr


def test_another_profiler_keeps_the_hook(tmp_path: Path) -> None:
    done = python(
        tmp_path,
        """
from profkit import FunctionProfiler
from profkit.pytorch.errors import HookBusy

Hook.enable(profiler_class=FunctionProfiler)
other = Hook.profiler
compilations = torch_compile.enable()
assert not compilations.active and compilations.runs == () and compilations.report() == ""
compilations.disable()
torch_compile.disable()
assert Hook.enabled and Hook.profiler is other
try:
    torch_compile.enable(stop_at_error=True)
except HookBusy:
    pass
else:
    raise AssertionError("the hook is used by another profiler")
""",
    )
    assert done.returncode == 0, done.stderr
    assert (
        "compilations run unprofiled: PyTorch's compile-time hook is used by FunctionProfiler" in done.stderr
    )


@pytest.mark.slow
def test_pytorchs_variables_and_options(tmp_path: Path) -> None:
    done = python(
        tmp_path,
        """
from profkit.errors import UnknownOption

def settings(**options):
    torch_compile.enable(**options)
    return Hook.profiler._settings

assert settings().sampler.sample_each == 3e7
assert settings().extras.stack_max_len == 70
assert settings(rate=50, stack_max_len=90).sampler.sample_each is None
assert settings(rate=50, stack_max_len=90).extras.stack_max_len == 90
assert settings().sampler.max_duration_s == 900
try:
    torch_compile.enable(label="x")
except UnknownOption as error:
    assert "label" in str(error)
else:
    raise AssertionError("phases have labels of their own")
assert not torch_compile.enable(enabled=False).active
""",
        COMPILE_STROBELIGHT_SAMPLE_RATE="3e7",
        COMPILE_STROBELIGHT_MAX_PROFILE_TIME="900",
        COMPILE_STROBELIGHT_MAX_STACK_LENGTH="70",
    )
    assert done.returncode == 0, done.stderr


PROGRAM = """
import sys
import torch

@torch.compile(backend="eager")
def scale(x):
    return x * 2 + 1

print(scale(torch.ones(2)).tolist())
sys.exit(3)
"""


@pytest.mark.slow
def test_a_whole_program(tmp_path: Path) -> None:
    script = tmp_path / "app.py"
    script.write_text(PROGRAM)
    done = python(tmp_path, "", "-m", "profkit", "run", "--torch-compile", str(script))
    assert (done.returncode, done.stdout) == (3, "[3.0, 3.0]\n"), done.stderr
    assert "1 frame in 1 phase" in done.stderr
    assert "strobelight" not in done.stderr
    listed = json.loads(python(tmp_path, "", "-m", "profkit", "list", "--json").stdout)
    assert sorted(run["label"] for run in listed["runs"]) == ["app.py", "scale 0/0 compile_inner"]
    assert not any("options" in note["text"] for run in listed["runs"] for note in run["notes"])


def test_a_program_without_torch(tmp_path: Path) -> None:
    done = python(tmp_path, "", "-m", "profkit", "run", "--torch-compile", "-c", "print('as ever')")
    assert (done.returncode, done.stdout) == (0, "as ever\n"), done.stderr
    assert "torch compiled nothing" in done.stderr


@pytest.mark.full
def test_inductor_compiles_the_backward_later(tmp_path: Path) -> None:
    done = python(
        tmp_path,
        """
compilations = torch_compile.enable()

@torch.compile(backend="inductor", dynamic=True)
def loss(x):
    return (x.sin() + 1).sum()

x = torch.ones(8, requires_grad=True)
loss(x).backward()
assert torch.allclose(x.grad, torch.ones(8).cos())
found = phases(compilations)
assert [(name, frame, phase) for name, frame, phase, _ in found] == [
    ("loss", "0/0", "compile_inner"), ("loss", "0/0", "backward"),
], found
print(compilations.report())
""",
        TORCHINDUCTOR_CACHE_DIR=str(tmp_path / "cache"),
        TORCHINDUCTOR_COMPILE_THREADS="1",
    )
    assert done.returncode == 0, done.stderr
    assert "inductor" in done.stdout


ENABLED = """
import torch
from torch._strobelight.compile_time_profiler import StrobelightCompileTimeProfiler as Hook
from profkit import FunctionProfiler

Hook.enable(profiler_class=FunctionProfiler)
assert Hook.enabled and type(Hook.profiler) is FunctionProfiler
ones = torch.ones(4)
"""
"""PyTorch's hook takes FunctionProfiler in place of its own class, and cannot be swapped once enabled."""
HOOK_SCENES = {
    "every compilation is a success with a result": """
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
    "graphs are those without the hook": GRAPHS
    + """
hooked = numbers()
assert Hook.success_profile_count == 2
Hook.enabled = False
assert numbers() == hooked
""",
    "export is a phase too": """
class Twice(torch.nn.Module):
    def forward(self, x):
        return x * 2

program = torch.export.export(Twice(), (ones,))
assert torch.equal(program.module()(ones), ones * 2)
assert Hook.current_phase == "export"
assert Hook.success_profile_count >= 1 and Hook.failed_profile_count == 0
""",
    "a compilation that raises does not leave the hook stuck": """
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
    "only its own profiler lets the hook go": """
def fail():
    raise LookupError("mine")

Hook.inside_profile_compile_time = True  # a compilation is at work, under the hook's profiler
try:
    FunctionProfiler(label="another").profile(fail)
except LookupError:
    pass
assert Hook.inside_profile_compile_time
""",
    "compilations are kept as runs": """
@torch.compile(backend="eager")
def f(x):
    return x.sin() + 1

f(ones)
run = Hook.profiler.last_run
assert run is not None and run.info.calls == 1
assert run.info.region.user.startswith("pt2-profiler/")
assert run.info.region.tags == (Hook.identifier,)
""",
    "options arrive as pytorch passes them": """
profiler = FunctionProfiler(
    sample_each=1e7, max_profile_duration_sec=1800, stack_max_len=500, async_stack_max_len=500,
    run_user_name="pt2-profiler/me", sample_tags={"a tag"},
)
assert profiler.profile(lambda a, b=1: a + b, 1, b=2) == 3
assert profiler.profile_result is not None
""",
}


@pytest.mark.slow
def test_pytorchs_hook_with_profkits_class(tmp_path: Path) -> None:
    """Each scene is a child process of its own: importing torch takes longer than a scene."""
    scenes = "".join(
        f"if os.fork() == 0:\n    exec({scene!r}, globals())\n    sys.exit()\n"
        f"ended[{name!r}] = os.wait()[1]\n"
        for name, scene in HOOK_SCENES.items()
    )
    program = f"import os, sys, torch._dynamo.convert_frame\n{ENABLED}ended = {{}}\n{scenes}print(ended)"
    done = run_program(tmp_path, ["-c", program], code=0)
    assert ast.literal_eval(done.stdout) == dict.fromkeys(HOOK_SCENES, 0), done.stderr
