"""Worker processes that call what is profiled: `workers.py SCENARIO`."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from concurrent.futures import ProcessPoolExecutor

from spinning import spin

from profkit import profile


@profile(rate=200, label="square")
def square(number: int) -> int:
    spin(0.01)
    return number * number


@profile(rate=200, label="region")
def region(work, *args):
    spin(0.05)
    return work(*args)


# Spawned children import this module: there too, nothing starts a sampler.
IMPORTED = square(3)


def pool(method: str) -> None:
    with multiprocessing.get_context(method).Pool(2) as workers:
        print(region(workers.map, square, range(6)))
        print(workers.apply_async(region, (square, 7)).get())


def fork_pool() -> None:
    pool("fork")


def spawn_pool() -> None:
    pool("spawn")


def forkserver_pool() -> None:
    pool("forkserver")


def executor() -> None:
    """A ProcessPoolExecutor that is fed from a thread, within a region, while another thread works."""
    thread = threading.Thread(target=region, args=(spin, 0.2))
    thread.start()
    with ProcessPoolExecutor(2) as workers:
        print(list(region(workers.map, square, range(6))))
    thread.join()


def failing(code: int) -> None:
    square(1)
    if code == 1:
        raise LookupError("in a child")
    sys.exit(code)


def exit_codes() -> None:
    """Children that fail, exit and are killed, started in a region, forked and spawned."""
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)

        def run(*codes, context=context):
            children = [context.Process(target=failing, args=(code,), name="child") for code in codes]
            for child in children:
                child.start()
                child.join()
            endless = context.Process(target=region, args=(spin, 60))
            endless.start()
            spin(0.05)
            endless.terminate()
            endless.join()
            print([child.exitcode for child in (*children, endless)])

        region(run, 0, 1, 5)


def shared_state() -> None:
    """Queues, locks and values shared with forked workers, under a thread that is in a region."""
    context = multiprocessing.get_context("fork")
    queue, total, lock = context.Queue(), context.Value("i", 0), context.Lock()

    def work():
        for _ in range(50):
            with lock:
                total.value += square(1) if os.getpid() % 2 == 2 else 1
        queue.put("done")

    def run():
        workers = [context.Process(target=work) for _ in range(3)]
        for worker in workers:
            worker.start()
        print([queue.get() for _ in workers], total.value)
        for worker in workers:
            worker.join()

    region(run)


def loader() -> None:
    """A DataLoader with workers, whose data set, collation and loop are profiled."""
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Numbers(Dataset):
        def __len__(self):
            return 16

        @profile(rate=200, label="item")
        def __getitem__(self, index):
            return torch.full((2,), float(square(index)))

    @profile(rate=200, label="collate")
    def collate(items):
        return torch.stack(items)

    batches = DataLoader(Numbers(), batch_size=4, num_workers=2, collate_fn=collate, persistent_workers=True)

    @profile(rate=200, label="epoch")
    def epoch():
        total = torch.zeros(2)
        for batch in batches:
            total += batch.sum(0)
            spin(0.02)
        return total.tolist()

    for _ in range(2):
        print(epoch())


SCENARIOS = {
    function.__name__: function
    for function in (fork_pool, spawn_pool, forkserver_pool, executor, exit_codes, shared_state, loader)
}

if __name__ == "__main__":
    SCENARIOS[sys.argv[1]]()
