"""Power iteration with numpy."""

from benchmarks.answers import truth

# isort: split
from time import perf_counter

import numpy as np


def iterate(matrix: np.ndarray, steps_s: float) -> float:
    end_s, vectors = perf_counter() + steps_s, np.ones((len(matrix), 400))
    while perf_counter() < end_s:
        with truth.planted:
            vectors = matrix @ vectors  # PLANTED
        vectors /= np.linalg.norm(vectors[:, 0])
    return float(vectors[:, 0] @ matrix @ vectors[:, 0])


if __name__ == "__main__":
    generator = np.random.default_rng(4)
    square = generator.random((1_500, 1_500))
    print(iterate(square + square.T, truth.SECONDS))
