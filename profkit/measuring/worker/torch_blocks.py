"""Blocks timed by torch's own Timer: its threads, its synchronising clock, but no setup in each block."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .blocks import Clock, Elapsed
from .measured import Measured

_MEASURED = "measured"


def clock() -> Clock:
    """torch's clock, which waits for what runs on CUDA, wherever this process has CUDA in use.

    Elsewhere the plain one: torch's own would start CUDA.
    """
    import torch
    from torch.utils.benchmark import timer

    in_use: Callable[[], bool] = torch.cuda.is_initialized
    plain, waiting = time.perf_counter, timer
    return lambda: waiting() if in_use() else plain()


def clock_of_library() -> Clock:
    """The same for C++, which uses CUDA without telling torch.cuda: that a device has a context tells."""
    import torch

    if torch.version.cuda is None:
        return time.perf_counter
    has_context: Callable[[int], bool] = torch._C._cuda_hasPrimaryContext  # type: ignore[attr-defined]

    def waiting() -> float:
        for device in range(torch.cuda.device_count()):
            if has_context(device):
                torch.cuda.synchronize(device)
        return time.perf_counter()

    return waiting


def elapsed_by_torch(measured: Measured, reads: Clock, stmt: str, setup: str, num_threads: int) -> Elapsed:
    """A function that runs a block as torch's Timer would run its innermost loop."""
    from torch.utils import benchmark
    from torch.utils.benchmark.utils.common import set_torch_threads

    class BlockTimer(benchmark.Timer):
        """torch's Timer around blocks that are there already."""

        _timer_cls = _Blocks

    timer = BlockTimer(stmt, setup, timer=reads, globals={_MEASURED: measured}, num_threads=num_threads)

    def elapsed(number: int) -> float:
        with set_torch_threads(num_threads):
            return float(timer._timeit(number))

    return elapsed


class _Blocks:
    """What torch's Timer takes for timeit's."""

    def __init__(self, stmt: str, setup: str, timer: Clock, globals: dict[str, Any]) -> None:
        self._measured: Measured = globals[_MEASURED]
        self._clock = timer

    def timeit(self, number: int) -> float:
        """Seconds of a block."""
        before, after = self._measured.run(number, self._clock)
        return after - before


def use_threads(num_threads: int) -> None:
    """Let torch compute with so many threads, called from this one."""
    import torch

    torch.set_num_threads(num_threads)
