"""Attention scores with torch on the CPU."""

from benchmarks.answers import truth

# isort: split
from time import perf_counter

import torch


def attend(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    with truth.planted:
        scores = torch.matmul(queries, keys.transpose(-1, -2))  # PLANTED
    best = scores.argmax(dim=-1)
    return values.index_select(0, best[0])


@torch.inference_mode()
def main() -> None:
    queries, keys = torch.randn(2, 1_200, 2_048), torch.randn(2, 1_200, 2_048)
    values = torch.randn(1_200, 64)
    end_s, attended = perf_counter() + 2 * truth.SECONDS, values
    while perf_counter() < end_s:
        attended = attend(queries, keys, values)
    print(attended.shape)


if __name__ == "__main__":
    main()
