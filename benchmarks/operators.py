"""Ten operators of `examples/operator_suite.py` in Python and in C++, counted by profkit and by torch."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.torch_tools import torch_callgrind
from profkit import WorkOrder, expand, measure_all
from profkit.model.workorder import Language, Level

_SUITE = Path(__file__).parents[1] / "examples" / "operator_suite.py"
_NUMBER, _REPEATS = 100, 2
_LABELS = (
    "Creation / empty",
    "Pointwise / Math / add / tensor",
    "Pointwise / Math / multiply / broadcast in place",
    "Pointwise / Data movement / clone",
    "Reduction / sum",
    "Indexing / one index / two / number",
    "Metadata and views / transpose",
    "Matrix product / mm",
    "Sorting / sort",
    "Modules / Linear",
)


def measure(quick: bool) -> list[Figure]:
    """Compare the lowest of torch's repeats with profkit's; torch takes a minute for each."""
    wanted = _LABELS[1:2] if quick else _LABELS
    orders = [order for order in _suite() if order.label in wanted and _is_plain(order)]
    assert len(orders) == 2 * len(wanted)
    runs = measure_all([_counted(order) for order in orders], keep=False)
    counts = [run.measurement.instructions for run in runs if run.measurement is not None]
    return [
        _figure(order, found.net) for order, found in zip(orders, counts, strict=True) if found is not None
    ]


def _suite() -> tuple[WorkOrder, ...]:
    spec = importlib.util.spec_from_file_location("operator_suite", _SUITE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return expand(module.ORDERS, mode="callgrind", number=_NUMBER, repeats=_REPEATS)


def _is_plain(order: WorkOrder) -> bool:
    """Return whether an order is neither TorchScript nor a backward pass."""
    return {("runtime", "eager"), ("autograd", "forward")} <= set(order.labels)


def _counted(order: WorkOrder) -> WorkOrder:
    """Return the order as torch runs it: Python as module-level code."""
    return replace(order, level=Level.MODULE) if order.language is Language.PYTHON else order


def _figure(order: WorkOrder, ours: float) -> Figure:
    theirs = torch_callgrind(
        order.stmt or "", order.setup, number=_NUMBER, repeats=_REPEATS, language=order.language.value
    ).counts
    return Figure(
        f"{order.label}, {order.language.value}: difference from torch's count",
        abs(ours / min(theirs) - 1) * 100, "%", 10.0, certain=True,
        detail=f"{ours:,.0f}, torch {min(theirs):,.0f} to {max(theirs):,.0f}",
    )  # fmt: skip
