"""A worker without jobs."""

from queue import Empty, Queue
from time import perf_counter

from benchmarks.answers import truth

jobs: Queue[str] = Queue()


def work(job: str) -> None:
    print(job.upper())


end_s = perf_counter() + truth.SECONDS
while perf_counter() < end_s:
    try:
        work(jobs.get(timeout=0.5))
    except Empty:
        continue
