"""Two worker processes of Dask, each of which runs a profiled function."""

from __future__ import annotations

from distributed import Client, LocalCluster
from profiled_task import task


def main() -> None:
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        workers = list(client.scheduler_info()["workers"])
        futures = [
            client.submit(task, n, workers=[worker], pure=False) for n, worker in enumerate(workers * 3)
        ]
        print(sum(client.gather(futures)), flush=True)


if __name__ == "__main__":
    main()
