"""A profiled function that workers import: Dask and Ray send functions of `__main__` unwrapped."""

from __future__ import annotations

from colours import green

from profkit import profile


@profile(label="task")
def task(number: int) -> int:
    green(0.2)
    return number


@profile(label="short task")
def short_task(number: int) -> int:
    return number
