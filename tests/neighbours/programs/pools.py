"""Thirty-two calls of a profiled function in the workers of an engine: `pools.py ENGINE`.

The pool is closed as soon as the results are there, as its users do. Prints how long that took.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager
from time import perf_counter

from profiled_task import short_task

CALLS = 32


def with_pool() -> None:
    with multiprocessing.Pool(4) as pool:
        pool.map(short_task, range(CALLS), chunksize=1)


def with_executor(executor: AbstractContextManager[Executor]) -> None:
    with executor as workers:
        list(workers.map(short_task, range(CALLS)))


def with_loky() -> None:
    from loky import ProcessPoolExecutor as Loky

    with_executor(Loky(4))


def with_dask() -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.gather(client.map(short_task, range(CALLS), pure=False))
        start_s = perf_counter()
    sys.stdout.write(f"{perf_counter() - start_s:.3f}\n")


def with_ray() -> None:
    import ray

    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, object_store_memory=80 * 2**20)
    remote = ray.remote(short_task)
    ray.get([remote.remote(number) for number in range(CALLS)])
    ray.shutdown()


ENGINES: dict[str, Callable[[], None]] = {
    "Pool": with_pool,
    "ProcessPoolExecutor": lambda: with_executor(ProcessPoolExecutor(4)),
    "loky": with_loky,
    "dask": with_dask,
    "ray": with_ray,
}

if __name__ == "__main__":
    ENGINES[sys.argv[1]]()
