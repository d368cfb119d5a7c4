"""Sort a log with the shell's sort."""

import os
import random
from time import perf_counter

from benchmarks.answers import truth

names = [f"host-{random.randrange(10**9):09d} GET /index.html" for _ in range(60_000)]
with open("access.log", "w", encoding="utf-8") as log:
    log.write("\n".join(names))

end_s = perf_counter() + truth.SECONDS
while perf_counter() < end_s:
    with truth.planted:
        status = os.system("sort -k 3 -k 1 access.log access.log access.log > sorted.log")  # PLANTED
    if status != 0:
        raise SystemExit("sort failed")
print("sorted")
