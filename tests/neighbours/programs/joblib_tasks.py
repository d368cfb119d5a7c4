"""Decorated functions as tasks of joblib: `joblib_tasks.py BACKEND`."""

from __future__ import annotations

import sys

from colours import blue
from joblib import Memory, Parallel, delayed
from joblib_work import first, second

from profkit import profile


@profile(label="by value")
def of_main(number: int) -> int:
    """Travel to workers by value, as cloudpickle sends what is defined in the main module."""
    blue(0.01)
    return -number


def main(backend: str) -> None:
    tasks = [delayed(work)(n) for n in range(10) for work in (first, second)]
    print(Parallel(n_jobs=2, backend=backend)(tasks))
    return_as = "list" if backend == "multiprocessing" else "generator"
    with Parallel(n_jobs=2, backend=backend, return_as=return_as) as parallel:
        print(list(parallel(delayed(second)(n, by=5) for n in range(4))))
    print(Parallel(n_jobs=2, backend=backend)(delayed(of_main)(n) for n in range(4)))
    remembered = Memory("cache", verbose=0).cache(first)
    print(remembered(3), remembered(3))


if __name__ == "__main__":
    main(sys.argv[1])
