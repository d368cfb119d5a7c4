"""A parent calls what is profiled once, and a child five times: `family.py METHOD`."""

from __future__ import annotations

import multiprocessing
import os
import sys

from spinning import spin

from profkit import profile


@profile(label="work", rate=200)
def work() -> None:
    spin(0.1)


def child() -> None:
    for _ in range(5):
        work()


def main(method: str) -> None:
    work()
    if method == "os.fork":
        if os.fork() == 0:
            child()
            sys.exit()
        os.wait()
    elif method == "terminated pool":
        with multiprocessing.get_context("fork").Pool(1) as pool:
            pool.apply(child)
    else:
        process = multiprocessing.get_context(method).Process(target=child)
        process.start()
        process.join()


if __name__ == "__main__":
    main(sys.argv[1])
