"""Train with DDP or FSDP on gloo; one rank is late: `late_rank.py KIND RANK (ddp|fsdp) SECONDS`.

In each step, the late rank takes three times as long as the rest of the last step took: however busy the
machine is, the others mostly wait for it.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from itertools import count
from time import perf_counter, sleep

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, IterableDataset

from profkit import profile

KIND, SECONDS = sys.argv[1], float(sys.argv[4])
IS_LATE = os.environ["RANK"] == sys.argv[2]
TIMES, LEAST_S = 3, 0.05
torch.set_num_threads(1)
late_s = 0.0
"""Time that was taken on purpose since the step began."""
next_s = LEAST_S


def slow_python(seconds: float) -> None:
    end_s, total = perf_counter() + seconds, 0
    while perf_counter() < end_s:
        total += sum(pixel % 7 for pixel in range(500))


def slow_compress(seconds: float) -> None:
    end_s, data = perf_counter() + seconds, bytes(range(256)) * 400
    while perf_counter() < end_s:
        zlib.compress(data, 9)


def slow_write(seconds: float) -> None:
    end_s = perf_counter() + seconds
    with open("written", "wb") as file:
        while perf_counter() < end_s:
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
            sleep(0.005)


SLOW = {"python": slow_python, "C": slow_compress, "I/O": slow_write, "backward": slow_python}


def take_time(kind: str) -> None:
    """Be late, if this is the rank and the kind."""
    global late_s
    if IS_LATE and kind == KIND:
        SLOW[kind](next_s)
        late_s += next_s


class Items(IterableDataset[torch.Tensor]):
    def __iter__(self) -> Iterator[torch.Tensor]:
        for number in count():
            sleep(0.3 * (IS_LATE and KIND == "loader"))
            yield torch.full((16,), number / 1000)


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(16, 64), torch.nn.Linear(64, 4)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.first(batch))
        hidden.register_hook(self.hook)
        found: torch.Tensor = self.second(hidden)
        return found

    def hook(self, gradient: torch.Tensor) -> torch.Tensor:
        take_time("backward")
        return gradient


def augment(batch: torch.Tensor) -> torch.Tensor:
    return batch + sum(pixel % 7 for pixel in range(100_000)) / 1e6


def load(batches: Iterator[torch.Tensor]) -> torch.Tensor:
    batch = augment(next(batches))
    for kind in ("python", "C", "I/O"):
        take_time(kind)
    return batch


def model_of(engine: str) -> torch.nn.Module:
    if engine == "ddp":
        return DistributedDataParallel(Net())
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    net = Net()
    fully_shard(net, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
    return net


@profile(label="train", rate=50.0, recorded_env_variables=["RANK", "LOCAL_RANK", "WORLD_SIZE"])
def train(model: torch.nn.Module, batches: Iterator[torch.Tensor]) -> None:
    global late_s, next_s
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    end_s, goes_on = perf_counter() + SECONDS, torch.ones(1)
    while goes_on.item():
        began_s, late_s = perf_counter(), 0.0
        model(load(batches)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        goes_on.fill_(perf_counter() < end_s)
        dist.broadcast(goes_on, 0)
        next_s = max(LEAST_S, TIMES * (perf_counter() - began_s - late_s))


def main() -> None:
    dist.init_process_group("gloo")
    workers = int(KIND == "loader")
    batches = iter(
        DataLoader(Items(), batch_size=4, num_workers=workers, prefetch_factor=1 if workers else None)
    )
    train(model_of(sys.argv[3]), batches)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
