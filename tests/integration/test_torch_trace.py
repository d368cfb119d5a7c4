"""mode="trace" with real PyTorch: operators that are known exactly, ranges, and what must not break."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.harness import environment

pytestmark = [pytest.mark.sampler, pytest.mark.torch]

BEGINNING = """
import torch
from profkit import profile, profiled

model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
x = torch.ones(3, 8)
def calls(run, name):
    return {row.shapes: row.calls for row in run.trace.operators if row.name == name}
"""


def python(folder: Path, program: str, *argv: str) -> subprocess.CompletedProcess[str]:
    places = {"PROFKIT_SPOOL": str(folder / "spool"), "PROFKIT_STORE": f"sqlite:///{folder}/runs.db"}
    return subprocess.run(
        [sys.executable, *(argv or ("-c", BEGINNING + program))],
        cwd=folder, env=environment(**places), timeout=400, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_operators_are_counted_exactly(tmp_path: Path) -> None:
    done = python(
        tmp_path,
        """
@profile
def forward(batch):
    return model(batch)

@profile
def recursive(depth):
    return depth and recursive(depth - 1)

@profile(mode="trace", trace_calls=2, rate=200)
def step(batch):
    with profiled("the loss"):
        loss = forward(batch).sum()
    with torch.profiler.record_function("mine"):
        loss.backward()
    recursive(3)
    return loss

for _ in range(5):
    assert step(x).shape == ()
run = step.last_run
assert run.info.calls == 5 and run.trace.calls == 2
assert calls(run, "aten::linear") == {"[3, 8] [4, 8] [4]": 2, "[3, 4] [2, 4] [2]": 2}, run.trace.operators
assert calls(run, "aten::relu") == {"[3, 4]": 2}
assert sum(calls(run, "aten::sum").values()) >= 2
assert sum(calls(run, "autograd::engine::evaluate_function: AddmmBackward0").values()) == 4
assert {row.name: row.calls for row in run.trace.ranges} == {
    "step": 2, "the loss": 2, "forward": 2, "mine": 2, "recursive": 2,
}, run.trace.ranges
assert forward.last_run.info.calls == 5 and recursive.last_run.info.durations.count == 5
assert recursive.last_run.info.nested == 15, recursive.last_run.info.nested
assert run.trace.devices == 0 and run.trace.kernels == ()
whole = sum(row.self_cpu_ns for row in run.trace.operators)
assert 0 < whole <= run.trace.span_ns * len(run.trace.lanes)

with profiled("a block", mode="trace", trace_calls=1) as block:
    model(x)
assert sum(calls(block.run, "aten::linear").values()) == 2
assert [row.name for row in block.run.trace.ranges] == ["a block"]
@profiled("as a decorator", mode="trace")
def decorated():
    return model(x)
decorated()
assert decorated.last_run.trace.calls == 1
""",
    )
    assert done.returncode == 0, done.stderr
    shown = python(tmp_path, "", "-m", "profkit", "report", "step")
    assert "aten::linear" in shown.stdout
    assert "Timeline" in shown.stdout
    exported = python(tmp_path, "", "-m", "profkit", "export", "step", "--format", "chrome-trace")
    document = json.loads(exported.stdout)
    assert {"schemaVersion", "baseTimeNanoseconds"} <= document.keys()
    linear = [event for event in document["traceEvents"] if event.get("name") == "aten::linear"]
    assert len(linear) == 2  # of one call


@pytest.mark.slow
def test_exceptions_and_values_pass_through(tmp_path: Path) -> None:
    done = python(
        tmp_path,
        """
ran = []
@profile(mode="trace")
def fail():
    ran.append(1)
    model(x)
    raise LookupError("mine")

for _ in range(2):
    try:
        fail()
    except LookupError as error:
        assert error.args == ("mine",)
assert len(ran) == 2 and fail.last_run.info.raised == 2
assert sum(calls(fail.last_run, "aten::linear").values()) == 4
assert not torch.autograd._profiler_enabled()
with torch.profiler.profile() as own:
    model(x)
assert sum(event.name == "aten::linear" for event in own.events()) == 2
""",
    )
    assert done.returncode == 0, done.stderr
    assert "unprofiled" not in done.stderr
    assert "untraced" not in done.stderr


@pytest.mark.slow
def test_the_programs_own_profiler_comes_first(tmp_path: Path) -> None:
    done = python(
        tmp_path,
        """
@profile(mode="trace")
def step():
    return model(x)

def own_counts(own):
    return sum(event.name == "aten::linear" for event in own.events())

with torch.profiler.profile() as own:
    step()
assert own_counts(own) == 2 and step.last_run.trace is None and step.last_run.info.calls == 1

@profile(mode="trace")
def with_its_own():
    with torch.profiler.profile() as own:
        model(x)
    return own

assert own_counts(with_its_own()) == 2
assert with_its_own.last_run.trace is None

@profile(mode="trace")
def starts_one():
    own = torch.profiler.profile()
    own.start()
    return own

own = starts_one()
model(x)
own.stop()
assert own_counts(own) == 2
step()
assert step.last_run.trace.calls == 1
""",
    )
    assert done.returncode == 0, done.stderr
    assert "'step' runs untraced: the program already records with torch.profiler" in done.stderr
    assert "the trace of 'with_its_own' is lost: the program has started torch.profiler itself" in done.stderr


def test_without_torch_the_function_runs_once(tmp_path: Path) -> None:
    done = python(
        tmp_path,
        "",
        "-c",
        """
import sys
sys.modules["torch"] = None
from profkit import profile
from profkit.pytorch.errors import TorchMissing
ran = []

@profile(mode="trace")
def work():
    ran.append(1)
    return "value"

assert work() == "value" and work() == "value" and len(ran) == 2
assert work.last_run.info.calls == 2 and work.last_run.trace is None

@profile(mode="trace", stop_at_error=True)
def strict():
    ran.append(2)

try:
    strict()
except TorchMissing:
    pass
else:
    raise AssertionError("torch is missing")
assert 2 not in ran
""",
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("runs untraced: mode='trace' needs torch") == 1


def test_options_and_kinds_that_do_not_fit(tmp_path: Path) -> None:
    done = python(
        tmp_path,
        "",
        "-c",
        """
import sys
from profkit import profile, profiled
from profkit.errors import UsageError

async def coroutine(): ...
def generator(): yield

def refused(make):
    try:
        make()
    except UsageError as error:
        return str(error)
    raise AssertionError("accepted")

assert "torch.profiler records threads" in refused(lambda: profile(coroutine, mode="trace"))
assert "torch.profiler records threads" in refused(lambda: profile(generator, mode="trace"))
assert "trace_calls=0" in refused(lambda: profile(mode="trace", trace_calls=0))
assert "mode='timer'" in refused(lambda: profiled("x", mode="timer"))
assert "trace_calls" in refused(lambda: profiled("x", trace_calls=3))
assert "trace" in refused(lambda: profile(mode="nonsense"))
assert "torch" not in sys.modules
""",
    )
    assert done.returncode == 0, done.stderr
