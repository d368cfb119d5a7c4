"""Train with four ranks that prepare equally much."""

from benchmarks.answers import truth

# isort: split
from time import perf_counter, thread_time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEP_S = 0.004
torch.set_num_threads(1)


def price(items: range) -> int:
    """Return the price of all items."""
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item * 3 % 97 for item in items])
    return total


def discount(items: range) -> int:
    """Return the discount of all items."""
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item // 7 for item in items])
    return total


def tax(items: range) -> int:
    """Return the tax of all items."""
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item * 19 // 100 for item in items])
    return total


def freight(items: range) -> int:
    """Return the freight of all items."""
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item % 11 + 4 for item in items])
    return total


def weight(items: range) -> int:
    """Return the weight of all items."""
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item * item % 53 for item in items])
    return total


def volume(items: range) -> int:
    """Return the volume of all items."""
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item ^ 85 for item in items])
    return total


def points(items: range) -> int:
    """Return the points of all items."""
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item >> 2 for item in items])
    return total


def margin(items: range) -> int:
    """Return the margin of all items."""
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item * 5 // 8 for item in items])
    return total


def stock(items: range) -> int:
    """Return the stock of all items."""
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item % 400 for item in items])
    return total


def rating(items: range) -> int:
    """Return the rating of all items."""
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([(item * 31 + 7) % 6 for item in items])
    return total


def priority(items: range) -> int:
    """Return the priority of all items."""
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item & 15 for item in items])
    return total


def checksum(items: range) -> int:
    """Return the checksum of all items."""
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item * 65_599 % 251 for item in items])
    return total


STEPS = (price, discount, tax, freight, weight, volume, points, margin, stock, rating, priority, checksum)


def main() -> None:
    """Train for some seconds; rank 0 decides when to stop."""
    dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(12, 4))
    items, end_s, going = range(500), perf_counter() + 4 * truth.SECONDS, torch.ones(1)
    while going.item():
        features = torch.tensor([float(step(items) % 100) for step in STEPS])
        model(features).square().mean().backward()
        going.fill_(perf_counter() < end_s)
        dist.broadcast(going, 0)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
