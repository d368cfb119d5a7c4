"""A short PyTorch training run with a slow input pipeline: where does its time go?

Run it, then `profkit report train`, and `profkit report loading` for the pipeline alone.
"""

from __future__ import annotations

import random

import torch
from torch import nn

from profkit import profile, profiled

FEATURES, CLASSES, BATCH, ROWS, EPOCHS = 32, 4, 128, 4096, 20


def make_rows(count: int) -> list[str]:
    """Return lines of text like those of a file: the class, then the features."""
    rng = random.Random(7)
    rows = []
    for _ in range(count):
        kind = rng.randrange(CLASSES)
        features = (rng.gauss(kind if column % CLASSES == kind else 0.0, 1.0) for column in range(FEATURES))
        rows.append(",".join([str(kind), *(f"{value:.6f}" for value in features)]))
    return rows


def parse_row(row: str) -> tuple[int, list[float]]:
    """Parse one line into its class and its features."""
    kind, *features = row.split(",")
    return int(kind), [float(value) for value in features]


def standardise(features: list[float]) -> list[float]:
    """Scale to zero mean and unit variance, value by value: this is the slow part."""
    mean = sum(features) / len(features)
    variance = sum((value - mean) ** 2 for value in features) / len(features)
    return [(value - mean) / (variance**0.5 + 1e-9) for value in features]


def load_batch(rows: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """Parse lines again in every epoch: this pipeline should cache, but does not."""
    parsed = [parse_row(row) for row in rows]
    features = torch.tensor([standardise(values) for _, values in parsed])
    return features, torch.tensor([kind for kind, _ in parsed])


def train_step(
    model: nn.Module, optimiser: torch.optim.Optimizer, batch: torch.Tensor, target: torch.Tensor
) -> float:
    """Run the forward and backward pass, and update the model."""
    optimiser.zero_grad()
    loss = nn.functional.cross_entropy(model(batch), target)
    loss.backward()
    optimiser.step()
    return loss.item()


def make_network() -> nn.Module:
    """Return a small classifier."""
    return nn.Sequential(
        nn.Linear(FEATURES, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, CLASSES)
    )


@profile(label="train")
def train(model: nn.Module, optimiser: torch.optim.Optimizer, rows: list[str]) -> float:
    """Train for some epochs; return the last loss."""
    loss = float("nan")
    for _ in range(EPOCHS):
        for start in range(0, len(rows), BATCH):
            with profiled("loading"):
                batch, target = load_batch(rows[start : start + BATCH])
            loss = train_step(model, optimiser, batch, target)
    return loss


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    network = make_network()
    adam = torch.optim.Adam(network.parameters())
    print(f"final loss {train(network, adam, make_rows(ROWS)):.3f}")
