"""A pipeline of generators, one stage of which is slow."""

from collections.abc import Iterator
from time import perf_counter

from benchmarks.answers import truth


def read(end_s: float) -> Iterator[str]:
    number = 0
    while perf_counter() < end_s:
        yield f"{number};{number % 60};{number * 3 % 1_000}"
        number += 1


def parse(lines: Iterator[str]) -> Iterator[list[int]]:
    for line in lines:
        yield [int(part) for part in line.split(";")]


def smooth(rows: Iterator[list[int]]) -> Iterator[float]:
    window: list[int] = []
    for _, _, value in rows:
        window = [*window[-400:], value]
        yield mean(window)


def mean(values: list[int]) -> float:  # PLANTED
    total = weights = 0
    for age, value in enumerate(values):
        total += value * (age + 1)
        weights += age + 1
    return total / weights


def main() -> None:
    with truth.planted:
        print(sum(smooth(parse(read(perf_counter() + truth.SECONDS)))))


main()
