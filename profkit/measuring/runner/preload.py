"""Which of torch and numpy an order needs, found without running or importing anything of it."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from profkit.measuring.travel.parcel import Parcel
from profkit.model.measurement import Preload
from profkit.model.workorder import WorkOrder


def preload_of(order: WorkOrder, parcel: Parcel | None = None, *, torch_library: bool = False) -> Preload:
    """What the order's zygote imports ahead; `torch_library`: its C++ is linked against torch."""
    if torch_library:
        return Preload.TORCH
    if order.imports is not None:
        return _preload(order.imports)
    packed = () if parcel is None else parcel.packages
    return _preload((*packed, *_imported_in(order.global_setup, order.setup, order.stmt or "")))


@cache
def root_of(package: str) -> str | None:
    """The folder to be put on sys.path so that `package` is found; None where it is not installed."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return str(Path(next(iter(spec.submodule_search_locations))).parent)


def _preload(packages: Iterable[str]) -> Preload:
    known = set(packages)
    return Preload.TORCH if "torch" in known else Preload.NUMPY if "numpy" in known else Preload.NOTHING


def _imported_in(*texts: str) -> Iterator[str]:
    """Top-level packages that source text imports anywhere; text that is no Python (C++) imports nothing."""
    for text in texts:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                yield (node.module or "").partition(".")[0]
