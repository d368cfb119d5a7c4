"""Functions of tensors and modules of torch that leave everything as they found it."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from benchmarks.programs.pure_functions import Call


def classify(model: torch.nn.Module, images: torch.Tensor) -> list[int]:
    with torch.no_grad():
        return [int(kind) for kind in model(images).softmax(dim=1).argmax(dim=1)]


def attention(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    scores = queries @ keys.transpose(-1, -2) / math.sqrt(queries.shape[-1])
    scores.sub_(scores.amax(dim=-1, keepdim=True)).exp_()
    return (scores / scores.sum(dim=-1, keepdim=True)) @ values


def slope_at(point: float) -> float:
    position = torch.tensor(point, dtype=torch.float64, requires_grad=True)
    height = torch.exp(-position / 4) * torch.cos(3 * position)
    height.backward()  # type: ignore[no-untyped-call]
    assert position.grad is not None
    return position.grad.item()


def _classifier() -> Call:
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3),
        torch.nn.BatchNorm2d(4),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.5),
        torch.nn.Flatten(),
        torch.nn.Linear(4 * 6 * 6, 5),
    )
    return (model.eval(), torch.linspace(0, 1, 192).reshape(3, 1, 8, 8)), {}


def _attention_inputs() -> Call:
    generator = torch.Generator().manual_seed(1)
    return tuple(torch.randn(2, 10, 8, generator=generator) for _ in range(3)), {}


CASES: list[tuple[Callable[..., object], Callable[[], Call]]] = [
    (classify, _classifier),
    (attention, _attention_inputs),
    (slope_at, lambda: ((0.75,), {})),
]
