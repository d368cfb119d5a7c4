"""Tensors and arrays on their way to another process: nothing is lost, and nothing goes twice."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.measuring.transfer import pickling
from profkit.measuring.transfer.payload import Payload, pack
from tests.integration.unpacker import Unpacker

FACTS = (
    "[[list(x.shape), list(x.stride()), x.storage_offset(), str(x.dtype), x.requires_grad, str(x.device),"
    " type(x).__name__, x.detach().reshape(-1).double().tolist()] for x in args]"
)


@pytest.fixture(scope="module")
def child() -> Iterator[Unpacker]:
    with Unpacker() as unpacker:
        yield unpacker


def sent(*args: object, **kwargs: object) -> Payload:
    return pack(print, args, kwargs)


def facts(*args: Any) -> Any:
    return json.loads(json.dumps(eval(FACTS, {"args": args})))


BASE = torch.arange(24.0)
TENSORS = {
    "whole": BASE,
    "view": BASE[3:7],
    "transposed": BASE.view(4, 6).t(),
    "steps": BASE[::5],
    "expanded": BASE[:1].expand(8),
    "scalar": torch.tensor(2.5),
    "zero-size": torch.empty(0, 3),
    "zero-size view": BASE[4:4],
    "bfloat16": torch.arange(5, dtype=torch.bfloat16),
    "bool": torch.tensor([True, False]),
    "needs a gradient": torch.ones(3, requires_grad=True),
    "not a leaf": torch.ones(3, requires_grad=True) * 2,
    "parameter": torch.nn.Parameter(torch.ones(2, 2)),
}


@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_is_as_it_was(child: Unpacker, name: str) -> None:
    assert child.ask(sent(TENSORS[name]), FACTS) == facts(TENSORS[name])


@pytest.mark.parametrize(
    ("tensor", "same"),
    [
        (torch.tensor([1 + 2j]).conj(), "args[0].tolist() == [1 - 2j] and args[0].is_conj()"),
        (torch.eye(2).to_sparse(), "args[0].is_sparse and args[0].to_dense().tolist() == [[1, 0], [0, 1]]"),
        (torch.empty(2, 3, device="meta"), "args[0].is_meta and list(args[0].shape) == [2, 3]"),
    ],
)
def test_odd_tensors(child: Unpacker, tensor: torch.Tensor, same: str) -> None:
    assert child.ask(sent(tensor), same) is True


def test_tensors_go_on_sharing(child: Unpacker) -> None:
    base = torch.zeros(10)
    payload = sent(base[:3], base[2:5], [base], base.untyped_storage())
    expression = "[args[0].fill_(7), args[1].tolist(), args[2][0][:4].tolist(), args[3][9]][1:]"
    assert child.ask(payload, expression) == [[7.0, 0.0, 0.0], [7.0, 7.0, 7.0, 0.0], 0]


def test_the_same_tensor_stays_the_same(child: Unpacker) -> None:
    x = torch.zeros(10)
    assert child.ask(sent(x, [x], key=x), "args[0] is args[1][0] is kwargs['key']")


def test_what_a_worker_writes_is_its_own(child: Unpacker) -> None:
    x = torch.zeros(4)
    payload = sent(x, numpy.zeros(4))
    assert child.ask(payload, "[args[0].add_(1).tolist(), args[1].__iadd__(1).tolist()]") == [[1.0] * 4] * 2
    assert child.ask(payload, "[args[0].tolist(), args[1].tolist()]") == [[0.0] * 4] * 2
    assert x.tolist() == [0.0] * 4


def test_only_what_is_used_is_sent(child: Unpacker) -> None:
    base = torch.arange(10_000_000, dtype=torch.float32)
    payload = sent(base[:10], base[-10:])
    assert payload.size_bytes < 10_000
    assert child.ask(payload, "[args[0][9].item(), args[1][0].item()]") == [9.0, 9_999_990.0]
    assert child.ask(payload, "args[0].untyped_storage().data_ptr() == args[1].untyped_storage().data_ptr()")
    assert sent(base[:10], base[5:20]).size_bytes < 10_000
    assert sent(base[:10], base).size_bytes >= base.nbytes


def test_memory_of_other_devices(child: Unpacker, monkeypatch: pytest.MonkeyPatch) -> None:
    """With "cpu:0" as one: what tells it from "cpu" is nothing but the name."""
    made = pickling.Storage.__init__

    def elsewhere(self: pickling.Storage, number: int, storage: torch.UntypedStorage) -> None:
        made(self, number, storage)
        self.device = "cpu:0"

    monkeypatch.setattr(pickling.Storage, "__init__", elsewhere)
    monkeypatch.setattr(pickling, "_CHUNK", 1000)
    base = torch.arange(5000.0)
    payload = sent(base[100:900], base[880:1000], base[4000:4001], torch.empty(0))
    assert 4 * 900 < payload.size_bytes < 4 * 900 + 3000
    assert child.ask(payload, "[x.tolist() for x in args]") == [
        list(range(100, 900)), list(range(880, 1000)), [4000.0], [],
    ]  # fmt: skip
    assert child.ask(payload, "[args[0].fill_(7), args[1][:21].tolist()][1]") == [7.0] * 20 + [900.0]


def test_alignment_is_kept(child: Unpacker) -> None:
    x, y = torch.ones(1000), numpy.ones(3000)
    assert child.ask(sent(x, y), "[args[0].data_ptr() % 4096, args[1].ctypes.data % 4096]") == [
        x.data_ptr() % 4096,
        y.ctypes.data % 4096,
    ]


def test_modules_and_their_gradients(child: Unpacker) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    model[0].bias = torch.nn.Parameter(model[0].weight.detach()[:, 0].clone())
    x = torch.ones(4, 3)
    model(x).sum().backward()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    said = child.ask(
        pack(lambda model, optimizer, x: (optimizer.step(), model(x))[1].tolist(), (model, optimizer, x)),
        "[args[0][0].weight.grad.tolist(), function(*args)]",
    )
    grad = model[0].weight.grad
    assert grad is not None
    before = grad.tolist()
    optimizer.step()
    assert said == [before, model(x).tolist()]


def test_arrays(child: Unpacker) -> None:
    arrays = [
        numpy.arange(6.0).reshape(2, 3),
        numpy.arange(6, dtype=numpy.int16).reshape(2, 3).T,
        numpy.arange(10)[::3],
        numpy.empty((0, 2)),
        numpy.array(["a", "bc"]),
        numpy.array([{"k": 1}, None], dtype=object),
    ]
    expression = "[[x.tolist(), str(x.dtype), list(x.shape)] for x in args]"
    expected = [[x.tolist(), str(x.dtype), list(x.shape)] for x in arrays]
    assert child.ask(sent(*arrays), expression) == expected
    assert sent(*arrays).packages == ("numpy",)


def test_a_read_only_array_stays_so(child: Unpacker) -> None:
    array = numpy.arange(3)
    array.setflags(write=False)
    assert child.ask(sent(array, numpy.arange(3)), "[x.flags.writeable for x in args]") == [False, True]


@st.composite
def views(draw: st.DrawFn) -> list[torch.Tensor]:
    """Tensors upon a few storages, in any strides."""
    dtypes = st.sampled_from([torch.float32, torch.bfloat16, torch.uint8, torch.int64])
    storages = [
        torch.arange(draw(st.integers(0, 40))).to(draw(dtypes)) for _ in range(draw(st.integers(1, 3)))
    ]
    found = []
    for _ in range(draw(st.integers(1, 6))):
        base = draw(st.sampled_from(storages))
        offset = draw(st.integers(0, len(base)))
        rows, columns = draw(st.integers(0, 5)), draw(st.integers(0, 5))
        row_step, column_step = draw(st.integers(0, 7)), draw(st.integers(0, 7))
        last = offset + max(0, rows - 1) * row_step + max(0, columns - 1) * column_step
        if rows * columns == 0 or last < len(base):
            found.append(torch.as_strided(base, (rows, columns), (row_step, column_step), offset))
    return found


SHARING = "[[x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr() for x in args] for y in args]"


@settings(max_examples=60, deadline=None)
@given(views())
def test_any_views(child: Unpacker, made: list[torch.Tensor]) -> None:
    filled = [x for x in made if x.untyped_storage().nbytes()]
    payload = sent(*filled)
    assert child.ask(payload, FACTS) == facts(*filled)
    assert child.ask(payload, SHARING) == eval(SHARING, {"args": filled})


MEMORY = """
import resource, sys
import torch
from profkit.measuring.transfer.payload import pack
x = torch.ones(50_000_000)  # 200 MB
pack(print, (torch.ones(1),)).close()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
payload = pack(print, (x, x[:5]))
print(payload.size_bytes, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


def test_large_storage_is_not_copied_in_this_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    size, grown = map(int, done.stdout.split())
    assert 200_000_000 <= size < 200_100_000
    assert grown < size / 10


def test_without_torch_it_is_not_imported() -> None:
    code = "import sys\nfrom profkit.measuring.transfer.payload import pack\npack(sorted, ([1],))\n"
    code += "print('torch' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    assert done.stdout.split() == ["False", "False"]
