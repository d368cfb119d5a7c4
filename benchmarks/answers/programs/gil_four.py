"""Count primes of four ranges in four threads, in pure Python."""

import threading
from time import perf_counter

from benchmarks.answers import truth


def is_prime(number: int) -> bool:  # PLANTED
    divisor = 3
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor += 2
    return True


def count_primes(first: int, counts: list[int]) -> None:
    end_s, found, number = perf_counter() + truth.SECONDS, 0, first
    with truth.planted:
        while perf_counter() < end_s:
            found += is_prime(number)
            number += 2
    counts.append(found)
    truth.threads()


counts: list[int] = []
firsts = [10**9 + 1, 2 * 10**9 + 1, 3 * 10**9 + 1, 4 * 10**9 + 1]
workers = [
    threading.Thread(target=count_primes, args=(first, counts), name=f"counter-{number}")
    for number, first in enumerate(firsts)
]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print(sum(counts), "primes")
