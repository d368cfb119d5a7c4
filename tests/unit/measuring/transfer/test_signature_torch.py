"""Signatures of tensors and of torch's own values."""

from __future__ import annotations

import pytest
import torch

from profkit.measuring.transfer.signature import signature_of


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (torch.ones(64, 3), "torch.float32[64,3]@cpu"),
        (torch.nn.Parameter(torch.ones(2, dtype=torch.bfloat16)), "torch.bfloat16[2]@cpu"),
        (torch.empty(2, device="meta"), "torch.float32[2]@meta"),
        (torch.tensor(1), "torch.int64[]@cpu"),
        (torch.bfloat16, "torch.bfloat16"),
        (torch.device("meta"), "meta"),
        (torch.channels_last, "torch.channels_last"),
    ],
)
def test_a_value(value: object, said: str) -> None:
    assert signature_of((value,), {}) == said
