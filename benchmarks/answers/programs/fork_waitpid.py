"""Render pages in forked children, as some servers do."""

import os
from time import perf_counter

from benchmarks.answers import truth


def render(page: int) -> int:  # ALSO
    pixels = 0
    for number in range(4_000_000):
        pixels += (number ^ page) & 255
    return pixels


def render_in_child(page: int) -> int:
    pid = os.fork()
    if pid == 0:
        with truth.also:
            status = 0 if render(page) else 1
        truth.write()
        os._exit(status)
    with truth.planted:
        _, status = os.waitpid(pid, 0)  # PLANTED
    return status


end_s, statuses = perf_counter() + truth.SECONDS, list[int]()
while perf_counter() < end_s:
    statuses.append(render_in_child(len(statuses)))
print(len(statuses), "pages,", sum(statuses), "failed")
