"""Run another Python script for each chunk of work."""

import subprocess
import sys
from time import perf_counter

from benchmarks.answers import truth

CONVERTER = """
import sys
total = 0
for number in range(int(sys.argv[1])):
    total += number * number % 7
print(total)
"""


def convert(size: int) -> int:
    command = [sys.executable, "-S", "-c", CONVERTER, str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # PLANTED
    return int(done.stdout)


if __name__ == "__main__":
    end_s = perf_counter() + truth.SECONDS
    results = []
    while perf_counter() < end_s:
        with truth.planted:
            results.append(convert(8_000_000))
    print(len(results), "chunks converted")
