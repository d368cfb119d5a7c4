"""Cost of profiling torch's compilations: of calls while nothing compiles, and of compiling.

Both sides run in one process, in turn: with the hook and without it. All modules that a compilation imports
are there before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial

import torch
from torch import nn

from benchmarks.figures import Figure
from benchmarks.pairs import interleaved, ratio_figure
from profkit.integrations import torch_compile

_CALLS = 20_000
_BACKENDS = ("eager", "aot_eager")
_CALL_BOUND, _COMPILE_BOUND = 1.02, 1.25


def measure(quick: bool) -> list[Figure]:
    """Compare compiled calls and compilations with the hook to those without it."""
    pairs = 3 if quick else 20
    figures = [_calls_figure(pairs)]
    for backend in _BACKENDS:
        hooked, plain = partial(_compile_s, backend, hooked=True), partial(_compile_s, backend, hooked=False)
        hooked(), plain()  # imports, and starts the sampler
        taken = interleaved(hooked, plain, pairs)
        what = f"compiling a model with {backend}: profiled ÷ not"
        figures.append(ratio_figure(what, taken, _COMPILE_BOUND))
    return figures


def _calls_figure(pairs: int) -> Figure:
    compiled = torch.compile(lambda x: x + 1, backend="eager")
    ones = torch.ones(4)
    compiled(ones)
    hooked, plain = (
        partial(_calls_s, compiled, ones, hooked=True),
        partial(_calls_s, compiled, ones, hooked=False),
    )
    hooked(), plain()
    return ratio_figure("compiled calls: hook enabled ÷ not", interleaved(hooked, plain, pairs), _CALL_BOUND)


def _calls_s(compiled: Callable[..., object], x: torch.Tensor, *, hooked: bool) -> float:
    with torch_compile.enable() if hooked else nullcontext():
        start_s = time.process_time()
        for _ in range(_CALLS):
            compiled(x)
        return time.process_time() - start_s


def _compile_s(backend: str, *, hooked: bool) -> float:
    torch._dynamo.reset()
    layers = [layer for _ in range(4) for layer in (nn.Linear(16, 16), nn.GELU(), nn.LayerNorm(16))]
    model, x = nn.Sequential(*layers), torch.ones(2, 16)
    with torch_compile.enable() if hooked else nullcontext():
        start_s = time.perf_counter()
        torch.compile(model, backend=backend)(x)
        return time.perf_counter() - start_s
