"""Objects of torch that must not be copied."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.utils.data import DataLoader

from profkit.errors import CannotTravel
from profkit.measuring.transfer.payload import pack
from profkit.measuring.transfer.signature import signature_of
from tests.unit.measuring.transfer.test_payload import Reader, take


@pytest.mark.parametrize("around", [lambda it: it, Reader, lambda it: {"a": [1, (2, Reader(it))]}])
def test_an_iterator_of_a_data_loader_is_refused(around: Callable[[object], object]) -> None:
    held = iter(DataLoader(torch.zeros(4), batch_size=2))
    with pytest.raises(CannotTravel, match=r"argument 'thing' of take \("):
        pack(take, [around(held)])


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
