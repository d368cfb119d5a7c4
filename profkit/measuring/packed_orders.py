"""Transfer of orders to another process: JSON, and payloads in descriptors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict, cast

from profkit.errors import CannotTravel, EntryRefused, MeasuringError
from profkit.measuring.definitions import RefusedEntry
from profkit.measuring.runner.jobs import Task
from profkit.measuring.transfer.payload import Payload, pack
from profkit.model.workorder import Language, Level, Mode, Simulation, WorkOrder
from profkit.store.records import to_json

_NOT_JSON = frozenset(("function", "args", "kwargs", "tree", "path"))
"""Fields that are not transferred as JSON."""
_ENUMS = {"mode": Mode, "language": Language, "level": Level}


class Reply(TypedDict, total=False):
    """Reply of the process that finds orders: the orders, or a problem and how to fix it."""

    orders: list[dict[str, object]]
    problem: str
    fix: str


def task_of(given: WorkOrder | RefusedEntry) -> Task:
    """Return the task of an order or of a refused entry; the call of a function is packed."""
    if isinstance(given, RefusedEntry):
        return Task(WorkOrder(given.label, given.what), error=given.error)
    return with_payload(Task(given))


def with_payload(task: Task) -> Task:
    """Return the task with its function's call packed, or with the error of packing it."""
    order = task.order
    if order.function is None or task.payload is not None:
        return task
    try:
        return replace(task, payload=pack(order.function, order.args, order.kwargs))
    except CannotTravel as error:
        return replace(task, error=error)


def packed_object(task: Task, payloads: list[Payload]) -> dict[str, object]:
    """Return a task's order as JSON, without its path and tree; its payload is added to `payloads`."""
    order, payload, error = task.order, task.payload, task.error
    names = [field.name for field in dataclasses.fields(WorkOrder) if field.name not in _NOT_JSON]
    found: dict[str, object] = {"order": {name: to_json(getattr(order, name)) for name in names}}
    if isinstance(error, EntryRefused):
        found["entry"] = [error.label, error.problem, error.fix]
    if isinstance(error, CannotTravel):
        found["refused"] = [error.what, error.detail]
    if payload is not None:
        payloads.append(payload)
        about = ("size_bytes", "what", "file", "line", "coroutine", "packages")
        found["payload"] = {name: to_json(getattr(payload, name)) for name in about}
    return found


def unpacked(objects: Sequence[Mapping[str, object]], descriptors: Iterator[int]) -> tuple[Task, ...]:
    """Return the orders that `packed_object` was given, each payload with its descriptor."""
    return tuple(_unpacked(item, descriptors) for item in objects)


def _unpacked(item: Mapping[str, object], descriptors: Iterator[int]) -> Task:
    fields = {
        name: _field(name, value) for name, value in cast("Mapping[str, object]", item["order"]).items()
    }
    order = WorkOrder(**fields)  # type: ignore[arg-type]
    payload = None
    refusal: MeasuringError | None = None
    if "payload" in item:
        about = {
            name: _tuples(value) for name, value in cast("Mapping[str, object]", item["payload"]).items()
        }
        payload = Payload(fd=next(descriptors), **about)  # type: ignore[arg-type]
    if "refused" in item:
        refusal = CannotTravel(*cast("tuple[str, str]", item["refused"]))
    if "entry" in item:
        refusal = EntryRefused(*cast("tuple[str, str, str]", item["entry"]))
    return Task(order, payload, refusal)


def _field(name: str, value: object) -> object:
    if name in _ENUMS:
        return _ENUMS[name](value)
    if name == "simulate":
        return tuple(Simulation(item) for item in cast("Sequence[str]", value))
    return _tuples(value)


def _tuples(value: object) -> object:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
