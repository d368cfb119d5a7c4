"""Four threads append to one journal under one lock."""

import threading
import time
from time import perf_counter

from benchmarks.answers import truth

journal_lock = threading.Lock()
journal: list[str] = []


def flush(entry: str) -> None:
    journal.append(entry)
    time.sleep(0.01)  # ALSO


def record(entry: str) -> None:
    with truth.planted:
        journal_lock.acquire()  # PLANTED
    try:
        with truth.also:
            flush(entry)
    finally:
        journal_lock.release()


def serve(name: str) -> None:
    end_s = perf_counter() + truth.SECONDS
    while perf_counter() < end_s:
        record(f"{name}: {sum(range(2_000))}")
    truth.threads()


workers = [
    threading.Thread(target=serve, args=(f"w{number}",), name=f"worker-{number}") for number in range(4)
]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print(len(journal), "entries")
