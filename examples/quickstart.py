"""A short PyTorch training run whose input pipeline is slow: where does its time go?

Run it, then ask: `profkit report train`, and `profkit report loading` for the pipeline alone.
"""

from __future__ import annotations

import random

import torch
from torch import nn

from profkit import profile, profiled

FEATURES, CLASSES, BATCH, ROWS, EPOCHS = 24, 4, 128, 1024, 16


def make_rows(count: int) -> list[str]:
    """Lines of text, as a file would hold them: the class, then the features."""
    rng = random.Random(7)
    rows = []
    for _ in range(count):
        kind = rng.randrange(CLASSES)
        features = (rng.gauss(kind if column % CLASSES == kind else 0.0, 1.0) for column in range(FEATURES))
        rows.append(",".join([str(kind), *(f"{value:.6f}" for value in features)]))
    return rows


def parse_row(row: str) -> tuple[int, list[float]]:
    """One line into its class and its features."""
    kind, *features = row.split(",")
    return int(kind), [float(value) for value in features]


def standardise(features: list[float]) -> list[float]:
    """Zero mean and unit variance, value by value: this is the slow part."""
    mean = sum(features) / len(features)
    variance = sum((value - mean) ** 2 for value in features) / len(features)
    return [(value - mean) / (variance**0.5 + 1e-9) for value in features]


def load_batch(rows: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """Every epoch parses every line again: a pipeline that should cache, and does not."""
    parsed = [parse_row(row) for row in rows]
    features = torch.tensor([standardise(values) for _, values in parsed])
    return features, torch.tensor([kind for kind, _ in parsed])


def train_step(
    model: nn.Module, optimiser: torch.optim.Optimizer, batch: torch.Tensor, target: torch.Tensor
) -> float:
    """Forward, backward, update."""
    optimiser.zero_grad()
    loss = nn.functional.cross_entropy(model(batch), target)
    loss.backward()
    optimiser.step()
    return loss.item()


@profile(label="train")
def train(rows: list[str]) -> float:
    """Train a small network; returns the last loss."""
    model = nn.Sequential(
        nn.Linear(FEATURES, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, CLASSES)
    )
    optimiser = torch.optim.Adam(model.parameters())
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
    print(f"final loss {train(make_rows(ROWS)):.3f}")
