"""Simulate two pendulums in two threads, in pure Python."""

import threading
from time import perf_counter

from benchmarks.answers import truth


def simulate(angle: float, results: list[float]) -> None:
    end_s = perf_counter() + truth.SECONDS
    with truth.planted:
        results.append(steps(angle, end_s))
    truth.threads()


def steps(angle: float, end_s: float) -> float:  # PLANTED
    speed, number = 0.0, 0
    while True:
        speed -= 9.81 * (angle - angle**3 / 6) * 1e-4
        angle += speed * 1e-4
        number += 1
        if number % 10_000 == 0 and perf_counter() > end_s:
            return angle


results: list[float] = []
threads = [threading.Thread(target=simulate, args=(0.1 * n, results), name=f"pendulum-{n}") for n in (1, 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(results)
