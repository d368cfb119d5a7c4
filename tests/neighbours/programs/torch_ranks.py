"""A rank of a distributed program: work of its own, then an all_reduce over gloo."""

from __future__ import annotations

import torch
import torch.distributed as distributed
from colours import green, red

from profkit import profile


@profile(label="step", rate=100.0)  # gloo's sockets have timeouts, beside which blocking=True is refused
def step(rank: int, number: int) -> float:
    (red if rank == 0 else green)(0.05)
    value = torch.full((4,), float(rank + number))
    distributed.all_reduce(value)
    return value.sum().item()


def main() -> None:
    distributed.init_process_group("gloo")
    rank = distributed.get_rank()
    total = sum(step(rank, number) for number in range(10))
    for turn in range(distributed.get_world_size()):
        if turn == rank:
            print(f"rank {rank}: {total}", flush=True)
        distributed.barrier()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
