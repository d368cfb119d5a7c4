"""Train a small model on images that are augmented in Python, by two workers."""

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
        return torch.tensor(augment([index * 7 % 256] * 3_000))


def augment(pixels: list[int]) -> list[float]:  # ALSO
    brighter = [min(255, pixel + 20) for pixel in pixels]
    noisy = [pixel + (number * 31 % 17) - 8 for number, pixel in enumerate(brighter)]
    mean = sum(noisy) / len(noisy)
    return [(pixel - mean) / 128 for pixel in noisy]


def main() -> None:
    model = torch.nn.Linear(3_000, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Images(), batch_size=16, num_workers=2)
    batches = iter(loader)
    end_s = perf_counter() + 2 * truth.SECONDS
    while perf_counter() < end_s:
        with truth.planted:
            images = next(batches)  # PLANTED
        loss = model(images).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(float(loss))


if __name__ == "__main__":
    main()
