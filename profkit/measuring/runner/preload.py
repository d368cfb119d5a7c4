"""Which of torch and numpy an order needs, found without running or importing anything of it."""

from __future__ import annotations

import ast
import importlib.util
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from profkit.model.measurement import Preload
from profkit.model.workorder import WorkOrder

_DEEPEST = 4
"""How many helpers of a function are looked through, one calling the next."""


def preload_of(order: WorkOrder, *, torch_library: bool = False) -> Preload:
    """What the order's zygote imports ahead; `torch_library`: its C++ is linked against torch."""
    if order.imports is not None:
        return _preload(order.imports)
    found = set(_named_in(order.global_setup, order.setup, order.stmt or ""))
    if order.function is not None:
        found.update(packages_of(order.function, order.args, order.kwargs))
    return Preload.TORCH if torch_library else _preload(found)


def packages_of(
    function: Callable[..., object], args: Iterable[object], kwargs: Mapping[str, object]
) -> tuple[str, ...]:
    """The packages among "torch" and "numpy" that a callable's globals, closure and arguments come from."""
    found = {_package(type(value)) for value in (*args, *kwargs.values())}
    found.update(_package(value) for value in _values_in(function, _DEEPEST))
    return tuple(sorted(found & {"torch", "numpy"}))


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


def _named_in(*texts: str) -> Iterator[str]:
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


def _values_in(function: object, depth: int) -> Iterator[object]:
    """What a function's code names: globals and closure, and those of the functions among them."""
    target = getattr(function, "__func__", getattr(function, "__wrapped__", function))
    yield getattr(function, "__self__", None)
    if not isinstance(target, types.FunctionType):
        yield target
        return
    cells = (cell.cell_contents for cell in target.__closure__ or () if _is_filled(cell))
    named = (target.__globals__[name] for name in _names(target.__code__) if name in target.__globals__)
    yield from _named_in_code(target.__code__)
    for value in (*cells, *named):
        yield value
        if isinstance(value, types.FunctionType) and depth:
            yield from _values_in(value, depth - 1)


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _named_in_code(code: types.CodeType) -> Iterator[str]:
    """Names of imports within the function; a name that merely reads so costs a larger zygote, no more."""
    return (name.partition(".")[0] for name in _names(code) if name.partition(".")[0] in ("torch", "numpy"))


def _package(value: object) -> str:
    """The top-level package that a module, a class, or the class of anything else comes from."""
    if isinstance(value, str):
        return value
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0]
    home = value if isinstance(value, type) else type(value)
    own = getattr(value, "__module__", None)
    names = (own if isinstance(own, str) else "", *(base.__module__ for base in home.__mro__))
    return next((top for name in names if (top := name.partition(".")[0]) in ("torch", "numpy")), "")


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty cell raises
    except ValueError:
        return False
    return True
