"""Functions that change tensors and modules of torch each time they are called."""

from __future__ import annotations

from collections.abc import Callable

import torch

from benchmarks.programs.changing_functions import Call


def exponential_average(average: torch.Tensor, latest: torch.Tensor, weight: float) -> torch.Tensor:
    return average.mul_(1.0 - weight).add_(latest, alpha=weight)


def training_step(
    model: torch.nn.Module, optimiser: torch.optim.Optimizer, inputs: torch.Tensor, targets: torch.Tensor
) -> float:
    optimiser.zero_grad()
    loss = torch.nn.functional.mse_loss(model(inputs), targets)
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    return float(loss.detach())


def batch_statistics(layer: torch.nn.BatchNorm1d, batch: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return torch.as_tensor(layer(batch)).abs().mean()


def _small_network() -> Call:
    generator = torch.Generator().manual_seed(5)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    inputs = torch.randn(16, 6, generator=generator)
    return (model, optimiser, inputs, inputs.sum(dim=1, keepdim=True)), {}


CASES: list[tuple[Callable[..., object], Callable[[], Call]]] = [
    (exponential_average, lambda: ((torch.zeros(50), torch.arange(50.0)), {"weight": 0.1})),
    (training_step, _small_network),
    (batch_statistics, lambda: ((torch.nn.BatchNorm1d(4), torch.arange(48.0).reshape(12, 4)), {})),
]
