"""Evaluate parameters with joblib."""

from benchmarks.answers import truth

# isort: split
from time import perf_counter

from joblib import Parallel, delayed  # type: ignore[import-untyped]


def evaluate(parameter: float) -> float:  # ALSO
    end_s, score = perf_counter() + truth.SECONDS / 3, 0.0
    with truth.also:
        while perf_counter() < end_s:
            for number in range(10_000):
                score += (parameter - number % 7) ** 2
    truth.write()
    return score


def main() -> None:
    with truth.planted:
        scores = Parallel(n_jobs=2)(delayed(evaluate)(n / 10) for n in range(6))  # PLANTED
    print(min(scores))


if __name__ == "__main__":
    main()
