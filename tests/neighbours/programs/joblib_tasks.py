"""Decorated functions as tasks of joblib: `joblib_tasks.py BACKEND`."""

from __future__ import annotations

import sys

from colours import green, red
from joblib import Memory, Parallel, delayed

from profkit import profile

EXACT = {"rate": 100.0, "blocking": True}


@profile(label="red", **EXACT)
def first(number: int) -> int:
    red(0.05)
    return number * number


@profile(label="green", **EXACT)
def second(number: int, *, by: int = 2) -> int:
    green(0.05)
    return number * by


def main(backend: str) -> None:
    tasks = [delayed(work)(n) for n in range(10) for work in (first, second)]
    print(Parallel(n_jobs=2, backend=backend)(tasks))
    return_as = "list" if backend == "multiprocessing" else "generator"
    with Parallel(n_jobs=2, backend=backend, return_as=return_as) as parallel:
        print(list(parallel(delayed(second)(n, by=5) for n in range(4))))
    remembered = Memory("cache", verbose=0).cache(first)
    print(remembered(3), remembered(3))


if __name__ == "__main__":
    main(sys.argv[1])
