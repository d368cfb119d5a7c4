"""Poll a device through its C library, which waits between attempts."""

import ctypes
from time import perf_counter

from benchmarks.answers import truth

libc = ctypes.CDLL(None)


def read_register(number: int) -> int:
    libc.usleep(30_000)  # PLANTED
    return number * 3 % 256


def main() -> None:
    values: list[int] = []
    end_s = perf_counter() + truth.SECONDS
    while perf_counter() < end_s:
        with truth.planted:
            values.append(read_register(len(values)))
        values.sort()
    print(len(values), "registers")


main()
