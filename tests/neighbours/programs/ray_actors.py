"""Two actors of Ray, each of which runs a profiled function."""

from __future__ import annotations

import ray
from profiled_task import task


class Worker:
    def work(self, number: int) -> int:
        return task(number)


def main() -> None:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=80 * 2**20)
    actors = [ray.remote(Worker).remote() for _ in range(2)]
    print(sum(ray.get([actors[number % 2].work.remote(number) for number in range(6)])), flush=True)
    ray.shutdown()


if __name__ == "__main__":
    main()
