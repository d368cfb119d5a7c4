"""Where does torch.compile spend its time? Each phase of the compiler is a run of profkit.

`profkit report --compile` shows the same again, and `profkit list` the runs.
"""

from __future__ import annotations

import torch
from torch import nn

from profkit.integrations import torch_compile


def make_model() -> nn.Module:
    """Return a model that is large enough to keep the compiler busy."""
    layers = [layer for _ in range(6) for layer in (nn.Linear(64, 64), nn.GELU(), nn.LayerNorm(64))]
    return nn.Sequential(*layers)


if __name__ == "__main__":
    with torch_compile.enable() as compilations:
        compiled = torch.compile(make_model(), backend="aot_eager")
        print("output", tuple(compiled(torch.ones(8, 64)).shape))
    print(compilations.report())
