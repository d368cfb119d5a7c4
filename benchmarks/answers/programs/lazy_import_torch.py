"""A command that imports torch in the one function that needs it."""

import sys

from benchmarks.answers import truth


def norm(values: list[float]) -> float:
    """Return the norm of a vector."""
    with truth.planted:
        import torch  # PLANTED
    return float(torch.tensor(values).norm())


def main(arguments: list[str]) -> None:
    """Print the norm of the arguments."""
    values = [float(argument) for argument in arguments] or [3.0, 4.0]
    print(norm(values))


if __name__ == "__main__":
    main(sys.argv[1:])
