"""Score rows while a thread waits for commands on a pipe."""

import os
import threading
from time import perf_counter

from benchmarks.answers import truth


def follow(commands: int) -> None:
    while command := os.read(commands, 4096):
        print("command:", command.decode())


def score(row: list[int]) -> int:  # PLANTED
    total = 0
    for value in row:
        total = (total * 31 + value * value) % 1_000_003
    return total


read_end, write_end = os.pipe()
reader = threading.Thread(target=follow, args=(read_end,), name="commands")
reader.start()

row, best = list(range(5_000)), 0
end_s = perf_counter() + truth.SECONDS
with truth.planted:
    while perf_counter() < end_s:
        best = max(best, score(row))

print("best score:", best)
truth.threads()
os.close(write_end)
reader.join()
