"""Estimate pi in a pool of spawned processes."""

import multiprocessing
from time import perf_counter

from benchmarks.answers import truth


def estimate(seed: int) -> int:  # ALSO
    """Return a pseudo-random state after many steps."""
    end_s, state = perf_counter() + truth.SECONDS / 2, seed
    with truth.also:
        while perf_counter() < end_s:
            for number in range(10_000):
                state = (state * 1103515245 + 12345 + number) % 2**31
    truth.write()
    return state


def main() -> None:
    """Do four seeds with two processes."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        with truth.planted:
            results = pool.map(estimate, range(4), chunksize=1)  # PLANTED
        pool.close()
        pool.join()
    print(results)


if __name__ == "__main__":
    main()
