"""Format prices with a cache whose key contains the time, so that it never hits."""

from functools import lru_cache
from time import perf_counter

from benchmarks.answers import truth


@lru_cache(maxsize=256)
def formatted(price: int, now_s: float) -> str:  # PLANTED
    digits, parts = str(price), []
    while digits:
        parts.append(digits[-3:])
        digits = digits[:-3]
    checks = sum(int(digit) * weight for weight, digit in enumerate(str(price) * 6, 1))
    return f"{'.'.join(reversed(parts))} EUR ({checks % 97:02d})"


def main() -> None:
    end_s, length = perf_counter() + truth.SECONDS, 0
    with truth.planted:
        while (now_s := perf_counter()) < end_s:
            for price in range(1_000_000, 1_000_100):
                length += len(formatted(price, now_s))
    print(length, formatted.cache_info())


main()
