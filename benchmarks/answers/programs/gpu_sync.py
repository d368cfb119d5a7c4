"""Train on a GPU, and print the loss of each step."""

from benchmarks.answers import truth

# isort: split
from time import perf_counter

import torch


def main() -> None:
    weights = torch.randn(8_192, 8_192, device="cuda")
    batch = torch.randn(8_192, 8_192, device="cuda")
    torch.cuda.synchronize()
    end_s, losses = perf_counter() + truth.SECONDS, list[float]()
    while perf_counter() < end_s:
        for _ in range(20):
            batch = torch.tanh(batch @ weights)
        loss = batch.mean()
        with truth.planted:
            losses.append(loss.item())  # PLANTED
    print(losses[-1])


if __name__ == "__main__":
    main()
