"""A rank whose steps `torch.profiler` records; those of one rank are slow.

`traced_ranks.py LATE STACKS`: STACKS is `stacks` or `none`.
"""

from __future__ import annotations

import sys
import time

import torch
import torch.distributed as dist
from torch.profiler import ProfilerActivity, profile

STEPS = 12


def slow_step() -> None:
    time.sleep(0.1)


def quick_step() -> None:
    time.sleep(0.02)


def main(late: int, with_stack: bool) -> None:
    dist.init_process_group("gloo")
    rank, values = dist.get_rank(), torch.ones(1000)
    with profile(activities=[ProfilerActivity.CPU], with_stack=with_stack) as profiler:
        for _ in range(STEPS):
            (slow_step if rank == late else quick_step)()
            dist.all_reduce(values)
    profiler.export_chrome_trace(f"rank{rank}.json")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] == "stacks")
