"""Where does torch.compile spend its time? profkit attached to PyTorch's own compile-time hook.

Run it, then `profkit list` and `profkit report`: there is one run for each phase of the compiler.
"""

from __future__ import annotations

import torch
from torch import nn
from torch._strobelight.compile_time_profiler import StrobelightCompileTimeProfiler

from profkit import FunctionProfiler


def make_model() -> nn.Module:
    """Return a model that is large enough to keep the compiler busy."""
    layers = [layer for _ in range(6) for layer in (nn.Linear(64, 64), nn.GELU(), nn.LayerNorm(64))]
    return nn.Sequential(*layers)


if __name__ == "__main__":
    StrobelightCompileTimeProfiler.enable(profiler_class=FunctionProfiler)
    compiled = torch.compile(make_model(), backend="aot_eager")
    print("output", tuple(compiled(torch.ones(8, 64)).shape))
    print("compilations profiled:", StrobelightCompileTimeProfiler.success_profile_count)
