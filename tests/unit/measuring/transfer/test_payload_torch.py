"""Objects of torch that must not be copied."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.utils.data import DataLoader

from profkit.errors import CannotTravel
from profkit.measuring.transfer.payload import pack
from tests.unit.measuring.transfer.test_payload import Reader, take


@pytest.mark.parametrize("around", [lambda it: it, Reader, lambda it: {"a": [1, (2, Reader(it))]}])
def test_an_iterator_of_a_data_loader_is_refused(around: Callable[[object], object]) -> None:
    held = iter(DataLoader(torch.zeros(4), batch_size=2))
    with pytest.raises(CannotTravel, match=r"argument 'thing' of take \("):
        pack(take, [around(held)])
