"""Compute twelve figures, each for as long as the others: `even_figures.py (threads|coroutines|ranks)`."""

from benchmarks.answers import truth

# isort: split
import asyncio
import sys
import threading
from time import perf_counter, thread_time

STEP_S = 0.004


def price(items: range) -> int:
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item * 3 % 97 for item in items])
    return total


def discount(items: range) -> int:
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item // 7 for item in items])
    return total


def tax(items: range) -> int:
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item * 19 // 100 for item in items])
    return total


def freight(items: range) -> int:
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item % 11 + 4 for item in items])
    return total


def weight(items: range) -> int:
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item * item % 53 for item in items])
    return total


def volume(items: range) -> int:
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item ^ 85 for item in items])
    return total


def points(items: range) -> int:
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item >> 2 for item in items])
    return total


def margin(items: range) -> int:
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item * 5 // 8 for item in items])
    return total


def stock(items: range) -> int:
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item % 400 for item in items])
    return total


def rating(items: range) -> int:
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([(item * 31 + 7) % 6 for item in items])
    return total


def priority(items: range) -> int:
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item & 15 for item in items])
    return total


def checksum(items: range) -> int:
    end_s = thread_time() + STEP_S
    while thread_time() < end_s:
        total = sum([item * 65_599 % 251 for item in items])
    return total


STEPS = (price, discount, tax, freight, weight, volume, points, margin, stock, rating, priority, checksum)


def compute(first: int) -> None:
    items, end_s = range(first, first + 500), perf_counter() + truth.SECONDS
    while perf_counter() < end_s:
        for step in STEPS:
            step(items)
    truth.threads()


def in_threads() -> None:
    threads = [threading.Thread(target=compute, args=(n * 500,), name=f"figures-{n}") for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


async def compute_in_turn(first: int) -> int:
    items, end_s, total = range(first, first + 500), perf_counter() + truth.SECONDS, 0
    while perf_counter() < end_s:
        for step in STEPS:
            total += step(items)
            await asyncio.sleep(0)
    return total


async def in_coroutines() -> None:
    print(await asyncio.gather(*(compute_in_turn(number * 500) for number in range(4))))


def in_ranks() -> None:
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    torch.set_num_threads(1)
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
    match sys.argv[1]:
        case "threads":
            in_threads()
        case "coroutines":
            asyncio.run(in_coroutines())
        case "ranks":
            in_ranks()
