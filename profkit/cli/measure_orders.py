"""What `profkit measure` is told to measure: a statement, a function by its name, or a file of orders."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import runpy
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from profkit.errors import UsageError

if TYPE_CHECKING:
    from profkit.measuring.orders import MeasureOptions
    from profkit.model.workorder import WorkOrder

_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.\w+)*:[A-Za-z_]\w*(\.\w+)*")


def orders_of(what: str, threads: Sequence[int] | None, options: MeasureOptions) -> tuple[WorkOrder, ...]:
    """The orders that `what` means; raises `UsageError` where it means none."""
    from profkit.measuring.orders import work_order

    sys.path.insert(0, os.getcwd())  # as `python -m` does
    if what.endswith(".py") and os.path.isfile(what):
        if threads is not None:
            raise UsageError(f"{what} says itself how many threads", "leave out --threads")
        return _from_file(what, options)
    target = _function(what) if _FUNCTION.fullmatch(what) else what
    named: MeasureOptions = {"label": what, **options} if callable(target) else options
    variants: list[MeasureOptions] = [{**named, "num_threads": count} for count in threads or (1,)]
    return tuple(work_order(target, **variant) for variant in variants)


def _from_file(path: str, options: MeasureOptions) -> tuple[WorkOrder, ...]:
    from profkit.measuring.definitions import expand
    from profkit.model.workorder import WorkOrder

    try:
        found = runpy.run_path(path).get("ORDERS")
    except Exception as error:
        raise UsageError(f"{path} raised {type(error).__name__}: {error}", "mend it") from error
    if isinstance(found, Mapping):
        return expand(cast("Mapping[str, str]", found), **options)
    if isinstance(found, Iterable) and not isinstance(found, str):
        orders = tuple(found)
        if orders and all(isinstance(order, WorkOrder) for order in orders):
            if options:
                raise UsageError(f"{path} says all about its orders", f"leave out {', '.join(options)}")
            return orders
    raise UsageError(
        f"{path} has no ORDERS", "let it define ORDERS, a dictionary of statements or a list of work_order(…)"
    )


def _function(name: str) -> Callable[..., object]:
    module_name, _, path = name.partition(":")
    try:
        found: object = importlib.import_module(module_name)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        remedy = "give MODULE:FUNCTION as Python imports it"
        raise UsageError(f"there is no {name}: {error}", remedy) from error
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
