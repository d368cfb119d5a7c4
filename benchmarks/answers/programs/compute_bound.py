"""Train a model that computes much longer than its data takes, which N workers load: `compute_bound.py N`."""

from benchmarks.answers import truth

# isort: split
import sys
from time import perf_counter

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


def train_step(model: torch.nn.Module, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:  # PLANTED
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()  # type: ignore[no-untyped-call]
    return loss


def main() -> None:
    data = TensorDataset(torch.randn(4_000, 512), torch.randint(0, 10, (4_000,)))
    model = torch.nn.Sequential(
        torch.nn.Linear(512, 2_048), torch.nn.ReLU(), torch.nn.Linear(2_048, 2_048), torch.nn.ReLU(),
        torch.nn.Linear(2_048, 10),
    )  # fmt: skip
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(data, batch_size=200, shuffle=True, num_workers=int(sys.argv[1]))
    end_s = perf_counter() + 2 * truth.SECONDS
    while perf_counter() < end_s:
        for images, labels in loader:
            with truth.planted:
                loss = train_step(model, images, labels)
            optimizer.step()
            optimizer.zero_grad()
    print(float(loss))


if __name__ == "__main__":
    main()
