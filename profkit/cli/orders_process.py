"""Load orders from a user's file or module, in a process of its own."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import os
import runpy
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypedDict, cast

from profkit.errors import (
    CannotTravel,
    EntryRefused,
    MeasuringError,
    UsageError,
)
from profkit.measuring.api import PackedOrder
from profkit.measuring.definitions import Definition, RefusedEntry, expand_each, is_definition
from profkit.measuring.orders import MeasureOptions, refusing_later, work_order
from profkit.measuring.transfer.payload import Parcel, pack
from profkit.measuring.worker.protocol import from_file, hand, handed, in_file
from profkit.model.workorder import Language, Level, Mode, Simulation, WorkOrder
from profkit.store.records import to_json

_APART = frozenset(("function", "args", "kwargs", "tree", "path"))
"""Fields that do not travel as JSON."""
_ENUMS = {"mode": Mode, "language": Language, "level": Level}


class Reply(TypedDict, total=False):
    """What the process that finds orders answers: the orders, or what is wrong and how to fix it."""

    orders: list[dict[str, object]]
    problem: str
    remedy: str


def packed_object(order: WorkOrder | RefusedEntry, parcels: list[Parcel]) -> dict[str, object]:
    """Return an order as JSON; the call of a function is packed and added to `parcels`."""
    if isinstance(order, RefusedEntry):
        error = order.error
        return {
            "order": {"label": order.label, "stmt": order.what},
            "entry": [error.label, error.problem, error.remedy],
        }
    names = [field.name for field in dataclasses.fields(WorkOrder) if field.name not in _APART]
    found: dict[str, object] = {"order": {name: to_json(getattr(order, name)) for name in names}}
    if order.function is None:
        return found
    try:
        parcel = pack(order.function, order.args, order.kwargs)
    except CannotTravel as error:
        return {**found, "refused": [error.what, error.detail]}
    parcels.append(parcel)
    about = ("size_bytes", "what", "file", "line", "coroutine", "packages")
    return {**found, "parcel": {name: to_json(getattr(parcel, name)) for name in about}}


def unpacked(objects: Sequence[Mapping[str, object]], descriptors: Iterator[int]) -> tuple[PackedOrder, ...]:
    """Return the orders that `packed_object` was given, each parcel with its descriptor."""
    return tuple(_unpacked(item, descriptors) for item in objects)


def _unpacked(item: Mapping[str, object], descriptors: Iterator[int]) -> PackedOrder:
    fields = {
        name: _field(name, value) for name, value in cast("Mapping[str, object]", item["order"]).items()
    }
    order = WorkOrder(**fields)  # type: ignore[arg-type]
    parcel = None
    refusal: MeasuringError | None = None
    if "parcel" in item:
        about = {name: _tuples(value) for name, value in cast("Mapping[str, object]", item["parcel"]).items()}
        parcel = Parcel(fd=next(descriptors), **about)  # type: ignore[arg-type]
    if "refused" in item:
        refusal = CannotTravel(*cast("tuple[str, str]", item["refused"]))
    if "entry" in item:
        refusal = EntryRefused(*cast("tuple[str, str, str]", item["entry"]))
    return PackedOrder(order, parcel, refusal)


def _field(name: str, value: object) -> object:
    if name in _ENUMS:
        return _ENUMS[name](value)
    if name == "simulate":
        return tuple(Simulation(item) for item in cast("Sequence[str]", value))
    return _tuples(value)


def _tuples(value: object) -> object:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


STARTED_WITH = frozenset(sys.modules)
"""What Python itself needs, which no folder on `sys.path` can replace."""

if __name__ == "__main__":
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


_NAMES = ("ORDERS", "BENCHMARKS")
"""Names that a file may give its definitions; the second is that of PyTorch's instruction_counts."""
AT_ONCE = 8
"""Descriptors in one message."""


def main() -> None:
    """Answer the one request that comes through stdin."""
    channel = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    request = from_file(handed(channel)[0])
    _put_first(str(request["folder"]))
    reply, parcels = _answered(request)
    hand(channel, [in_file(cast("dict[str, object]", reply))])
    for start in range(0, len(parcels), AT_ONCE):
        hand(channel, [parcel.fd for parcel in parcels[start : start + AT_ONCE]])


def _put_first(folder: str) -> None:
    """Import from a folder first from now on, also what was imported from elsewhere under the same name."""
    sys.path.insert(0, folder)
    for name in list(sys.modules):
        top = name.partition(".")[0]
        if name not in STARTED_WITH and top != "profkit" and _holds(folder, top):
            del sys.modules[name]


def _holds(folder: str, module: str) -> bool:
    path = os.path.join(folder, module)
    return os.path.isfile(f"{path}.py") or os.path.isfile(os.path.join(path, "__init__.py"))


def _answered(request: Mapping[str, object]) -> tuple[Reply, list[Parcel]]:
    what, options = str(request["what"]), cast("MeasureOptions", request["options"])
    parcels: list[Parcel] = []
    try:
        orders = (
            _of_file(what, options)
            if request["is_file"]
            else _of_function(what, cast("Sequence[int]", request["threads"]), options)
        )
        return {"orders": [packed_object(order, parcels) for order in orders]}, parcels
    except UsageError as error:
        return {"problem": error.problem, "remedy": error.remedy}, []


def _of_file(path: str, options: MeasureOptions) -> tuple[WorkOrder | RefusedEntry, ...]:
    if "label" in options:
        raise UsageError(f"the entries of {path} have labels of their own", "leave out --label")
    if (root := benchmark_root(path)) is not None:
        _put_first(root)
    try:
        with refusing_later():
            defined = runpy.run_path(path)
    except Exception as error:
        raise UsageError(f"{path} raised {type(error).__name__}: {error}", "fix it") from error
    found = next((defined[name] for name in _NAMES if name in defined), None)
    entries = found if isinstance(found, Mapping) else _listed(found)
    if entries:
        return tuple(expand_each(entries, options))
    raise UsageError(
        f"{path} has no ORDERS", "let it define ORDERS, a dictionary of statements or a list of work_order(…)"
    )


def _listed(found: object) -> tuple[Definition, ...]:
    """Return the definitions of a list, right or wrong; none if it has not a single one."""
    if isinstance(found, str) or not isinstance(found, Iterable):
        return ()
    items: tuple[Definition, ...] = tuple(found)
    return items if any(map(is_definition, items)) else ()


def benchmark_root(path: str) -> str | None:
    """Return the folder that definitions of PyTorch's instruction_counts import `core` from, if any.

    In a checkout of PyTorch they are in `benchmarks/instruction_counts/definitions/`.
    """
    folder = os.path.dirname(os.path.abspath(path))
    for root in (folder, os.path.dirname(folder)):
        if os.path.isfile(os.path.join(root, "core", "api.py")):
            return root
    return None


def _of_function(name: str, threads: Sequence[int], options: MeasureOptions) -> tuple[WorkOrder, ...]:
    function = _function(name)
    variants: list[MeasureOptions] = [{"label": name, **options, "num_threads": count} for count in threads]
    return tuple(work_order(function, **variant) for variant in variants)


def _function(name: str) -> Callable[..., object]:
    module_name, _, path = name.partition(":")
    try:
        found: object = importlib.import_module(module_name)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        remedy = "give MODULE:FUNCTION as Python imports it"
        raise UsageError(f"there is no {name}: {error}", remedy) from error
    except Exception as error:
        raise UsageError(f"{module_name} raised {type(error).__name__}: {error}", "fix it") from error
    if not callable(found):
        raise UsageError(f"{name} is {found!r}, which cannot be called", "name a function")
    _check_arguments(name, found)
    return found


def _check_arguments(name: str, function: Callable[..., object]) -> None:
    try:
        inspect.signature(function).bind()
    except TypeError as error:
        module_name, _, path = name.partition(":")
        remedy = f'measure a statement: --setup "from {module_name} import {path}" "{path}(…)"'
        raise UsageError(f"{name} cannot be called without arguments: {error}", remedy) from error
    except ValueError:  # written in C, without a signature
        return


if __name__ == "__main__":
    main()
