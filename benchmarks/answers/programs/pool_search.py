"""Search for a hash in a pool of processes: `pool_search.py (fork|spawn|forkserver)`."""

import multiprocessing
import sys
from time import perf_counter

from benchmarks.answers import truth


def search(start: int) -> int:  # ALSO
    end_s, state = perf_counter() + truth.SECONDS / 2, start
    with truth.also:
        while perf_counter() < end_s:
            for number in range(10_000):
                state = (state * 6364136223846793005 + number) % 2**61
    truth.write()
    return state


def main() -> None:
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        with truth.planted:
            results = pool.map(search, range(4), chunksize=1)  # PLANTED
        pool.close()
        pool.join()
    print(results)


if __name__ == "__main__":
    main()
