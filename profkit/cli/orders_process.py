"""Process that finds orders: it runs the user's file, or imports the user's module.

`commands.measure` starts it by its path. The user's folder is first on its `sys.path`, never on that of the
command itself: a `rich.py` there belongs to the user's program.
"""

from __future__ import annotations

import os
import sys

STARTED_WITH = frozenset(sys.modules)
"""Modules that Python itself needs, which no folder on `sys.path` can replace."""

if __name__ == "__main__":
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

import importlib  # noqa: E402
import inspect  # noqa: E402
import runpy  # noqa: E402
import socket  # noqa: E402
from collections.abc import Callable, Iterable, Mapping, Sequence  # noqa: E402
from typing import cast  # noqa: E402

from profkit.errors import UsageError  # noqa: E402
from profkit.measuring.definitions import Definition, RefusedEntry, expand_each, is_definition  # noqa: E402
from profkit.measuring.orders import MeasureOptions, refusing_later, work_order  # noqa: E402
from profkit.measuring.packed_orders import Reply, packed_object, task_of  # noqa: E402
from profkit.measuring.transfer.payload import Payload  # noqa: E402
from profkit.measuring.worker.protocol import from_file, in_file, receive_descriptors, send_descriptors  # noqa: E402
from profkit.model.workorder import WorkOrder  # noqa: E402

_NAMES = ("ORDERS", "BENCHMARKS")
"""Names that a file may give its definitions; the second is that of PyTorch's instruction_counts."""
AT_ONCE = 8
"""Maximum number of descriptors per message."""


def main() -> None:
    """Reply to the request on stdin."""
    channel = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    request = from_file(receive_descriptors(channel)[0])
    _put_first(str(request["folder"]))
    reply, payloads = _answered(request)
    send_descriptors(channel, [in_file(cast("dict[str, object]", reply))])
    for start in range(0, len(payloads), AT_ONCE):
        send_descriptors(channel, [payload.fd for payload in payloads[start : start + AT_ONCE]])


def _put_first(folder: str) -> None:
    """Import from a folder first, and forget modules of the same names that were imported from elsewhere."""
    sys.path.insert(0, folder)
    for name in list(sys.modules):
        top = name.partition(".")[0]
        if name not in STARTED_WITH and top != "profkit" and _holds(folder, top):
            del sys.modules[name]


def _holds(folder: str, module: str) -> bool:
    path = os.path.join(folder, module)
    return os.path.isfile(f"{path}.py") or os.path.isfile(os.path.join(path, "__init__.py"))


def _answered(request: Mapping[str, object]) -> tuple[Reply, list[Payload]]:
    what, options = str(request["what"]), cast("MeasureOptions", request["options"])
    payloads: list[Payload] = []
    try:
        orders = (
            _of_file(what, options)
            if request["is_file"]
            else _of_function(what, cast("Sequence[int]", request["threads"]), options)
        )
        return {"orders": [packed_object(task_of(order), payloads) for order in orders]}, payloads
    except UsageError as error:
        return {"problem": error.problem, "fix": error.fix}, []


def _of_file(path: str, options: MeasureOptions) -> tuple[WorkOrder | RefusedEntry, ...]:
    if "label" in options:
        raise UsageError(f"the entries of {path} have their own labels", "leave out --label")
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
        f"{path} has no ORDERS", "define ORDERS in it: a dictionary of statements, or a list of work_order(…)"
    )


def _listed(found: object) -> tuple[Definition, ...]:
    """Return the entries of a list, valid or not; empty if none of them is a definition."""
    if isinstance(found, str) or not isinstance(found, Iterable):
        return ()
    items: tuple[Definition, ...] = tuple(found)
    return items if any(map(is_definition, items)) else ()


def benchmark_root(path: str) -> str | None:
    """Return the folder from which definitions of PyTorch's instruction_counts import `core`, if any.

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
        fix = "give MODULE:FUNCTION as Python imports it"
        raise UsageError(f"{name} cannot be imported: {error}", fix) from error
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
        fix = f'measure a statement: --setup "from {module_name} import {path}" "{path}(…)"'
        raise UsageError(f"{name} cannot be called without arguments: {error}", fix) from error
    except ValueError:  # written in C, without a signature
        return


if __name__ == "__main__":
    main()
