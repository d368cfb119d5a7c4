"""Write a journal that survives a crash: each entry is on disk before the next one."""

import json
import os
from time import perf_counter

from benchmarks.answers import truth


def append(fd: int, entry: dict[str, int]) -> None:
    os.write(fd, json.dumps(entry).encode() + b"\n")
    with truth.planted:
        os.fsync(fd)  # PLANTED


def main() -> None:
    fd = os.open("journal.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    end_s, number = perf_counter() + truth.SECONDS, 0
    while perf_counter() < end_s:
        number += 1
        append(fd, {"number": number, "amount": number * 3})
    os.close(fd)
    print(number, "entries")


main()
