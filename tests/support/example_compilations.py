"""Compilations made by hand: a function with its backward, and an export in which another was compiled."""

from __future__ import annotations

from dataclasses import replace

from profkit.model.histogram import histogram_of
from profkit.model.profile import Frame, ProfileBuilder, Thread
from profkit.model.region import Compilation, Region, RegionKey, RegionKind
from profkit.model.run import Run
from tests.support.example_runs import APP, INFO, PROCESS, STARTED_NS, TORCH

MAIN = Thread(4242, 4242, "MainThread")
COMPILE = Frame("_compile.<locals>.compile_inner", f"{TORCH}/_dynamo/convert_frame.py", 1670)
STEP = Frame("InstructionTranslatorBase.step", f"{TORCH}/_dynamo/symbolic_convert.py", 1300)
FAKE = Frame("FakeTensorMode.dispatch", f"{TORCH}/_subclasses/fake_tensor.py", 2000)
AOT = Frame("aot_dispatch_autograd", f"{TORCH}/_functorch/_aot_autograd/graph_compile.py", 400)
LOWER = Frame("GraphLowering.run", f"{TORCH}/_inductor/graph.py", 1000)
BUILD = Frame("_run_compile_cmd", f"{TORCH}/_inductor/cpp_builder.py", 696)
WAIT = Frame("Popen.communicate", "/usr/lib/python3.11/subprocess.py", 1209)
IMPORT = Frame("_find_and_load", "<frozen importlib._bootstrap>", 1178)
MODULE = Frame("<module>", f"{TORCH}/_inductor/ir.py", 3)
BACKWARD = Frame("compile_fx.<locals>.bw_compiler", f"{TORCH}/_inductor/compile_fx.py", 2960)
EXPORT = Frame("_export", f"{TORCH}/export/_trace.py", 2440)
BACKEND = Frame("my_backend", APP, 70)

STACKS = {
    "step 0/0 compile_inner": (
        ((COMPILE, STEP), 10),
        ((COMPILE, STEP._replace(line=1310), FAKE), 20),
        ((COMPILE, AOT), 5),
        ((COMPILE, AOT, LOWER, BUILD, WAIT), 40),
        ((COMPILE, AOT, IMPORT, MODULE), 25),
    ),
    "step 0/0 backward": (((BACKWARD, LOWER), 30),),
    "Net export": (((EXPORT, COMPILE, STEP), 20), ((EXPORT,), 10)),
    "Net.forward compile_inner": (((COMPILE, STEP), 20),),
    "other 1/0 compile_inner": (((BACKEND,), 10),),
}


def compiled(
    label: str, name: str, compilation: Compilation, wall_ms: int, started_s: int, raised: int = 0
) -> Run:
    """A run of one phase, of which one sample was taken per 10 ms."""
    builder = ProfileBuilder()
    for stack, weight in STACKS[label]:
        builder.add(stack, MAIN, weight)
    profile = builder.build(period_ns=1e7)
    region = Region(
        RegionKey("torch.compile", name, 42, label), RegionKind.COMPILATION, APP, compilation=compilation
    )
    info = replace(
        INFO, id=f"c{started_s:09d}", region=region, process=PROCESS, samples=profile.total_weight,
        durations=histogram_of([wall_ms * 1_000_000] if wall_ms else []), raised=raised,
        started_ns=STARTED_NS + started_s * 10**9,
    )  # fmt: skip
    return Run(info, profile)


def compiled_runs() -> tuple[Run, ...]:
    """The runs of a process, the newest first."""
    inner, backward, inside = "compile_inner", "backward", "Net export"
    runs = (
        compiled("step 0/0 compile_inner", "step", Compilation("0/0", inner), 1000, 1),
        compiled("step 0/0 backward", "step", Compilation("0/0", backward), 300, 2),
        compiled("Net export", "Net", Compilation("", "export"), 300, 3),
        compiled("Net.forward compile_inner", "Net.forward", Compilation("", inner, inside), 200, 4),
        compiled("other 1/0 compile_inner", "other", Compilation("1/0", inner), 100, 5, raised=1),
    )
    return runs[::-1]
