"""Measure the same orders here and on the workers of an executor: prints what was counted, by whom."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from profkit import measure_all, work_order

FEW: dict[str, Any] = {"quick": True, "processes": 1}
DEADLY = "import os, signal; os.kill(int(os.environ['WORKER']), signal.SIGKILL)"
"""Ends the worker that asked for it."""


def doubled(values: list[int]) -> list[int]:
    return [2 * value for value in values]


def counted() -> list[Any]:
    return [
        work_order("sorted(v)", setup="v = list(range(100, 0, -1))", label="sort", mode="callgrind", **FEW),
        work_order(doubled, args=([1, 2, 3],), mode="callgrind", **FEW),
        work_order("1 + 1", label="add", **FEW),
    ]


def with_losses() -> list[Any]:
    once = f"open('once', 'x').close()\n{DEADLY}"
    again = f"import os\nif not os.path.exists('once'):\n    {once.replace(chr(10), chr(10) + '    ')}"
    return [
        work_order(again, label="once", runs=1, **FEW),
        work_order(DEADLY, label="deadly", runs=1, **FEW),
        work_order("1 + 1", label="calm", **FEW),
    ]


class RayExecutor(Executor):
    """Executor of Ray's workers."""

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        import ray

        future: Future[Any] = ray.remote(function).remote(*args, **kwargs).future()
        return future


@contextmanager
def executor_of(engine: str) -> Iterator[Executor]:
    if engine == "dask":
        import dask
        from distributed import Client, LocalCluster

        dask.config.set({"distributed.scheduler.allowed-failures": 0})
        Path("preload.py").write_text("import os\nos.environ['WORKER'] = str(os.getpid())\n")
        workers: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 2, "dashboard_address": None}
        with (
            LocalCluster(preload=[os.path.abspath("preload.py")], **workers) as cluster,
            Client(cluster) as client,
        ):
            yield client.get_executor()
    elif engine == "loky":
        from loky import ProcessPoolExecutor

        with ProcessPoolExecutor(2) as executor:
            yield executor
    elif engine == "mpi":
        from mpi4py.futures import MPIPoolExecutor

        with MPIPoolExecutor() as executor:
            yield executor
    else:
        import ray

        ray.init(num_cpus=2, include_dashboard=False)
        try:
            yield RayExecutor()
        finally:
            ray.shutdown()


if __name__ == "__main__":
    engine, orders = sys.argv[1], with_losses() if "losses" in sys.argv else counted()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with executor_of(engine) as executor:
        there = measure_all(orders, executor=executor, keep=False)
    here = [] if "losses" in sys.argv else measure_all(orders, keep=False)
    found = {
        name: [
            [run.info.label, run.info.instructions, run.info.error, run.info.process.pid, run.info.machine]
            for run in runs
        ]
        for name, runs in (("there", there), ("here", here))
    }
    sys.stdout.write(json.dumps({**found, "pid": os.getpid()}) + "\n")
