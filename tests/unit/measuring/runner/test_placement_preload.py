import numpy as np
import pytest

from profkit.measuring.orders import work_order
from profkit.measuring.runner.placement import preload_of
from profkit.measuring.transfer.payload import pack
from profkit.model.measurement import Preload


def uses_numpy(values):
    return np.sum(values)


@pytest.mark.parametrize(
    ("stmt", "setup", "expected"),
    [
        ("x + y", "import torch; x = y = torch.ones(4)", Preload.TORCH),
        ("np.add(a, a)", "import numpy as np; a = np.ones(3)", Preload.NUMPY),
        ("f()", "from torch.nn import Linear\nimport numpy\nf = Linear", Preload.TORCH),
        ("sorted(l)", "l = [3, 1]", Preload.NOTHING),
        ("import torch.nn as nn", "", Preload.TORCH),
        ("torchlike.f()", "import torchlike", Preload.NOTHING),
    ],
)
def test_statements_say_what_they_import(stmt: str, setup: str, expected: Preload) -> None:
    assert preload_of(work_order(stmt, setup=setup)) is expected


def test_imports_overrides_what_was_found() -> None:
    assert preload_of(work_order("x", setup="import torch", imports=())) is Preload.NOTHING
    assert preload_of(work_order("x", imports=["numpy"])) is Preload.NUMPY


@pytest.mark.parametrize(
    ("function", "args", "expected"), [(uses_numpy, ([1],), Preload.NUMPY), (len, ([1],), Preload.NOTHING)]
)
def test_what_travels_is_known_to_the_payload(function, args, expected) -> None:
    payload = pack(function, args)
    assert preload_of(work_order(function, args=args), payload) is expected
    payload.close()


def test_c_plus_plus_needs_torch_where_it_is_linked_against_it() -> None:
    order = work_order("auto z = x + x;", setup="auto x = at::ones({4});", language="c++")
    assert preload_of(order) is Preload.NOTHING
    assert preload_of(order, torch_library=True) is Preload.TORCH
