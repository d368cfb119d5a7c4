"""A command that imports torch in the one function that needs it."""

import sys

from benchmarks.answers import truth


def norm(values: list[float]) -> float:
    with truth.planted:
        import torch  # PLANTED
    return float(torch.tensor(values).norm())


def main(arguments: list[str]) -> None:
    values = [float(argument) for argument in arguments] or [3.0, 4.0]
    print(norm(values))


if __name__ == "__main__":
    main(sys.argv[1:])
