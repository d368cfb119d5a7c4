"""Mix colours in a pool of processes of a fork server."""

import multiprocessing
from time import perf_counter

from benchmarks.answers import truth


def mix(shade: int) -> int:  # ALSO
    """Return the mixed colour."""
    end_s, colour = perf_counter() + truth.SECONDS / 2, shade
    with truth.also:
        while perf_counter() < end_s:
            for number in range(10_000):
                colour = (colour ^ number << 3) % 16_777_213
    truth.write()
    return colour


def main() -> None:
    """Do four shades with two processes."""
    with multiprocessing.get_context("forkserver").Pool(2) as pool:
        with truth.planted:
            results = pool.map(mix, range(4), chunksize=1)  # PLANTED
        pool.close()
        pool.join()
    print(results)


if __name__ == "__main__":
    main()
