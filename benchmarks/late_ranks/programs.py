"""Training programs in which one rank can be late; written from descriptions, not from profkit's rules.

Each has a way of its own to be late, and another way to agree with the other ranks at the end of a step.
"""

from __future__ import annotations

import bz2
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

SIZE = 32


@dataclass
class Training:
    """One rank's part of a job."""

    engine: str
    is_late: bool
    seconds: float
    end_s: float = 0.0

    def prepare(self, net: nn.Module) -> tuple[nn.Module, torch.optim.Optimizer]:
        """Return the network as one of several ranks', and its optimizer."""
        if self.engine == "ddp":
            net = DistributedDataParallel(net)
        else:
            fully_shard(net, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
        return net, torch.optim.AdamW(net.parameters(), lr=1e-4)

    def goes_on(self) -> bool:
        """Return whether rank 0 wants another step."""
        self.end_s = self.end_s or time.monotonic() + self.seconds
        answer = torch.tensor([time.monotonic() < self.end_s])
        dist.broadcast(answer, 0)
        return bool(answer.item())


def _network() -> nn.Module:
    return nn.Sequential(nn.Linear(SIZE, 64), nn.GELU(), nn.Linear(64, 4))


def merge_pairs(words: list[str], rounds: int) -> list[str]:
    """Merge the most frequent neighbours, as an encoder of byte pairs does."""
    for _ in range(rounds):
        pairs = Counter(pairwise(words))
        (left, right), _ = pairs.most_common(1)[0]
        merged, number = [], 0
        while number < len(words):
            is_pair = words[number : number + 2] == [left, right]
            merged.append(left + right if is_pair else words[number])
            number += 2 if is_pair else 1
        words = merged
    return words


def train_on_text(training: Training) -> None:
    """Train on texts, of which those of the late rank are long."""
    net, optimizer = training.prepare(_network())
    text = list("the cat sat on the mat and looked at that bat ") * (40 if training.is_late else 1)
    while training.goes_on():
        words = merge_pairs(text, 10)
        batch = torch.full((8, SIZE), len(words) / 1000)
        net(batch).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def unpack(archive: bytes, times: int) -> int:
    """Decompress an archive and compress it anew."""
    size = 0
    for _ in range(times):
        size += len(bz2.compress(bz2.decompress(archive)))
    return size


def train_on_archives(training: Training) -> None:
    """Train on archives, large ones in the late rank; await the mean loss asynchronously."""
    net, optimizer = training.prepare(_network())
    archive = bz2.compress(os.urandom(20_000) * 2)
    while training.goes_on():
        size = unpack(archive, 12 if training.is_late else 0)
        loss = net(torch.full((8, SIZE), size / 1e6)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total = loss.detach().clone()
        handle = dist.all_reduce(total, async_op=True)
        assert handle is not None
        handle.wait()


def _serve(connection: Connection, delay_s: float) -> None:
    while connection.recv_bytes():
        time.sleep(delay_s)
        connection.send_bytes(os.urandom(SIZE))


def fetch_features(connection: Connection) -> bytes:
    """Ask the server of features, which is another process."""
    connection.send_bytes(b"next")
    return connection.recv_bytes()


def train_on_features(training: Training) -> None:
    """Train on features from a server, slow in the late rank; end steps with a barrier."""
    here, there = Pipe()
    server = os.fork()
    if not server:
        try:
            _serve(there, 0.4 if training.is_late else 0.002)
        finally:
            os._exit(0)
    net, optimizer = training.prepare(_network())
    while training.goes_on():
        features = fetch_features(here)
        batch = torch.frombuffer(bytearray(features), dtype=torch.uint8).float().expand(4, SIZE) / 256
        net(batch).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        dist.barrier()
    here.send_bytes(b"")
    os.waitpid(server, 0)


class Records(Dataset[Tensor]):
    """Records as JSON, of which those of the late rank have many fields."""

    def __init__(self, fields: int) -> None:
        self.text = json.dumps({f"field_{number}": number for number in range(fields)})

    def __len__(self) -> int:
        return 10**9

    def __getitem__(self, number: int) -> Tensor:
        return parse_record(self.text)


def parse_record(text: str) -> Tensor:
    """Parse a record field by field."""
    values = [0.0] * SIZE
    for part in text.strip("{}").split(", "):
        name, _, value = part.partition(": ")
        values[len(name) % SIZE] += float(value) / 1e9
    return torch.tensor(values)


def _batches(dataset: Dataset[Tensor], workers: int) -> Iterator[Tensor]:
    loader = DataLoader(
        dataset, batch_size=4, shuffle=False, num_workers=workers, prefetch_factor=1 if workers else None
    )
    return iter(loader)


def train_on_records(training: Training) -> None:
    """Train on records that the late rank loads slowly by itself; gather metrics as objects."""
    net, optimizer = training.prepare(_network())
    batches = _batches(Records(40_000 if training.is_late else 50), 0)
    while training.goes_on():
        loss = net(next(batches)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        every: list[object] = [None] * dist.get_world_size()
        dist.all_gather_object(every, {"loss": loss.item()})


class Clips(Dataset[Tensor]):
    """Clips to decode, of which those of the late rank are long."""

    def __init__(self, frames: int) -> None:
        self.frames = frames

    def __len__(self) -> int:
        return 10**9

    def __getitem__(self, number: int) -> Tensor:
        value = number % 251
        for frame in range(self.frames):
            value = (value * 31 + frame) % 65_521
        return torch.full((SIZE,), value / 65_521)


def train_on_clips(training: Training) -> None:
    """Train on clips that the workers of the late rank load slowly."""
    net, optimizer = training.prepare(_network())
    batches = _batches(Clips(1_500_000 if training.is_late else 500), 2)
    while training.goes_on():
        net(next(batches)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def project(gradient: Tensor, rounds: int) -> Tensor:
    """Project a gradient in plain Python."""
    values = gradient.flatten().tolist()
    for _ in range(rounds):
        norm = sum(value * value for value in values) ** 0.5
        values = [value / max(norm, 1.0) for value in values]
    return torch.tensor(values).reshape(gradient.shape)


class _Projected(nn.Module):
    def __init__(self, rounds: int) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(SIZE, 64), nn.Linear(64, 4)
        self.rounds = rounds

    def forward(self, batch: Tensor) -> Tensor:
        hidden = torch.tanh(self.first(batch))
        hidden.register_hook(partial(project, rounds=self.rounds))  # type: ignore[no-untyped-call]
        found: Tensor = self.last(hidden)
        return found


def train_projected(training: Training) -> None:
    """Train with a hook in the backward pass, slow in the late rank."""
    net, optimizer = training.prepare(_Projected(3_000 if training.is_late else 5))
    while training.goes_on():
        net(torch.rand(8, SIZE)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


@dataclass(frozen=True)
class Program:
    """A program, and the functions of which one is to be named: those that take the time or wait for it."""

    train: Callable[[Training], None]
    functions: tuple[str, ...]


PROGRAMS = {
    "Python": Program(train_on_text, ("merge_pairs",)),
    "C": Program(train_on_archives, ("unpack",)),
    "I/O": Program(train_on_features, ("fetch_features",)),
    "loader": Program(train_on_records, ("parse_record", "Records.__getitem__")),
    "workers": Program(train_on_clips, ("Clips.__getitem__",)),
    "backward": Program(train_projected, ("project", "project.<locals>.<genexpr>")),
}
"""By what the late rank is slow in."""
