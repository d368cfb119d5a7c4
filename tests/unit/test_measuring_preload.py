import numpy as np
import pytest

from profkit.measuring.orders import work_order
from profkit.measuring.runner.preload import packages_of, preload_of
from profkit.model.measurement import Preload


def uses_numpy(values):
    return np.sum(values)


def calls_it(values):
    return uses_numpy(values)


def imports_inside():
    import torch

    return torch


def plain(values):
    return sorted(values)


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
    ("function", "args", "expected"),
    [
        (uses_numpy, (), ("numpy",)),
        (calls_it, (), ("numpy",)),
        (imports_inside, (), ("torch",)),
        (plain, ([1],), ()),
        (plain, (np.ones(3),), ("numpy",)),
        (np.ones(3).sum, (), ("numpy",)),
        (len, (), ()),
    ],
)
def test_callables_are_looked_through(function, args, expected) -> None:
    assert packages_of(function, args, {}) == expected


def test_a_closure_is_looked_through_even_while_it_is_empty() -> None:
    def inner() -> object:
        return later

    assert packages_of(inner, (), {}) == ()
    later = np.float64(1)
    assert packages_of(inner, (), {}) == ("numpy",)


def test_c_plus_plus_needs_torch_where_it_is_linked_against_it() -> None:
    order = work_order("auto z = x + x;", setup="auto x = at::ones({4});", language="c++")
    assert preload_of(order) is Preload.NOTHING
    assert preload_of(order, torch_library=True) is Preload.TORCH
