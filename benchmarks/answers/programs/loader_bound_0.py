"""Train a small model on images that are augmented in Python, in the training process."""

from benchmarks.answers import truth

# isort: split
from time import perf_counter

import torch
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)


class Images(Dataset[torch.Tensor]):
    """Images of noise."""

    def __len__(self) -> int:
        return 100_000

    def __getitem__(self, index: int) -> torch.Tensor:
        with truth.planted:
            pixels = augment([index * 7 % 256] * 3_000)
        return torch.tensor(pixels)


def augment(pixels: list[int]) -> list[float]:  # PLANTED
    brighter = [min(255, pixel + 20) for pixel in pixels]
    noisy = [pixel + (number * 31 % 17) - 8 for number, pixel in enumerate(brighter)]
    mean = sum(noisy) / len(noisy)
    return [(pixel - mean) / 128 for pixel in noisy]


def main() -> None:
    model = torch.nn.Linear(3_000, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Images(), batch_size=16, num_workers=0)
    end_s = perf_counter() + 2 * truth.SECONDS
    batches = iter(loader)
    while perf_counter() < end_s:
        loss = model(next(batches)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(float(loss))


if __name__ == "__main__":
    main()
